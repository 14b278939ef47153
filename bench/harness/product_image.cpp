#include "bench/harness/product_image.hpp"
#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <random>
#include <thread>

namespace areal::bench {
namespace {

constexpr std::int64_t unsigned_factors = 16;  // factors 0 to 15, so that products fit bytes

template <class T>
std::string wrong_in(const ConstView& rows, std::int64_t y, const std::vector<std::int64_t>& columns,
                     const std::vector<std::int64_t>& row_sums) {
  for (std::int64_t r = 0; r < rows.shape.height; ++r) {
    const char* const row = static_cast<const char*>(rows.row(r));
    const std::int64_t factor = row_sums[static_cast<std::size_t>(y + r)];
    for (std::int64_t x = 0; x < rows.shape.width; ++x) {
      T value;
      std::memcpy(&value, row + x * static_cast<std::int64_t>(sizeof(T)), sizeof value);
      const T want = static_cast<T>(factor * columns[static_cast<std::size_t>(x)]);
      if (value != want) return fmt::format("entry ({}, {}) is {}, not {}", x, y + r, value, want);
    }
  }
  return {};
}

template <class T>
void put(void* to, std::int64_t value) {
  const T element = static_cast<T>(value);
  std::memcpy(to, &element, sizeof element);
}

void put(Type type, void* to, std::int64_t value) {
  switch (type) {
    case Type::f16: {
      const Half half = to_half(static_cast<float>(value));
      std::memcpy(to, &half, sizeof half);
      return;
    }
    case Type::f32:
      return put<float>(to, value);
    case Type::f64:
      return put<double>(to, value);
    default:
      break;
  }
  switch (size_of(type)) {
    case 1:
      return put<std::uint8_t>(to, value);
    case 2:
      return put<std::uint16_t>(to, value);
    case 4:
      return put<std::uint32_t>(to, value);
    default:
      return put<std::uint64_t>(to, value);
  }
}

}  // namespace

ProductImage::ProductImage(std::int64_t width, std::int64_t height, Type type, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const bool has_sign = is_float(type) || is_signed_integer(type);
  const std::int64_t kinds = has_sign ? 2 : unsigned_factors;
  const auto factor = [&](std::int64_t kind) { return has_sign ? 2 * kind - 1 : kind; };
  const auto any = [&] { return static_cast<std::int64_t>((random() >> 32) % static_cast<std::uint64_t>(kinds)); };
  std::int64_t sum = 0;
  for (std::int64_t x = 0; x < width; ++x) {
    columns_.push_back(factor(any()));
    column_sums_.push_back(sum += columns_.back());
  }
  sum = 0;
  for (std::int64_t y = 0; y < height; ++y) {
    kind_.push_back(any());
    row_sums_.push_back(sum += factor(kind_.back()));
  }
  kinds_ = Array({width, kinds}, type);
  for (std::int64_t k = 0; k < kinds; ++k)
    for (std::int64_t x = 0; x < width; ++x)
      put(type, static_cast<char*>(kinds_.view().row(k)) + x * static_cast<std::int64_t>(size_of(type)),
          factor(k) * columns_[static_cast<std::size_t>(x)]);
}

std::string ProductImage::wrong_sums(const ConstView& rows, std::int64_t y) const {
  const auto look = [&](std::int64_t first, std::int64_t count) -> std::string {
    const ConstView some(rows.row(first), rows.type, {rows.shape.width, count}, rows.row_pitch);
    switch (rows.type) {
      case Type::f32:
        return wrong_in<float>(some, y + first, column_sums_, row_sums_);
      case Type::f64:
        return wrong_in<double>(some, y + first, column_sums_, row_sums_);
      case Type::u64:
      case Type::s64:
        return wrong_in<std::uint64_t>(some, y + first, column_sums_, row_sums_);
      default:
        return wrong_in<std::uint32_t>(some, y + first, column_sums_, row_sums_);
    }
  };
  const std::int64_t height = rows.shape.height;
  const bool few = rows.shape.width * height < (1 << 20);
  const std::int64_t threads = few ? 1 : std::min<std::int64_t>(height, std::thread::hardware_concurrency());
  if (threads <= 1) return look(0, height);
  std::vector<std::string> wrong(static_cast<std::size_t>(threads));
  std::vector<std::thread> lookers;
  for (std::int64_t t = 0; t < threads; ++t)
    lookers.emplace_back([&, t] {
      const std::int64_t first = height * t / threads;
      wrong[static_cast<std::size_t>(t)] = look(first, height * (t + 1) / threads - first);
    });
  for (std::thread& thread : lookers) thread.join();
  for (const std::string& what : wrong)
    if (!what.empty()) return what;
  return {};
}

}  // namespace areal::bench
