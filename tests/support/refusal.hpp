#pragma once

#include <areal/error.hpp>
#include <exception>
#include <string>

namespace areal {

/// The sentence of what a call refuses.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another exception: ") + error.what();
  }
  return "nothing was refused";
}

}  // namespace areal
