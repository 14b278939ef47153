#include "simt/launcher.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <cstring>

#include "simt/engine/engine.hpp"

namespace areal::simt {

Launcher::Launcher(Options options) : engine_(std::make_unique<Engine>(std::move(options))) {}
Launcher::Launcher(const Options& options, Stream, const LaunchReport* on_launch) : Launcher(options) {
  if (on_launch != nullptr && *on_launch) on_launch_ = on_launch;
}
Launcher::~Launcher() = default;

void Launcher::add(const Region& region) { engine_->memory().add(region); }

void Launcher::register_memory(std::vector<kernels::MemoryRange> ranges) {
  using Use = kernels::MemoryRange::Use;
  const auto first_of = [](const kernels::MemoryRange& range) { return static_cast<const char*>(range.data); };
  const auto inputs = std::stable_partition(ranges.begin(), ranges.end(),
                                            [](const kernels::MemoryRange& range) { return range.use != Use::input; });
  for (auto range = ranges.begin(); range != inputs; ++range)
    add({range->name, range->data, range->bytes, range->use == Use::in_place || range->use == Use::workspace, true,
         range->use == Use::scratch});
  std::sort(inputs, ranges.end(),
            [&](const auto& a, const auto& b) { return std::less<>()(first_of(a), first_of(b)); });
  for (auto range = inputs; range != ranges.end();) {
    const char *const called = range->name, *const first = first_of(*range), *last = first + range->bytes;
    for (++range; range != ranges.end() && first_of(*range) < last; ++range)
      last = std::max(last, first_of(*range) + range->bytes);
    add({called, first, static_cast<std::size_t>(last - first), true, false});
  }
}

void Launcher::remove(const void* data) {
  engine_->memory().remove(data);
  engine_->forget_regions();
}

std::size_t Launcher::unwritten(const void* data) const { return engine_->memory().at(data).shadow.unwritten(); }

int Launcher::most_clusters_of(int blocks_each) const {
  return blocks_each < 1 || blocks_each > 16 ? 0 : std::max(0, engine_->options().residents) / blocks_each;
}

int Launcher::most_together() const { return engine_->options().together; }
bool Launcher::multiplies_tiles() const { return engine_->options().products; }
bool Launcher::multiplies_bits() const { return engine_->options().async_copies; }
bool Launcher::is_confined() const { return engine_->options().confined; }

void Launcher::run(const KernelShape& shape, std::int64_t blocks, const void* args, int cluster_blocks, bool together) {
  launches_.push_back(engine_->run(shape, blocks, args, cluster_blocks, together));
  launches_.back().together = together;
  if (on_launch_ != nullptr) (*on_launch_)(launches_.back());
}

void Launcher::fill(void* p, int byte, std::size_t n) {
  engine_->fill(p, byte, n);
  filled_ += n;
}

void Launcher::clear(void* p, std::size_t n) { std::memset(p, 0, n); }
void Launcher::copy_in(void* to, const void* from, std::size_t n) { std::memcpy(to, from, n); }

Counts Launcher::total() const {
  Counts total;
  for (const LaunchCounts& launch : launches_) total += launch.counts;
  total.filled_bytes += filled_;
  return total;
}

namespace calls {
namespace {

Thread& full(ThreadInterface& thread) { return static_cast<Thread&>(thread); }

}  // namespace

void access(ThreadInterface& thread, Op op, const void* at, unsigned bytes, unsigned elements, Site site) {
  full(thread).engine->access(full(thread), op, reinterpret_cast<std::uintptr_t>(at), bytes, elements, site);
}
void shared(ThreadInterface& thread, std::size_t bytes, Site site) {
  full(thread).engine->check_shared_size(full(thread), bytes, site);
}
void poll_pause(ThreadInterface& thread, Site site) { full(thread).engine->poll_pause(full(thread), site); }
void perhaps_pause(ThreadInterface& thread, Site site) { full(thread).engine->perhaps_pause(full(thread), site); }
void release(ThreadInterface& thread, const void* at) { full(thread).engine->release(full(thread), at); }
void acquire(ThreadInterface& thread, const void* at) { full(thread).engine->acquire(full(thread), at); }
void forget_release(ThreadInterface& thread, const void* at) { full(thread).engine->forget_release(at); }

void sync(ThreadInterface& thread, Site site) { full(thread).engine->sync(full(thread), site); }
void named_barrier(ThreadInterface& thread, int id, int threads, bool wait, Site site) {
  full(thread).engine->named_barrier(full(thread), id, threads, wait, site);
}
std::uint64_t collective(ThreadInterface& thread, Collective kind, std::uint32_t mask, std::uint64_t value,
                         int argument, Site site) {
  return full(thread).engine->collective(full(thread), kind, mask, value, argument, site);
}

void copy_async(ThreadInterface& thread, void* to, const void* from, unsigned bytes, unsigned elements, Site site) {
  full(thread).engine->copy_async(full(thread), to, from, bytes, elements, site);
}
void commit_copies(ThreadInterface& thread) { ++full(thread).copy_group; }
void wait_copies(ThreadInterface& thread, int youngest) { full(thread).engine->wait_copies(full(thread), youngest); }

void init(ThreadInterface& thread, kernels::Mbarrier& barrier, int arrivals, Site site) {
  full(thread).engine->init(full(thread), barrier, arrivals, site);
}
void arrive(ThreadInterface& thread, kernels::Mbarrier& barrier, std::int64_t expected_bytes, Site site) {
  full(thread).engine->arrive(full(thread), barrier, expected_bytes, site);
}
void wait(ThreadInterface& thread, kernels::Mbarrier& barrier, unsigned parity, Site site) {
  full(thread).engine->wait(full(thread), barrier, parity, site);
}
void fence_init(ThreadInterface& thread) { full(thread).engine->fence_init(full(thread)); }
void bulk_load(ThreadInterface& thread, void* to, const void* from, std::size_t bytes, kernels::Mbarrier& barrier,
               Site site) {
  full(thread).engine->bulk_load(full(thread), to, from, bytes, barrier, site);
}
void bulk_store(ThreadInterface& thread, void* to, const void* from, std::size_t bytes, Site site) {
  full(thread).engine->bulk_store(full(thread), to, from, bytes, site);
}
void commit_bulk(ThreadInterface& thread) { ++full(thread).bulk_group; }
void wait_bulk(ThreadInterface& thread, int youngest) { full(thread).engine->wait_bulk(full(thread), youngest); }
void fence_async(ThreadInterface& thread) { full(thread).engine->fence_async(full(thread)); }

void begin_products(ThreadInterface& thread) { full(thread).begun = true; }
void multiply_tiles(ThreadInterface& thread, std::uint32_t* sum, const kernels::ByteTile& left,
                    const kernels::ByteTile& right, bool more, Site site) {
  full(thread).engine->multiply_tiles(full(thread), sum, left, right, more, site);
}
void commit_products(ThreadInterface& thread) { ++full(thread).product_group, full(thread).begun = false; }
void wait_products(ThreadInterface& thread, int youngest) {
  full(thread).engine->wait_products(full(thread), youngest);
}

void arrive_copies(ThreadInterface& thread, kernels::Mbarrier& barrier, Site site) {
  full(thread).engine->arrive_copies(full(thread), barrier, site);
}
void sync_cluster(ThreadInterface& thread, Site site) { full(thread).engine->sync_cluster(full(thread), site); }
void send(ThreadInterface& thread, void* cell, const void* value, unsigned bytes, unsigned elements, int rank,
          kernels::Mbarrier& barrier, Site site) {
  full(thread).engine->send(full(thread), cell, value, bytes, elements, rank, barrier, site);
}

}  // namespace calls
}  // namespace areal::simt
