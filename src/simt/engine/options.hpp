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
  bool checks = true;                        ///< false: only counts, and no region need be registered
  int residents = 4;                         ///< blocks that run at a time
  int together = 32;                         ///< the most blocks of a launch whose blocks all run at once
  bool confined = false;                     ///< such launches are refused, as by a partly available device
  StartOrder start = StartOrder::ascending;  ///< the order in which blocks become resident
  int width = 32;                            ///< w of the memory machines: elements of an address group
  bool async_copies = true;                  ///< false: as before sm_80, each is a load and a store; no multiply_bits
  bool products = true;                      ///< false: as other devices than sm_90, no multiply_tiles
  int patience = 2000;  ///< polls per resident thread without a change of memory after which the launch is stuck
  std::function<void(const Event&)> trace;  ///< called for every access, if set
  Witness* witness = nullptr;               ///< called for every request as it is charged, if set
};

}  // namespace areal::simt
