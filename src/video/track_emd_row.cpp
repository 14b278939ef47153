// Earth mover's distances of adjacent windows, from a tensor in host memory.
#include "track_emd_row.hpp"
#include <algorithm>
#include <areal/type.hpp>
#include <cmath>
#include <cstring>
#include "formulas/fragments.hpp"

namespace areal::video {
namespace {

template <class T>
T load(const char* row, std::int64_t column) noexcept {
  T value;
  std::memcpy(&value, row + column * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

// Offsets of the windows' corners in the rows of one bin. Without `top` the windows begin in the image's first row,
// above which a tensor without border stores nothing.
struct Corners {
  const char *top, *bottom;
  std::int64_t left, right;
};

// Integers wrap, so counts are right modulo 2^bits of the tensor.
template <class T>
void add_counts(const Corners& at, std::int64_t n, const double* __restrict before, double* __restrict to) {
  std::int64_t first = 0;
  if (at.left < 0 && n > 0) {  // nothing is stored left of the image
    T count = load<T>(at.bottom, at.right);
    if (at.top) count = static_cast<T>(count - load<T>(at.top, at.right));
    to[0] = before[0] + static_cast<double>(count);
    first = 1;
  }
  if (at.top) {
    for (std::int64_t i = first; i < n; ++i)
      to[i] = before[i] +
              static_cast<double>(static_cast<T>(load<T>(at.bottom, at.right + i) - load<T>(at.bottom, at.left + i) -
                                                 load<T>(at.top, at.right + i) + load<T>(at.top, at.left + i)));
  } else {
    for (std::int64_t i = first; i < n; ++i)
      to[i] = before[i] +
              static_cast<double>(static_cast<T>(load<T>(at.bottom, at.right + i) - load<T>(at.bottom, at.left + i)));
  }
}

using AddCounts = void (*)(const Corners&, std::int64_t, const double*, double*);

// The types that require_tensor allows.
AddCounts add_counts_of(Type type) {
  switch (type) {
    case Type::u16:
      return add_counts<std::uint16_t>;
    case Type::u64:
      return add_counts<std::uint64_t>;
    case Type::f32:
      return add_counts<float>;
    case Type::f64:
      return add_counts<double>;
    default:
      return add_counts<std::uint32_t>;
  }
}

}  // namespace

void EmdRow::resize(std::int64_t bins, std::int64_t most_windows) {
  bins_ = bins;
  most_ = most_windows;
  cumulative_.assign(static_cast<std::size_t>((bins + 1) * most_windows), 0.0);
  inverse_.assign(static_cast<std::size_t>(most_windows), 0.0);
}

void EmdRow::count(const TensorView& tensor, const Region& first, std::int64_t n) {
  const std::int64_t shift = tensor.border == Border::none ? 1 : 0;
  const std::int64_t top = first.y - shift, bottom = top + first.height;
  const AddCounts add = add_counts_of(tensor.view.type);
  Corners at{nullptr, nullptr, first.x - shift, first.x + first.width - shift};
  for (std::int64_t bin = 0; bin < bins_; ++bin) {
    at.top = top < 0 ? nullptr : static_cast<const char*>(tensor.view.row(top, bin));
    at.bottom = static_cast<const char*>(tensor.view.row(bottom, bin));
    add(at, n, row(bin), row(bin + 1));
  }
  const double* const total = row(bins_);
  for (std::int64_t i = 0; i < n; ++i) inverse_[static_cast<std::size_t>(i)] = formulas::inverse_of(total[i]);
}

void EmdRow::shares(const TensorView& tensor, const Region& region, double* out) {
  count(tensor, region, 1);
  for (std::int64_t bin = 0; bin < bins_; ++bin) out[bin] = row(bin + 1)[0] * inverse_[0];
}

void EmdRow::distances(const TensorView& tensor, const Region& first, std::int64_t n, const double* shares,
                       double* out) {
  count(tensor, first, n);
  const double* const inverse = inverse_.data();
  const bool is_empty = !(shares[bins_ - 1] > 0);
  std::fill_n(out, n, 0.0);
  for (std::int64_t bin = 0; bin + 1 < bins_; ++bin) {  // the last share is 1 on both sides
    const double* const counts = row(bin + 1);
    const double share = shares[bin];
    for (std::int64_t i = 0; i < n; ++i) out[i] = formulas::with_emd_bin(out[i], counts[i], inverse[i], share);
  }
  const auto largest = static_cast<double>(bins_ - 1);
  for (std::int64_t i = 0; i < n; ++i) out[i] = formulas::emd_of(out[i], !(inverse[i] > 0), is_empty, largest);
}

}  // namespace areal::video
