#pragma once
// Launches of kernels with a thread for each of n items.

#include <areal/type.hpp>
#include <cstdint>
#include "kernels/primitives/machine.hpp"

namespace areal::kernels {

/// A kernel for one type of element.
template <class T_>
struct ElementConfig {
  using T = T_;
};

template <template <class, class> class Kernel, class C, class Launcher, class Args>
void launch_each(Launcher& launcher, std::int64_t n, const Args& args) {
  constexpr std::int64_t threads = Kernel<NoMachine, C>::threads;
  launcher.template launch<Kernel, C>((n + threads - 1) / threads, args, false);
}

/// For the type that elements of a table are read as: signed integers as unsigned ones.
template <template <class, class> class Kernel, template <class> class Config = ElementConfig, class Launcher,
          class Args>
void launch_each_of(Launcher& launcher, Type type, std::int64_t n, const Args& args) {
  switch (type) {
    case Type::f32:
      return launch_each<Kernel, Config<float>>(launcher, n, args);
    case Type::f64:
      return launch_each<Kernel, Config<double>>(launcher, n, args);
    case Type::u64:
    case Type::s64:
      return launch_each<Kernel, Config<std::uint64_t>>(launcher, n, args);
    default:
      return launch_each<Kernel, Config<std::uint32_t>>(launcher, n, args);
  }
}

}  // namespace areal::kernels
