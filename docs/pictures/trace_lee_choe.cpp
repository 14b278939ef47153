// The scans of Lee, Choe 2014, of one line: of 2048 elements in three arrangements, for the banks that the sweeps meet;
// of 64 elements with 8 banks, for where elements lie; of 128 elements by 16 threads a block, for who does what.

#include "cases.hpp"
#include "kernels/primitives/line/blocked_prescan.hpp"
#include "warp_log.hpp"

namespace areal::simt {
namespace {

using T = std::uint32_t;

/// As the elements come: what both arrangements are there to avoid.
struct InOrder {
  AREAL_BOTH static constexpr int at(int i) { return i; }
  static constexpr int cells(int n) { return n; }
};

template <class Map, bool several, int most>
void trace(Logs& logs, const char* name, std::int64_t length) {
  using Scan = kernels::BlockedPrescan<T, Map, several, most>;
  std::vector<T> line(static_cast<std::size_t>(length), 1);
  kernels::Workspace sized(nullptr);
  Scan(1, 1, length, sized);
  std::vector<char> workspace(sized.bytes());
  kernels::Workspace from(workspace.data());
  const Scan scan(1, 1, length, from);
  WarpLog log;
  log.name("line", line.data(), length, 1);
  if (length > Scan::capacity) log.name("sums", kernels::first_in(workspace.data()), length / Scan::capacity, 1);
  Launcher launcher(log.options());
  const std::int64_t pitch = length * static_cast<std::int64_t>(sizeof(T));
  scan.run(launcher, {reinterpret_cast<char*>(line.data()), pitch, pitch, true});
  logs.add(log, name);
}

}  // namespace

void trace_lee_choe() {
  using kernels::PaddedBanks;
  using kernels::RotatedBanks;
  Logs logs("lee-choe");
  trace<InOrder, false, 1024>(logs, "in order", 2048);
  trace<PaddedBanks<>, false, 1024>(logs, "padded", 2048);
  trace<RotatedBanks<>, false, 1024>(logs, "rotated", 2048);
  trace<InOrder, false, 32>(logs, "in order, 8 banks", 64);
  trace<PaddedBanks<8>, false, 32>(logs, "padded, 8 banks", 64);
  trace<RotatedBanks<8>, false, 32>(logs, "rotated, 8 banks", 64);
  trace<PaddedBanks<>, false, 16>(logs, "two a thread", 128);
  trace<PaddedBanks<>, true, 16>(logs, "several a thread", 128);
}

}  // namespace areal::simt
