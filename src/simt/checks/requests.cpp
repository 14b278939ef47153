#include "simt/checks/requests.hpp"

#include <algorithm>
#include "simt/engine/groups.hpp"

namespace areal::simt {
namespace {

void charge_global(const Dense& dense, const Sites::Entry& site, unsigned w, GlobalCounts& counts) {
  const std::uint64_t elements = std::uint64_t{site.elements} * dense.n;
  const Touched what = touched(dense, site.bytes, w);
  counts.elements += elements;
  counts.bytes += site.bytes * dense.n;
  counts.requests += 1;
  counts.groups += what.groups;
  counts.sectors += distinct(dense, [](std::uint64_t at) { return at / 32; });
  (what.coalesced ? counts.coalesced : counts.strided) += elements;
}

/// Cycles beyond the first in which the banks serve these words. Lanes that access one word are served at once, except
/// for atomics.
std::uint64_t conflicts(const std::uint64_t* words, int n, bool atomic) {
  std::uint64_t seen[32][32];
  std::array<std::uint8_t, 32> in_bank{};
  int most = 1;
  for (int i = 0; i < n; ++i) {
    const std::uint64_t bank = words[i] % 32;
    std::uint64_t* of_bank = seen[bank];
    std::uint8_t& count = in_bank[bank];
    if (!atomic && std::find(of_bank, of_bank + count, words[i]) != of_bank + count) continue;
    of_bank[count++] = words[i];
    most = std::max<int>(most, count);
  }
  return static_cast<std::uint64_t>(most - 1);
}

void charge_shared(const Request& request, const Sites::Entry& site, SharedCounts& counts) {
  const auto lanes = static_cast<std::uint64_t>(std::popcount(request.mask));
  counts.elements += lanes * site.elements;
  counts.bytes += lanes * site.bytes;
  counts.requests += 1;
  // 8-byte accesses go half-warp by half-warp, 16-byte ones quarter by quarter: 32 words at a time.
  const int words_each = std::max(1, site.bytes / 4), lanes_each = 32 / words_each;
  for (int first = 0; first < 32; first += lanes_each) {
    std::uint64_t words[32];
    int n = 0;
    for (int lane = first; lane < first + lanes_each; ++lane)
      if ((request.mask >> lane & 1) != 0)
        for (int word = 0; word < words_each; ++word) words[n++] = request.at[lane] / 4 + word;
    counts.conflicts += conflicts(words, n, is_atomic(site.op));
  }
}

}  // namespace

void charge(const Request& request, const Sites::Entry& site, unsigned w, Counts& counts) {
  switch (site.op) {
    case Op::get:
      return charge_shared(request, site, counts.shared_reads);
    case Op::put:
    case Op::copy_to:
      return charge_shared(request, site, counts.shared_writes);
    case Op::shared_add:
      return charge_shared(request, site, counts.shared_atomics);
    case Op::atomic_add:
    case Op::atomic_min:
      return charge_global(Dense(request), site, w, counts.atomics);
    case Op::load:
    case Op::copy_from:
      return charge_global(Dense(request), site, w, counts.reads);
    case Op::store:
      return charge_global(Dense(request), site, w, counts.writes);
    default:
      return;  // flags are counted by lane, bulk copies as they land
  }
}

void Requests::settle(const Sites& sites, unsigned w, Counts& counts) {
  for (const unsigned number : touched_) {
    Slot& slot = slots_[number];
    for (std::uint32_t i = 0; i < std::min(slot.used, most); ++i)
      if (slot.requests[i].mask != 0) pay(slot.requests[i], sites[number], w, counts);
    slot.touched = false;
  }
  touched_.clear();
}

void Requests::overtake(Slot& slot, unsigned number, std::uint32_t occurrence, const Sites& sites, unsigned w,
                        Counts& counts) {
  // The ring is full: its oldest request is charged incomplete, and later lanes start a new one.
  Request& oldest = slot.requests[(occurrence + 1) % most];
  if (oldest.mask == 0) return;
  pay(oldest, sites[number], w, counts);
  oldest.mask = 0;
}

}  // namespace areal::simt
