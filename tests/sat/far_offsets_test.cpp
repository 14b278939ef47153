// Offsets beyond 2^32 elements without the memory: address space is reserved, pitches are huge, few pages are touched.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <cerrno>
#include <cstring>
#include "conformance/sat_case.hpp"

namespace areal::conformance {
namespace {

/// Reserved address space that takes memory only where it is touched.
class Sparse {
 public:
  explicit Sparse(std::size_t bytes) : bytes_(bytes) {
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) {
      why_not_ = std::to_string(bytes >> 30) + " GiB of address space were refused: " + std::strerror(errno);
      memory_ = nullptr;
    }
  }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  ~Sparse() {
    if (memory_) munmap(memory_, bytes_);
  }
  void* data() const { return memory_; }
  const std::string& why_not() const { return why_not_; }

 private:
  std::size_t bytes_;
  void* memory_ = nullptr;
  std::string why_not_;
};

/// Pitches that put each row, plane and image more than 2^32 elements after the one before; odd, so that no row is
/// aligned.
View far_view(const Sparse& memory, Type type, const Shape& shape) {
  const auto size = static_cast<std::int64_t>(size_of(type));
  const std::int64_t row = (std::int64_t{1} << 32) * size + 3;
  const bool planar = shape.layout == Layout::planar;
  const std::int64_t plane = planar ? row * shape.height + 5 : 0;
  const std::int64_t image = (planar ? plane * shape.channels : row * shape.height) + 7;
  return View(memory.data(), type, shape, row, plane, image);
}
std::size_t far_bytes(Type type, const Shape& shape) {
  const View view = far_view(Sparse(1), type, shape);
  return static_cast<std::size_t>(view.batch_pitch * shape.batch) + 64;
}

std::string fault_far_apart(const std::string& id, TypePair types, const Shape& shape, PlanOptions options) {
  options.algorithm = id;
  const SatCase c{shape, types, options};
  const SatPlan plan = plan_of(shape, types, options);
  const Values image = random_image(types.input, shape, Fill::wild, 11);
  std::optional<Values> mask;
  if (options.mask) mask = random_mask(Shape{shape.width, shape.height, 1, shape.batch}, 11);
  const ExpectedTables expected = expected_tables(c, image, mask ? &*mask : nullptr);

  std::vector<std::unique_ptr<Sparse>> memory;
  std::string refused;
  const auto place = [&](Type type, const Shape& s) {
    memory.push_back(std::make_unique<Sparse>(far_bytes(type, s)));
    if (!memory.back()->data()) refused = memory.back()->why_not();
    return far_view(*memory.back(), type, s);
  };
  const View in = place(types.input, shape);
  SatArguments a{in, place(types.table, plan.table_shape())};
  View masked;
  if (options.mask) {
    masked = place(Type::u8, mask->shape);
    a.mask = masked;
    a.count = place(Type::u32, plan.count_shape());
  }
  if (options.squares) a.squares = place(*options.squares, plan.table_shape());
  if (options.tilted) a.tilted = place(types.table, plan.tilted_shape());
  if (!refused.empty()) return "skip: " + refused;

  write(image, in);
  if (mask) write(*mask, masked);
  GuardedWorkspace workspace(plan.workspace_bytes(), 0xA5);
  workspace.prepare(plan);
  plan.execute(a, workspace.ready());
  std::string fault = difference(expected.sum, values_of(a.sum));
  if (fault.empty() && options.squares) fault = difference(*expected.squares, values_of(a.squares));
  if (fault.empty() && options.tilted) fault = difference(*expected.tilted, values_of(a.tilted));
  if (fault.empty() && options.mask) fault = difference(*expected.count, values_of(a.count));
  return fault.empty() ? workspace.broken_guard() : fault;
}

void expect_exact(const std::string& id, const char* types, const Shape& shape, const PlanOptions& options = {}) {
  const std::string fault = fault_far_apart(id, type_pair(types), shape, options);
  if (fault.starts_with("skip: ")) GTEST_SKIP() << fault;
  EXPECT_EQ(fault, "") << id << " " << types;
}

TEST(FarOffsets, EveryRowOfTheCatalogue) {
  for (const std::string& id : cpu_sat_ids())
    for (const char* types : {"8u32u", "8u64u", "16s64f", "32f32f", "64f64f"})
      for (const Border border : {Border::zero, Border::none, Border::exclusive})
        expect_exact(id, types, Shape{70, 9}, {.border = border});
}

TEST(FarOffsets, SeveralTiles) {
  for (const std::string& id : cpu_sat_ids()) expect_exact(id, "8u32u", Shape{1100, 150}, {.threads = 3});
}

TEST(FarOffsets, Options) {
  for (const std::string& id : option_sat_ids()) {
    expect_exact(id, "8u32u", Shape{70, 9}, {.squares = Type::u64, .tilted = true, .mask = true});
    expect_exact(id, "8u32s", Shape{40, 9, 3, 2}, {.squares = Type::f64, .tilted = true, .mask = true});
    expect_exact(id, "16u64u", Shape{40, 9, 2, 2, Layout::planar}, {.tables = Layout::interleaved});
    expect_exact(id, "32f64f", Shape{40, 9, 1, 5}, {.volume = true});
  }
}

TEST(FarOffsets, TheSuiteWouldNotice) {
  // Offsets truncated to 32 bits would reach other memory: row y of the image at y * 3 bytes instead.
  const Sparse memory(far_bytes(Type::u8, Shape{8, 3}));
  if (!memory.data()) GTEST_SKIP() << memory.why_not();
  const View far = far_view(memory, Type::u8, Shape{8, 3});
  write(random_image(Type::u8, Shape{8, 3}, Fill::wild, 5), far);
  View cut = far;
  cut.row_pitch = far.row_pitch & 0xFFFFFFFF;
  EXPECT_EQ(cut.row_pitch, 3);
  EXPECT_NE(values_of(cut).integer, values_of(far).integer);
}

}  // namespace
}  // namespace areal::conformance
