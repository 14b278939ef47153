#pragma once
/// \file span.hpp Span: consecutive elements, and the memory that they lie in.

#include <areal/execution.hpp>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <ranges>
#include <span>
#include <type_traits>

namespace areal {

template <class T>
class Span;
template <class T>
inline constexpr bool is_span = false;
template <class T>
inline constexpr bool is_span<Span<T>> = true;

/// Like std::span, with the place of its memory. Made of any contiguous range of the host, of an initializer list
/// (until the end of the full expression), or of a pointer to device memory. Owns nothing.
template <class T>
class Span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  constexpr Span() noexcept = default;
  constexpr Span(T* data, std::size_t size, MemoryPlace memory = {}) noexcept
      : data_(data), size_(size), memory_(memory) {}
  /// A host range: a vector, an array, a std::span.
  template <class Range>
  requires(!is_span<std::remove_cvref_t<Range>> && std::ranges::contiguous_range<Range> &&
           std::ranges::sized_range<Range> &&
           std::convertible_to<std::remove_reference_t<std::ranges::range_reference_t<Range>> (*)[],
                               T (*)[]>) constexpr Span(Range&& range) noexcept  // NOLINT: implicit on purpose
      : data_(std::ranges::data(range)), size_(std::ranges::size(range)) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  /// Values that live as long as the call.
  constexpr Span(std::initializer_list<value_type> values) noexcept requires(std::is_const_v<T>)
      : data_(values.begin()), size_(values.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  /// A mutable span converts to a const one.
  template <class Other>
  requires(std::is_const_v<T>&& std::same_as<Other, value_type>) constexpr Span(
      const Span<Other>& other) noexcept  // NOLINT: implicit on purpose
      : data_(other.data()), size_(other.size()), memory_(other.memory()) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr MemoryPlace memory() const noexcept { return memory_; }
  /// Of host memory.
  constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr std::span<T> host() const noexcept { return {data_, size_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  MemoryPlace memory_ = {};
};

}  // namespace areal
