// Collectives of a warp: lanes wait for those that their masks name, and all get their results at once.
#include <bit>

#include "simt/engine/engine.hpp"

namespace areal::simt {
namespace {

const char* name(Collective kind) {
  constexpr const char* names[] = {"sync_warp", "shuffle", "ballot", "any", "all", "multiply", "multiply_tiles"};
  return names[static_cast<int>(kind)];
}

std::string hex(std::uint32_t mask) {
  char text[11];
  std::snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

/// Lane 4 g + t has rows g and g + 8 of a, column g of b, and of c the rows of a in columns 2 t and 2 t + 1. In a word
/// of a and b it has places 4 t to 4 t + 3 of 16; of bits, 32 t to 32 t + 31 of 128.
void multiply(const std::uint64_t* lanes) {
  const auto of = [&](int lane) { return reinterpret_cast<const Multiplication*>(lanes[lane]); };
  const auto dot = [](std::uint32_t a, std::uint32_t b, bool of_bits) {
    if (of_bits) return static_cast<std::uint32_t>(std::popcount(a & b));
    std::uint32_t sum = 0;
    for (int i = 0; i < 32; i += 8) sum += (a >> i & 0xffu) * (b >> i & 0xffu);
    return sum;
  };
  for (int lane = 0; lane < 32; ++lane) {
    const Multiplication& one = *of(lane);
    const int row = lane / 4 * 4;
    for (int i = 0; i < 4; ++i) {
      const int column = 4 * (2 * (lane % 4) + i % 2);
      for (int word = 0; word < one.words; ++word)
        for (int t = 0; t < 4; ++t)
          one.c[i] += dot(of(row + t)->a[2 * word + i / 2], of(column + t)->b[word], one.of_bits);
    }
  }
}

}  // namespace

std::uint64_t Engine::collective(Thread& thread, Collective kind, std::uint32_t mask, std::uint64_t value, int argument,
                                 Site site) {
  Warp& warp = *thread.warp;
  const int me = thread.index & 31;
  thread.kind = kind;
  thread.mask = mask;
  thread.value = value;
  thread.argument = argument;
  thread.site = site;
  if (warp.collecting == 0) {
    warp.alike = true;
    warp.first = me;
  }
  const Thread& first = warp.lanes[warp.first];
  // If the first of equal collectives is valid, so are the others, except that each must be in its own mask.
  if (!warp.alike || warp.collecting == 0 || first.mask != mask || first.kind != kind || (mask >> me & 1) == 0)
    check_collective(thread);
  warp.collecting |= 1u << me;
  if (kind == Collective::shuffle && (mask >> argument & 1) == 0)
    fault(thread, FaultKind::shuffle_source, site,
          "shuffle reads lane " + std::to_string(argument) + ", which is not in its mask " + hex(mask));
  bool all_here = (warp.collecting & mask) == mask;
  if (all_here && !warp.alike)
    for (std::uint32_t m = mask; m != 0; m &= m - 1) all_here &= warp.lanes[std::countr_zero(m)].mask == mask;
  if (all_here)
    complete(warp, mask);
  else
    suspend(thread, State::collective, site);
  return thread.result;
}

void Engine::check_collective(Thread& thread) {
  Warp& warp = *thread.warp;
  const int me = thread.index & 31;
  const std::string call = name(thread.kind);
  if ((thread.mask >> me & 1) == 0)
    fault(thread, FaultKind::collective, thread.site,
          call + " with mask " + hex(thread.mask) + ", which lacks the caller");
  if ((thread.mask & ~warp.born) != 0)
    fault(thread, FaultKind::collective, thread.site,
          call + " with mask " + hex(thread.mask) + ", which names lanes that the block does not have: the warp has " +
              hex(warp.born));
  if ((thread.mask & warp.exited) != 0)
    fault(thread, FaultKind::collective, thread.site,
          call + " with mask " + hex(thread.mask) +
              ", which names lanes that have exited: " + hex(thread.mask & warp.exited));
  for (std::uint32_t waiting = warp.collecting & thread.mask; waiting != 0; waiting &= waiting - 1) {
    const Thread& other = warp.lanes[std::countr_zero(waiting)];
    if ((other.mask >> me & 1) == 0) {
      warp.alike = false;  // it is still in a collective of other lanes
    } else if (other.mask != thread.mask) {
      fault(thread, FaultKind::collective, thread.site,
            call + " with mask " + hex(thread.mask) + ", while thread " + std::to_string(other.index) +
                " waits for this lane with mask " + hex(other.mask),
            other.site);
    } else if (other.kind != thread.kind) {
      fault(thread, FaultKind::collective, thread.site,
            call + ", while thread " + std::to_string(other.index) + " waits for this lane in " + name(other.kind),
            other.site);
    }
  }
  if (warp.collecting != 0 &&
      (warp.lanes[warp.first].mask != thread.mask || warp.lanes[warp.first].kind != thread.kind))
    warp.alike = false;
}

void Engine::complete(Warp& warp, std::uint32_t mask) {
  const Thread& any = warp.lanes[std::countr_zero(mask)];
  std::uint32_t votes = 0;
  switch (any.kind) {
    case Collective::sync_warp:
      ++counts_.warp_barriers;
      break;
    case Collective::shuffle:
      ++counts_.shuffles;
      break;
    case Collective::multiply: {
      std::uint64_t lanes[32];
      for (int i = 0; i < 32; ++i) lanes[i] = warp.lanes[i].value;
      multiply(lanes);
      break;
    }
    case Collective::multiply_tiles:
      break;
    default:
      ++counts_.votes;
      break;
  }
  if (any.kind != Collective::shuffle)
    for (std::uint32_t m = mask; m != 0; m &= m - 1)
      if (warp.lanes[std::countr_zero(m)].value != 0) votes |= 1u << std::countr_zero(m);
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    Thread& thread = warp.lanes[std::countr_zero(m)];
    switch (thread.kind) {
      case Collective::sync_warp:
      case Collective::multiply:
      case Collective::multiply_tiles:
        break;
      case Collective::shuffle:
        thread.result = warp.lanes[thread.argument].value;
        break;
      case Collective::ballot:
        thread.result = votes;
        break;
      case Collective::any:
        thread.result = votes != 0;
        break;
      case Collective::all:
        thread.result = votes == mask;
        break;
    }
    if (thread.state == State::collective) make_ready(thread);
  }
  warp.collecting &= ~mask;
  if (warp.collecting != 0 && (mask >> warp.first & 1) != 0) warp.alike = false;
  if (options_.checks) synchronise(warp, mask);
  if (mask == (warp.born & ~warp.exited)) settle(warp);
}

}  // namespace areal::simt
