#pragma once
// Options of the simulated machine.

#include <cstdint>
#include <functional>

namespace areal::simt {

struct Event;
class Witness;

enum class StartOrder { ascending, descending, random };

struct Options {
  std::uint64_t seed = 1;
  bool checks = true;     ///< false: only counts, and no region need be registered
  int residents = 4;      ///< blocks that run at a time
  int together = 32;      ///< blocks of a launch whose blocks all run at once, at most
  bool confined = false;  ///< such launches are refused, as by a device of which the process has but a part
  StartOrder start = StartOrder::ascending;  ///< the order in which blocks become resident
  int width = 32;                            ///< w of the memory machines: elements of an address group
  bool async_copies = true;                  ///< false: as before sm_80, each is a load and a store
  int patience = 2000;  ///< polls per resident thread without a change of memory after which the launch is stuck
  std::function<void(const Event&)> trace;  ///< called for every access, where set
  Witness* witness = nullptr;               ///< told of every request as it is charged, where set
};

}  // namespace areal::simt
