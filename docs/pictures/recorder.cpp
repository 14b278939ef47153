#include "recorder.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace areal::simt {

void Recorder::close(const void* end) {
  for (std::size_t i = 0; i < memory_.size(); ++i)
    if (memory_[i].bytes == 0) {
      const char* const next = i + 1 < memory_.size() ? memory_[i + 1].begin : static_cast<const char*>(end);
      memory_[i].bytes = static_cast<std::size_t>(next - memory_[i].begin);
    }
}

void Recorder::operator()(const Event& event) {
  if (event.step < last_step_) {  // they count from 0 in each launch
    finish_launch();
    ++launch_;
  }
  last_step_ = event.step;
  if (is_shared(event.op)) return note(event, "shared", -1, 0);
  if (event.op == Op::send) return note(event, "send", -1, 0);
  const auto* const at = static_cast<const char*>(event.address);
  int array = -1;
  for (std::size_t i = 0; i < memory_.size(); ++i)
    if (at >= memory_[i].begin && at < memory_[i].begin + memory_[i].bytes) array = static_cast<int>(i);
  if (array < 0) return;
  const auto offset = static_cast<std::uint64_t>(at - memory_[static_cast<std::size_t>(array)].begin);
  switch (event.op) {
    case Op::atomic_add:
      tickets_.push_back({launch_, event.block});
      return note(event, "ticket", array, offset);
    case Op::store_relaxed: {
      std::vector<Posted>& posted = posted_[at];
      posted.push_back({event.block, event.step});
      return note(event, "store_relaxed", array, offset);
    }
    case Op::load_relaxed: {
      const auto posted = posted_.find(at);
      if (posted == posted_.end()) return note(event, "vain", array, offset);
      std::uint32_t epoch = 0;  // of a TileState of 8 bytes
      std::memcpy(&epoch, at + 4, sizeof epoch);
      const Posted& last = posted->second.back();
      // Descending addresses are the nearest tile first.
      peeked_[{event.block, event.thread, array}][-static_cast<std::int64_t>(offset)] = {last.block, last.step,
                                                                                         event.step, epoch % 2 == 1};
      return note(event, "load_relaxed", array, offset);
    }
    case Op::load:
    case Op::copy_from:
      place(event, array, offset);
      return note(event, "load", array, offset);
    default:
      place(event, array, offset);
      return note(event, "store", array, offset);
  }
}

void Recorder::note(const Event& event, const char* what, int array, std::uint64_t offset) {
  const int warp = event.thread / 32;
  const auto [open, is_new] = open_.try_emplace({event.block, warp, what, array, event.site.line}, runs_.size());
  if (!is_new && event.step > runs_[open->second].to + pause) open->second = runs_.size();
  if (open->second == runs_.size())
    runs_.push_back({launch_, event.block, warp, what, array, event.site, event.step, event.step, offset, offset});
  Run& run = runs_[open->second];
  run.to = event.step;
  run.low = std::min(run.low, offset), run.high = std::max(run.high, offset + event.bytes);
  if (const int cell = array < 0 ? 0 : memory_[static_cast<std::size_t>(array)].cell; cell > 0)
    for (std::uint64_t at = offset; at < offset + event.bytes; at += std::min<unsigned>(event.bytes, cell))
      cells_[{launch_, event.block, warp, what, array}].insert(at / static_cast<unsigned>(cell));
}

/// Where in the image or the table that was.
void Recorder::place(const Event& event, int array, std::uint64_t offset) {
  const Named& memory = memory_[static_cast<std::size_t>(array)];
  if (memory.width == 0) return;
  const auto first = static_cast<std::int64_t>(offset) / memory.element;
  const std::int64_t count = event.bytes / static_cast<unsigned>(memory.element), line = first / memory.width;
  const std::int64_t x = first % memory.width, y = line % memory.height, z = line / memory.height;
  const auto [found, is_new] =
      places_.try_emplace({launch_, event.block, event.thread / 32, array}, Rectangle{x, x, y, y, z, z});
  Rectangle& r = found->second;
  r.x0 = std::min(r.x0, x), r.x1 = std::max(r.x1, x + count);
  r.y0 = std::min(r.y0, y), r.y1 = std::max(r.y1, y + 1);
  r.z0 = std::min(r.z0, z), r.z1 = std::max(r.z1, z + 1);
}

/// Of what a thread saw it uses the nearest words, up to one that counts from the image's edge.
void Recorder::finish_launch() {
  for (const auto& [reader, words] : peeked_)
    for (const auto& [offset, word] : words) {
      HandOver& h = handovers_[{launch_, std::get<0>(reader), std::get<2>(reader), word.from, word.from_the_edge}];
      if (h.words == 0) h.posted = word.posted;
      ++h.words;
      h.posted = std::min(h.posted, word.posted), h.read = std::max(h.read, word.read);
      if (word.from_the_edge) break;
    }
  peeked_.clear(), posted_.clear(), open_.clear();
  last_step_ = 0;
}

void Recorder::write(const char* name, const char* lane, const std::vector<LaunchCounts>& launches) {
  finish_launch();
  std::printf("{\"case\": \"%s\", \"lane\": \"%s\",\n\"launches\": [", name, lane);
  for (std::size_t i = 0; i < launches.size(); ++i)
    std::printf("%s{\"kernel\": \"%s\", \"blocks\": %lld, \"threads\": %d}", i > 0 ? ", " : "",
                launches[i].kernel.c_str(), static_cast<long long>(launches[i].blocks), launches[i].threads);
  std::printf("],\n\"arrays\": [");
  for (std::size_t i = 0; i < memory_.size(); ++i)
    std::printf("%s{\"name\": \"%s\", \"bytes\": %zu, \"element\": %d, \"width\": %lld, \"height\": %lld}",
                i > 0 ? ", " : "", memory_[i].name.c_str(), memory_[i].bytes, memory_[i].element,
                static_cast<long long>(memory_[i].width), static_cast<long long>(memory_[i].height));
  std::printf("],\n\"tickets\": [");  // launch, block: in the order in which they were taken
  const char* comma = "";
  for (const auto& [launch, block] : tickets_) {
    std::printf("%s[%d, %lld]", comma, launch, static_cast<long long>(block));
    comma = ", ";
  }
  std::printf("],\n\"places\": [");  // launch, block, warp, array, x0, x1, y0, y1, z0, z1
  comma = "";
  for (const auto& [key, r] : places_) {
    const auto& [launch, block, warp, array] = key;
    std::printf("%s\n[%d, %lld, %d, %d, %lld, %lld, %lld, %lld, %lld, %lld]", comma, launch,
                static_cast<long long>(block), warp, array, static_cast<long long>(r.x0), static_cast<long long>(r.x1),
                static_cast<long long>(r.y0), static_cast<long long>(r.y1), static_cast<long long>(r.z0),
                static_cast<long long>(r.z1));
    comma = ",";
  }
  std::printf("],\n\"handovers\": [");  // launch, from block, to block, array, from the edge, words, posted, read
  comma = "";
  for (const auto& [key, h] : handovers_) {
    const auto& [launch, to, array, from, edge] = key;
    std::printf("%s\n[%d, %lld, %lld, %d, %d, %d, %llu, %llu]", comma, launch, static_cast<long long>(from),
                static_cast<long long>(to), array, static_cast<int>(edge), h.words,
                static_cast<unsigned long long>(h.posted), static_cast<unsigned long long>(h.read));
    comma = ",";
  }
  std::printf("],\n\"runs\": [");  // launch, block, warp, what, array, from, to, low, high, site
  comma = "";
  for (const Run& run : runs_) {
    const char* const slash = std::strrchr(run.site.file, '/');
    std::printf("%s\n[%d, %lld, %d, \"%s\", %d, %llu, %llu, %llu, %llu, \"%s:%d\"]", comma, run.launch,
                static_cast<long long>(run.block), run.warp, run.what, run.array,
                static_cast<unsigned long long>(run.from), static_cast<unsigned long long>(run.to),
                static_cast<unsigned long long>(run.low), static_cast<unsigned long long>(run.high),
                slash != nullptr ? slash + 1 : run.site.file, run.site.line);
    comma = ",";
  }
  std::printf("],\n\"cells\": [");  // launch, block, warp, what, array, which
  comma = "";
  for (const auto& [key, cells] : cells_) {
    const auto& [launch, block, warp, what, array] = key;
    std::printf("%s\n[%d, %lld, %d, \"%s\", %d, [", comma, launch, static_cast<long long>(block), warp, what.data(),
                array);
    comma = "";
    for (const std::uint64_t cell : cells) {
      std::printf("%s%llu", comma, static_cast<unsigned long long>(cell));
      comma = ", ";
    }
    std::printf("]]");
    comma = ",";
  }
  std::printf("]}\n");
}

}  // namespace areal::simt
