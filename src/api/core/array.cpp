// Owned memory, and the views' planes.
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <areal/array.hpp>
#include <areal/view.hpp>
#include <cstdlib>
#include <new>
#include "api/core/require.hpp"

namespace areal {

std::uint64_t bytes_of(const Shape& shape, Type type) {
  require(shape.width >= 0 && shape.height >= 0 && shape.channels >= 0 && shape.batch >= 0, "shape ", shape.width, "x",
          shape.height, ", ", shape.channels, " channels, batch ", shape.batch, ": an extent may not be negative");
  std::int64_t bytes = static_cast<std::int64_t>(size_of(type));
  for (const std::int64_t extent : {shape.width, shape.height, shape.channels, shape.batch})
    require(!__builtin_mul_overflow(bytes, extent, &bytes), "shape ", shape.width, "x", shape.height, ", ",
            shape.channels, " channels, batch ", shape.batch, " of ", name_of(type), ": its bytes do not fit 63 bits");
  return static_cast<std::uint64_t>(bytes);
}

namespace {

/// True if the request exceeds memory and swap together. Some systems promise any amount, and kill the process that
/// uses it.
bool exceeds_machine(std::uint64_t bytes) {
  struct sysinfo machine;
  return bytes > std::uint64_t{1} << 30 && sysinfo(&machine) == 0 &&
         bytes / machine.mem_unit > std::uint64_t{machine.totalram} + machine.totalswap;
}

constexpr std::size_t line = 64, huge_page = std::size_t{2} << 20;

/// Uninitialised memory. glibc's malloc returns freed blocks of 32 MiB and more to the system, so each new one begins
/// with page faults, which take as long as computing a table into it. Huge pages make them few.
void* allocate(std::size_t bytes) {
  if (bytes == 0 || exceeds_machine(bytes)) return nullptr;
  if (bytes < 16 * huge_page) return std::aligned_alloc(line, bytes);
  void* const data = std::aligned_alloc(huge_page, (bytes + huge_page - 1) / huge_page * huge_page);
  if (data != nullptr) madvise(data, bytes / huge_page * huge_page, MADV_HUGEPAGE);  // a hint: it may fail
  return data;
}

}  // namespace

Array::Array(const Shape& shape, Type type) : shape_(shape), type_(type), bytes_(bytes_of(shape, type)) {
  const std::size_t rounded = (bytes_ + line - 1) / line * line;
  memory_.reset(allocate(rounded));
  if (rounded && !memory_)
    throw OutOfMemory(sentence("an array of ", bytes_, " bytes (", shape.width, "x", shape.height, ", ", shape.channels,
                               " channels, batch ", shape.batch, " of ", name_of(type), ") could not be allocated"),
                      bytes_);
}

void Array::Free::operator()(void* p) const noexcept { std::free(p); }

void Array::check_type(Type requested) const {
  require(requested == type_, "array holds ", name_of(type_), ", not ", name_of(requested));
}

namespace {
template <class Void>
BasicView<Void> plane_of(const BasicView<Void>& view, std::int64_t channel, std::int64_t n) {
  require(channel >= 0 && channel < view.shape.channels, "channel ", channel, ": the view has ", view.shape.channels);
  require(n >= 0 && n < view.shape.batch, "image ", n, ": the batch has ", view.shape.batch);
  require(view.shape.layout == Layout::planar || view.shape.channels == 1,
          "a plane of interleaved channels is not contiguous: use a planar layout");
  return BasicView<Void>(view.row(0, channel, n), view.type, Shape{view.shape.width, view.shape.height}, view.row_pitch)
      .in(view.memory);
}
}  // namespace

ConstView plane(const ConstView& view, std::int64_t channel, std::int64_t n) { return plane_of(view, channel, n); }
View plane(const View& view, std::int64_t channel, std::int64_t n) { return plane_of(view, channel, n); }

}  // namespace areal
