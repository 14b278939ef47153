#include "view/table_on_disk.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include "view/part.hpp"

namespace areal::view {
namespace {

constexpr std::int64_t sample_side = 64, samples_along = 4;  // blocks of the sample
constexpr std::size_t most_checked_level = 2;  // beyond it few entries of a tile of the table are read, unverified

/// The means of squares of 2^level pixels, `region` of them.
Array means(const ChunkedTable& table, const ChunkedReadOptions& options, std::size_t level, const Region& region) {
  const std::int64_t side = std::int64_t{1} << level;
  const Shape& shape = table.shape();
  std::vector<Region> squares;
  squares.reserve(static_cast<std::size_t>(region.width * region.height));
  for (std::int64_t y = region.y; y < region.y + region.height; ++y)
    for (std::int64_t x = region.x; x < region.x + region.width; ++x)
      squares.push_back(
          {x * side, y * side, std::min(side, shape.width - x * side), std::min(side, shape.height - y * side)});
  ChunkedReadOptions read = options;
  read.checked = level <= most_checked_level;
  const std::vector<std::uint64_t> sums = table.sums(squares, read);
  const bool is_bytes = table.type() == Type::u8;
  Array out(Shape{region.width, region.height}, is_bytes ? Type::u8 : Type::f32);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto pixels = static_cast<std::uint64_t>(squares[i].width * squares[i].height);
    if (is_bytes)
      out.as<std::uint8_t>()[i] = static_cast<std::uint8_t>((sums[i] + pixels / 2) / pixels);
    else
      out.as<float>()[i] = static_cast<float>(static_cast<double>(sums[i]) / static_cast<double>(pixels));
  }
  return out;
}

}  // namespace

TableOnDisk::Facts TableOnDisk::facts_of(const ChunkedTable& table, const ChunkedReadOptions& options) {
  const Shape& shape = table.shape();
  Facts facts;
  facts.full = {shape.width, shape.height};
  facts.type = table.type();
  facts.names = {"gray"};
  facts.range = facts.type == Type::u8 ? std::pair(0.0, 256.0) : std::pair(0.0, 65536.0);
  facts.drawn = {0, 255};
  if (facts.type == Type::u8) return facts;
  // Black and white are those of a sample.
  const std::int64_t wide = std::min(sample_side, shape.width), high = std::min(sample_side, shape.height);
  facts.drawn = {65535, 0};
  for (std::int64_t i = 0; i < samples_along; ++i)
    for (std::int64_t j = 0; j < samples_along; ++j) {
      const Region block{(shape.width - wide) * j / (samples_along - 1),
                         (shape.height - high) * i / (samples_along - 1), wide, high};
      const Array pixels = means(table, options, 0, block);
      const auto [least, most] = std::minmax_element(pixels.as<float>(), pixels.as<float>() + wide * high);
      facts.drawn = {std::min(facts.drawn.first, double{*least}), std::max(facts.drawn.second, double{*most})};
    }
  if (facts.drawn.first == facts.drawn.second) facts.drawn.second += 1;
  return facts;
}

TableOnDisk::TableOnDisk(const std::filesystem::path& path, std::uint64_t memory, int threads)
    : TableOnDisk(ChunkedTable(path), {.threads = threads, .memory = memory}) {}

TableOnDisk::TableOnDisk(ChunkedTable table, const ChunkedReadOptions& options)
    : Scene(facts_of(table, options)), table_(std::move(table)), options_(options) {}

Answer TableOnDisk::answer(std::size_t, const Region& asked, bool) const {
  const Region region = checked_region(asked, 0, width(), height());
  const std::uint64_t sum = table_.sums(Span<const Region>(&region, 1), options_).front();
  Answer answer;
  Moments& m = answer.moments;
  m.pixels = region.width * region.height;
  m.sum = std::to_string(sum);
  m.mean = m.pixels == 0 ? not_a_number
                         : static_cast<double>(static_cast<long double>(sum) / static_cast<long double>(m.pixels));
  m.deviation = not_a_number;
  m.least = m.most = not_a_number;
  answer.percentiles.fill(not_a_number);
  return answer;
}

void TableOnDisk::with_pixels(std::size_t, std::size_t, std::size_t level, const Region& region,
                              const std::function<void(std::size_t, const ConstView&)>& take) const {
  const Array pixels = means(table_, options_, level, region);
  take(0, pixels.view());
}

}  // namespace areal::view
