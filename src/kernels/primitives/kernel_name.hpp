#pragma once
// A kernel's readable name.

#include <cxxabi.h>
#include <cstdlib>
#include <memory>
#include <string>

namespace areal::kernels {

/// "Lookback" from the type name (typeid) of a kernel object, for every machine and configuration.
inline std::string kernel_name(const char* type_name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(abi::__cxa_demangle(type_name, nullptr, nullptr, &status),
                                                         std::free);
  std::string name = status == 0 ? demangled.get() : type_name;
  name = name.substr(0, name.find('<'));
  const auto scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

}  // namespace areal::kernels
