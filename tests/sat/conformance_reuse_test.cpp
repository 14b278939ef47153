// Plans and workspaces reused, copied, and used from several threads at once; and no byte read beyond the image.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <atomic>
#include <thread>
#include "conformance/sat_case.hpp"
#include "conformance/shapes.hpp"

namespace areal::conformance {
namespace {

SatCase case_of(const std::string& id, const char* types) {
  SatCase c;
  c.image = {600, 130};
  c.types = type_pair(types);
  c.options.algorithm = id;
  return c;
}

TEST(Reuse, OnePlanOnSeveralThreadsAtOnce) {
  for (const std::string& id : cpu_sat_ids())
    for (const char* types : {"8u32u", "32f64f"})
      for (const int threads : {0, 1}) {
        SatCase c = case_of(id, types);
        c.options.threads = threads;
        if (id == "tiles" || id == "auto") c.options.squares = Type::f64;
        const SatPlan plan = plan_of(c.image, c.types, c.options);
        std::atomic<int> started = 0;
        std::vector<std::string> faults(3);
        std::vector<std::thread> workers;
        for (std::size_t k = 0; k < faults.size(); ++k)
          workers.emplace_back([&, k] {
            const Values image = random_image(c.types.input, c.image, Fill::wild, base_seed() + k);
            SatMemory memory(c, plan, image, nullptr);
            const ExpectedTables expected = expected_tables(c, image, nullptr);
            GuardedWorkspace workspace(plan.workspace_bytes(), static_cast<std::uint8_t>(0xA5 + k));
            workspace.prepare(plan);
            ++started;
            while (started < static_cast<int>(faults.size())) std::this_thread::yield();
            for (int repeat = 0; repeat < 5 && faults[k].empty(); ++repeat) {
              memory.poison(static_cast<std::uint8_t>(repeat));
              plan.execute(memory.arguments(), workspace.ready());
              faults[k] = fault_in(memory, expected);
            }
            if (faults[k].empty()) faults[k] = workspace.broken_guard();
          });
        for (std::thread& worker : workers) worker.join();
        for (const std::string& fault : faults) EXPECT_EQ(fault, "") << describe(c);
      }
}

TEST(Reuse, ACopyOutlivesItsPlan) {
  for (const std::string& id : cpu_sat_ids()) {
    SatCase c = case_of(id, "16u64u");
    auto plan = std::make_unique<SatPlan>(plan_of(c.image, c.types, c.options));
    SatPlan copy = *plan;
    EXPECT_EQ(copy.algorithm(), plan->algorithm());
    EXPECT_EQ(copy.workspace_bytes(), plan->workspace_bytes());
    plan.reset();
    const Values image = random_image(c.types.input, c.image, Fill::wild, base_seed());
    SatMemory memory(c, copy, image, nullptr);
    GuardedWorkspace workspace(copy.workspace_bytes(), 0xFF);
    workspace.prepare(copy);
    const SatPlan moved = std::move(copy);
    moved.execute(memory.arguments(), workspace.ready());
    EXPECT_EQ(fault_in(memory, expected_tables(c, image, nullptr)), "") << id;
  }
}

TEST(Reuse, APlanSaysWhatItIs) {
  for (const std::string& id : cpu_sat_ids()) {
    const SatPlan plan =
        plan_of(Shape{70, 30}, type_pair("8u64f"), {.border = Border::none, .algorithm = id, .threads = 2});
    EXPECT_EQ(plan.image_shape(), (Shape{70, 30}));
    EXPECT_EQ(plan.table_shape().width, 70);
    EXPECT_EQ(plan.table_shape().height, 30);
    EXPECT_EQ(plan.tilted_shape().width, 71);
    EXPECT_EQ(plan.tilted_shape().height, 31);
    EXPECT_EQ(name_of(plan.types()), "8u64f");
    EXPECT_EQ(plan.options().border, Border::none);
    EXPECT_EQ(plan.execution().threads, 2);
    EXPECT_EQ(plan.table_bytes(), 70u * 30u * 8u);
    EXPECT_NE(find_algorithm("sat", plan.algorithm()), nullptr);
    EXPECT_TRUE(id == "auto" || plan.algorithm() == id) << plan.algorithm();
    EXPECT_FALSE(plan.reason().empty());
  }
}

TEST(Reuse, TheOneLineFormOwnsItsTables) {
  const Shape shape{77, 41};
  for (const TypePair types : type_pairs())
    for (const Border border : {Border::zero, Border::none, Border::exclusive}) {
      const Values image = random_image(types.input, shape, Fill::wild, base_seed());
      const Buffer buffer(image, placements[4]);
      const SatTable table = sat(buffer.view(), {.border = border, .types = types});
      EXPECT_EQ(table.border(), border);
      EXPECT_EQ(table.types(), types);
      EXPECT_EQ(table.image_shape(), shape);
      EXPECT_EQ(difference(sums_of(terms_of(image), types.table, border), values_of(table.sum())), "")
          << name_of(types);
      for (const ConstView& none : {table.squares(), table.tilted(), table.count()}) EXPECT_EQ(none.data, nullptr);
    }
  // The default type pair, and all the tables.
  const Values image = random_image(Type::u8, shape, Fill::wild, 3);
  const Values mask = random_mask(shape, 3);
  const Buffer buffer(image, placements[0]), mask_buffer(mask, placements[0]);
  const SatTable all = sat(buffer.view(), {.squares = Squares::automatic, .tilted = true}, {}, mask_buffer.view());
  SatCase c{shape, default_types(shape, Type::u8), {.squares = Type::u64, .tilted = true, .mask = true}};
  const ExpectedTables expected = expected_tables(c, image, &mask);
  EXPECT_EQ(difference(expected.sum, values_of(all.sum())), "");
  EXPECT_EQ(difference(*expected.squares, values_of(all.squares())), "");
  EXPECT_EQ(difference(*expected.tilted, values_of(all.tilted())), "");
  EXPECT_EQ(difference(*expected.count, values_of(all.count())), "");
}

TEST(Reuse, TheDefaultLaneCountsAVolumesDepth) {
  const std::vector<std::uint8_t> white(257 * 257 * 256, 255);
  const ConstView image(white.data(), Type::u8, Shape{257, 257, 1, 256});
  const SatTable table = sat(image, {.border = Border::none, .volume = true});
  ASSERT_EQ(table.sum().type, Type::u64);
  EXPECT_EQ(static_cast<const std::uint64_t*>(table.sum().data)[white.size() - 1], std::uint64_t{255} * white.size());
  EXPECT_GT(std::uint64_t{255} * white.size(), std::uint64_t{4294967295});
  EXPECT_EQ(sat(ConstView(white.data(), Type::u8, Shape{257, 257, 1, 2})).sum().type, Type::u32) << "a batch of images";
}

/// Pages with a forbidden one before and behind: a byte read beyond either end is a fault, in Release as well.
class Fenced {
 public:
  explicit Fenced(std::size_t bytes) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    inner_ = (bytes + page_ - 1) / page_ * page_ + page_;
    void* const all = mmap(nullptr, inner_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::runtime_error("no memory for the fenced pages");
    memory_ = static_cast<char*>(all);
    if (mprotect(memory_ + page_, inner_, PROT_READ | PROT_WRITE) != 0) throw std::runtime_error("mprotect");
  }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  ~Fenced() { munmap(memory_, inner_ + 2 * page_); }
  /// The last `bytes` before the guard page, or the first after it.
  char* at_end(std::size_t bytes) { return memory_ + page_ + inner_ - bytes; }
  char* at_start() { return memory_ + page_; }

 private:
  std::size_t page_, inner_ = 0;
  char* memory_ = nullptr;
};

TEST(Reuse, TouchesNothingBeyondItsViews) {
  for (const std::string& id : cpu_sat_ids())
    for (const TypePair types : type_pairs())
      for (const auto& [width, height] :
           {std::pair{1, 1}, {3, 2}, {7, 5}, {16, 3}, {33, 4}, {67, 3}, {515, 2}, {5, 70}})
        for (const bool end : {true, false}) {
          SatCase c;
          c.image = {width, height};
          c.types = types;
          c.options.algorithm = id;
          c.options.border = Border::none;
          const SatPlan plan = plan_of(c.image, types, c.options);
          const Values image = random_image(types.input, c.image, Fill::wild, base_seed());
          const std::size_t in_bytes = bytes_of(c.image, types.input), out_bytes = bytes_of(c.image, types.table);
          const std::size_t work_bytes = plan.workspace_bytes();
          Fenced in(in_bytes), out(out_bytes), work(work_bytes);
          const View in_view(end ? in.at_end(in_bytes) : in.at_start(), types.input, c.image);
          const View out_view(end ? out.at_end(out_bytes) : out.at_start(), types.table, c.image);
          void* const workspace = end ? work.at_end(work_bytes) : work.at_start();
          write(image, in_view);
          Workspace ready(plan, {static_cast<std::byte*>(workspace), work_bytes}, Stream::host());
          plan.execute({in_view, out_view}, ready);
          EXPECT_EQ(difference(sums_of(terms_of(image), types.table, Border::none), values_of(out_view)), "")
              << describe(c);
        }
}

}  // namespace
}  // namespace areal::conformance
