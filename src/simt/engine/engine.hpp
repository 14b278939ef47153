#pragma once
// The engine behind Machine and Launcher: resident blocks, their threads, the scheduler, and the state of every check.
// Its functions are grouped by subject: engine.cpp the launch and the scheduler, accesses.cpp, order.cpp the clocks,
// collectives.cpp, barriers.cpp, mbarriers.cpp, copies.cpp, products.cpp, clusters.cpp, faults.cpp.

#include <array>
#include <exception>
#include <optional>
#include <unordered_map>

#include "simt/checks/clock.hpp"
#include "simt/checks/requests.hpp"
#include "simt/engine/fiber.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {

class Engine;
struct Block;
struct Thread;
struct Warp;

enum class State : std::uint8_t {
  ready,
  polling,
  collective,
  barrier,
  named_barrier,
  cluster_barrier,
  mbarrier,
  finished
};

/// A cp.async that its thread has not waited for.
struct PendingCopy {
  std::byte* to;
  const std::byte* from;
  unsigned bytes;
  std::uint32_t group;
  std::uint16_t from_site, to_site;
  bool landed;
};

/// A bulk store by this thread, which reads shared memory until wait_bulk.
struct BulkRead {
  std::uint32_t group, agent, time;
};

/// A product of tiles that its thread has not waited for.
struct PendingProduct {
  std::uint32_t* sum;
  std::array<std::uint32_t, 32> value;
  kernels::ByteTile left, right;
  std::uint32_t group;
  Site site;
};

struct Thread : ThreadInterface {
  Engine* engine = nullptr;
  Block* home = nullptr;
  Warp* warp = nullptr;
  std::uint32_t id = 0;  // in stamps
  ThreadClock clock;
  Fiber fiber;
  // What it waits for, or polled last.
  State state = State::ready;
  Site site;
  Collective kind = Collective::sync_warp;
  std::uint32_t mask = 0;
  std::uint64_t value = 0, result = 0;
  int argument = 0;
  // Asynchronous copies.
  std::vector<PendingCopy> copies;
  std::vector<BulkRead> bulk_reads;
  std::uint32_t copy_group = 0, bulk_group = 0;
  std::vector<PendingProduct> products;
  std::uint32_t product_group = 0;
  bool begun = false;                 // products, since its last commit_products
  std::vector<std::uint32_t> fences;  // times of fence_async
  ThreadClock known_at_fence;         // at the last one, and by the whole block
  std::uint32_t block_known_at_fence = 0;
  const Release* sent = nullptr;  // its knowledge at its last send, if it has made no access since
};

struct Warp {
  Block* home = nullptr;
  Thread* lanes = nullptr;  // of the 32
  std::uint32_t born = 0, exited = 0, ready = 0, polling = 0;
  int in_ready = -1, in_polling = -1;  // its place in the scheduler's lists
  // Waiting collectives.
  std::uint32_t collecting = 0;
  bool alike = true;  // all have one mask and kind, those of `first`
  int first = 0;
  Requests requests;
};

struct NamedBarrier {
  int threads = 0;  // that take part; 0: none has arrived
  std::vector<Thread*> arrived, waiting;
  Gathered gathered;
  Site site;
};

/// A thread at a call.
struct Call {
  const Thread* thread = nullptr;
  Site site;
};

/// The knowledge of the threads of one block when they sent.
struct Senders {
  std::int64_t block;
  std::uint32_t block_known = 0;
  const Release* last = nullptr;
  Gathered gathered;
};

struct MbarrierState {
  const kernels::Mbarrier* at;
  Stamp initialised;  // by whom and when
  bool fenced = false;
  int arrivals, pending;
  std::int64_t bytes = 0;  // expected minus landed
  unsigned phase = 0;
  Gathered gathered;
  std::array<std::shared_ptr<const BlockClock>, 2> view;  // of the last phase of each parity
  std::array<const Front*, 2> front{};
  std::vector<Thread*> waiting;
  // Sends, and copies that arrive here.
  int agent = -1;          // of the block, which writes what lands; -1: nothing has
  std::uint32_t time = 1;  // the agent's, one for each phase
  int coming = 0;          // that have not landed
  bool known_to_cluster = false;
  std::vector<Senders> senders;          // of the open phase
  unsigned sent_phases = 0, waited = 0;  // phases up to the last that a send landed in; that a thread waited for
  Call expecting, last_send;
};

/// A send in flight.
struct Send {
  Block* home;  // of the receiver
  MbarrierState* barrier;
  std::byte* to;
  std::array<std::byte, 16> value;
  unsigned bytes, site;  // the site's number
  const Release* known;  // its sender's knowledge; null without checks
  Call call;
};

/// An arrival at a barrier, once these copies have landed.
struct CopyArrival {
  Thread* thread;
  MbarrierState* barrier;
  std::vector<PendingCopy> copies;
};

/// The blocks of a cluster, and their barrier.
struct Cluster {
  int arrived = 0, finished = 0;  // threads at its barrier; for good
  Site site;
};

/// A bulk copy in flight. The engine's agent that moves it counts as a thread of the block: a lane that waits for the
/// copy knows the agent's reads and writes.
struct BulkCopy {
  Block* home;
  std::byte* to;
  const std::byte* from;
  std::size_t bytes;
  std::uint32_t agent;  // in the block
  std::uint32_t time;   // of its reads; its writes have the next one
  unsigned site;
  MbarrierState* barrier;  // of a load
  Thread* issuer;          // of a store
  std::uint32_t group;
};

struct Block {
  std::int64_t index = -1;  // -1: the slot is empty
  std::uint32_t first_id = 0;
  std::uint32_t known = 0;  // block_known, see clock.hpp
  std::unique_ptr<Thread[]> threads;
  int thread_count = 0;
  std::vector<Warp> warps;
  std::byte* shared = nullptr;
  std::vector<std::byte> shared_storage;
  Shadow shadow;
  int arrived = 0, finished = 0;  // at the block barrier; for good
  Site barrier_site;
  std::uint64_t barriers = 0;
  std::array<NamedBarrier, 16> named;
  std::vector<std::unique_ptr<MbarrierState>> mbarriers;
  std::vector<std::uint32_t> agent_time;
  std::uint32_t next_agent = 0;
  std::uint32_t bulk_agents = 0;  // the first; mbarriers take the others, from the last on
};

class Engine {
 public:
  explicit Engine(Options options) : options_(std::move(options)), random_(options_.seed) {}

  /// cluster_blocks: 0 for a launch without clusters. together: all blocks run at once.
  LaunchCounts run(const KernelShape& shape, std::int64_t blocks, const void* args, int cluster_blocks,
                   bool together = false);
  void fill(void* p, int byte, std::size_t n);
  Memory& memory() { return memory_; }
  void forget_regions() { region_of_site_.clear(); }
  const Options& options() const { return options_; }

  // What calls.hpp declares.
  void access(Thread& thread, Op op, std::uintptr_t at, unsigned bytes, unsigned elements, Site site);
  void check_shared_size(Thread& thread, std::size_t bytes, Site site);
  void poll_pause(Thread& thread, Site site);
  void perhaps_pause(Thread& thread, Site site);
  void release(Thread& thread, const void* at);
  void acquire(Thread& thread, const void* at);
  void forget_release(const void* at) { released_.erase(at); }
  void sync(Thread& thread, Site site);
  void named_barrier(Thread& thread, int id, int threads, bool wait, Site site);
  std::uint64_t collective(Thread& thread, Collective kind, std::uint32_t mask, std::uint64_t value, int argument,
                           Site site);
  void copy_async(Thread& thread, void* to, const void* from, unsigned bytes, unsigned elements, Site site);
  void wait_copies(Thread& thread, int youngest);
  void init(Thread& thread, kernels::Mbarrier& barrier, int arrivals, Site site);
  void arrive(Thread& thread, kernels::Mbarrier& barrier, std::int64_t bytes, Site site);
  void wait(Thread& thread, kernels::Mbarrier& barrier, unsigned parity, Site site);
  void fence_init(Thread& thread);
  void bulk_load(Thread& thread, void* to, const void* from, std::size_t n, kernels::Mbarrier& barrier, Site site);
  void bulk_store(Thread& thread, void* to, const void* from, std::size_t n, Site site);
  void wait_bulk(Thread& thread, int youngest);
  void fence_async(Thread& thread);
  void multiply_tiles(Thread& thread, std::uint32_t* sum, const kernels::ByteTile& left, const kernels::ByteTile& right,
                      bool more, Site site);
  void wait_products(Thread& thread, int youngest);
  void arrive_copies(Thread& thread, kernels::Mbarrier& barrier, Site site);
  void sync_cluster(Thread& thread, Site site);
  void send(Thread& thread, void* cell, const void* value, unsigned bytes, unsigned elements, int rank,
            kernels::Mbarrier& barrier, Site site);

 private:
  // The launch and the scheduler: engine.cpp.
  void schedule();
  void place(Block& slot, std::int64_t index);
  void retire(Block& block);
  void run_ready(Warp& warp);
  void run_polling(Warp& warp);
  void resume(Thread& thread);
  void finish(Thread& thread);
  void make_ready(Thread& thread);
  void suspend(Thread& thread, State state, Site site);
  void tear_down();
  std::uint64_t random();
  std::uint32_t any_lane(std::uint32_t mask);
  void settle(Warp& warp) { warp.requests.settle(sites_, width_, counts_); }

  // The author of an access: the thread, or an agent on its behalf.
  struct Actor {
    Thread& thread;
    std::uint32_t id, time;
    unsigned site;  // number
    Stamp::Kind kind;
    Block* home = nullptr;  // whose shared memory, if not the thread's
    Stamp stamp() const { return Stamp::make(id, time, site, kind); }
  };
  // Accesses: accesses.cpp.
  ShadowedRegion& region(Thread& thread, std::uintptr_t at, std::size_t bytes, unsigned number, bool write);
  /// The address at which requests are counted: from the region's begin on, as if each began at a multiple of every
  /// alignment.
  std::uint64_t place(std::uintptr_t at, std::size_t bytes, unsigned number);
  void check_shared(Thread& thread, std::uintptr_t at, std::size_t bytes, Op op, Site site);
  Cell* cells(Thread& thread, std::uintptr_t at, std::size_t bytes, unsigned number, bool shared, bool write,
              std::size_t& n, Shadow*& shadow, Block* home = nullptr);
  void read_cells(const Actor& actor, std::uintptr_t at, std::size_t bytes, bool shared);
  void write_cells(const Actor& actor, std::uintptr_t at, std::size_t bytes, bool shared);
  void check_read(const Actor& actor, const Cell& cell, std::uintptr_t at);
  void note_read(const Actor& actor, Cell& cell, Shadow& shadow);
  void check_write(const Actor& actor, Cell& cell, std::uintptr_t at);

  // Clocks: order.cpp.
  /// write: the access was a write. A thread that waited for a send knows only the sender's reads.
  bool knows(Thread& thread, std::uint32_t id, std::uint32_t time, bool write);
  /// The same with the clock that the thread had, and what its whole block knew, at some time.
  bool knows(const Thread& thread, ThreadClock& clock, std::uint32_t block_known, std::uint32_t id, std::uint32_t time,
             bool write);
  void synchronise(Warp& warp, std::uint32_t mask);
  void synchronise(Block& block);
  void advance(Thread& thread);
  void gather(Gathered& gathered, const Thread& thread);
  [[noreturn]] void too_long();

  // Collectives and barriers.
  void check_collective(Thread& thread);
  [[noreturn]] void wait_for_ever();
  void complete(Warp& warp, std::uint32_t mask);
  void complete(Block& block, Thread& last);
  void complete(Thread& thread, NamedBarrier& barrier);
  /// receiver: the block whose barrier at the same place is used, if not the thread's.
  MbarrierState& mbarrier(Thread& thread, const kernels::Mbarrier& barrier, Site site, Block* receiver = nullptr);
  void perhaps_complete(MbarrierState& barrier);
  void pass(Thread& thread, MbarrierState& barrier, unsigned parity);

  // Copies: copies.cpp.
  void land(PendingCopy& copy);
  struct By {
    std::uint32_t id, time;
  };
  void end_copy(Thread& thread, PendingCopy& copy, By by, bool waited);
  void end_reading(const Actor& reader, Cell& cell, Shadow& shadow);
  void check_bulk(Thread& thread, const void* shared, const void* global, std::size_t n, Op op, Site site);
  BulkCopy& issue_bulk(Thread& thread, void* to, const void* from, std::size_t n, Op op, Site site);
  void land_bulk(std::size_t i);
  void land_some();
  void check_fenced(Thread& thread, const void* from, std::size_t n, Op op, Site site);

  // Products of tiles: products.cpp.
  void read_tiles(Thread& thread, const PendingProduct& product, bool end);

  // Clusters, sends, copies that arrive at barriers: clusters.cpp.
  void begin_clusters(int cluster_blocks);
  Cluster& cluster_of(const Thread& thread) {
    return clusters_[static_cast<std::size_t>(thread.block / cluster_blocks_)];
  }
  void complete_cluster(Thread& last);
  void leave_cluster(Thread& thread);
  void end_in_cluster(Block& block);
  const Release* known_to_send(Thread& thread);
  std::uint32_t agent_of(Block& block, MbarrierState& barrier);
  void land(const Send& send);
  void land(CopyArrival& arrival);
  void land_arrivals(Thread& thread);
  void land_some_sent();
  void land_any_sent();
  void close_phase(MbarrierState& barrier);

  // Faults: faults.cpp.
  [[noreturn]] void fault(Thread& thread, FaultKind kind, Site site, const std::string& text, Site other = {});
  [[noreturn]] void conflict(const Actor& actor, Stamp other, bool write, bool other_wrote, std::uintptr_t at);
  [[noreturn]] void stuck(bool spinning);
  [[noreturn]] void raise(Fault fault);
  Fault make_fault(FaultKind kind, std::int64_t block, int thread, Site site, const std::string& text, Site other = {});
  std::string where(const Thread& thread, std::uintptr_t at, bool meant_shared = false);
  std::string words_for(const Thread& thread, std::uint32_t id);
  bool of_this_launch(Stamp stamp) const { return stamp.thread() >= launch_id_; }

  const Options options_;
  std::uint64_t random_;
  unsigned width_ = 32;
  Sites sites_;
  Memory memory_;
  std::vector<ShadowedRegion*> region_of_site_;  // the last index of each site

  // State of the launch.
  KernelShape shape_{};
  std::string kernel_;
  const void* args_ = nullptr;
  std::int64_t blocks_ = 0;
  std::uint32_t agents_ = 0;     // of a block, the first: its threads, rounded up to whole warps
  std::uint32_t stride_ = 0;     // ids of a block
  std::uint32_t launch_id_ = 1;  // the first id of the launch; 0 is the host
  std::uint32_t next_id_ = 1;
  std::uint64_t launch_ = 0;  // the number of earlier launches
  std::vector<std::unique_ptr<Block>> slots_;
  std::vector<Warp*> ready_, polling_;
  Fronts fronts_;
  std::unordered_map<const void*, const Release*> released_;
  std::vector<std::unique_ptr<BulkCopy>> bulk_;
  int cluster_blocks_ = 0;  // 0: no clusters
  bool together_ = false;
  std::vector<Cluster> clusters_;
  std::vector<Send> sends_;
  std::vector<CopyArrival> copy_arrivals_;
  Counts counts_;
  std::uint64_t step_ = 0, order_ = 0;
  std::uint64_t changes_ = 0, changes_seen_ = 0, idle_polls_ = 0;
  Thread* running_ = nullptr;  // null: the scheduler
  std::optional<Fault> fault_;
  std::exception_ptr error_;
};

}  // namespace areal::simt
