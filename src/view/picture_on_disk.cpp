#include "view/picture_on_disk.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include "view/element.hpp"

namespace areal::view {
namespace {

constexpr std::int64_t most_decoded = std::int64_t{1} << 16;    // pixels that are decoded during a drag
constexpr std::int64_t sample_side = 256, samples_along = 6;    // blocks of the sample
constexpr std::int64_t unit = 64;                               // blocks of the survey begin at multiples of it
constexpr std::size_t first_reduced = 3, most_file_levels = 3;  // halvings

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

Shape planes_shape(std::int64_t width, std::int64_t height, std::size_t channels) {
  return {width, height, static_cast<std::int64_t>(channels), 1, Layout::planar};
}

/// out(x, y) = the mean of the pixels of square (x, y), 2^level on a side, without NaN. O(H W).
void shrink(const ConstView& from, std::size_t level, const View& out) {
  const std::int64_t side = std::int64_t{1} << level;
  with_type(from.type, [&]<class T>(T*) {
    constexpr bool is_bytes = std::is_same_v<T, std::uint8_t>;
    using Sum = std::conditional_t<is_bytes, std::int64_t, double>;
    std::vector<Sum> sums(static_cast<std::size_t>(out.shape.width));
    std::vector<std::int64_t> counts(sums.size());
    for (std::int64_t y = 0; y < out.shape.height; ++y) {
      std::fill(sums.begin(), sums.end(), Sum{0});
      std::fill(counts.begin(), counts.end(), 0);
      for (std::int64_t v = y * side; v < std::min((y + 1) * side, from.shape.height); ++v) {
        const void* row = from.row(v);
        for (std::int64_t x = 0; x < out.shape.width; ++x) {
          const auto i = static_cast<std::size_t>(x);
          const std::int64_t end = std::min((x + 1) * side, from.shape.width);
          for (std::int64_t u = x * side; u < end; ++u) {
            const auto value = static_cast<Sum>(element<T>(row, u));
            if constexpr (!is_bytes)
              if (std::isnan(value)) continue;
            sums[i] += value;
            ++counts[i];
          }
        }
      }
      for (std::int64_t x = 0; x < out.shape.width; ++x) {
        const auto i = static_cast<std::size_t>(x);
        if constexpr (is_bytes)
          static_cast<std::uint8_t*>(out.row(y))[x] =
              static_cast<std::uint8_t>((sums[i] + counts[i] / 2) / std::max<std::int64_t>(1, counts[i]));
        else
          static_cast<float*>(out.row(y))[x] = counts[i] == 0
                                                   ? std::numeric_limits<float>::quiet_NaN()
                                                   : static_cast<float>(sums[i] / static_cast<double>(counts[i]));
      }
    }
  });
}

Type drawn_type(Type type) { return type == Type::u8 ? Type::u8 : Type::f32; }

View part_of(View image, const Region& region) {
  image.data = static_cast<char*>(image.row(region.y)) + region.x * image.column_pitch();
  image.shape.width = region.width, image.shape.height = region.height;
  return image;
}

/// Blocks spread over the picture, one below another in a single array.
Array sample_of(const PictureSource& source) {
  const PictureLevel& full = source.levels.front();
  const std::int64_t wide = std::min(sample_side, full.extent.width), high = std::min(sample_side, full.extent.height);
  const std::int64_t across = full.extent.width <= wide ? 1 : samples_along,
                     along = full.extent.height <= high ? 1 : samples_along;
  Array sample(planes_shape(wide, high * across * along, source.names.size()), source.type);
  std::int64_t row = 0;
  for (std::int64_t i = 0; i < along; ++i)
    for (std::int64_t j = 0; j < across; ++j, row += high) {
      const std::int64_t x = across == 1 ? 0 : (full.extent.width - wide) * j / (across - 1);
      const std::int64_t y = along == 1 ? 0 : (full.extent.height - high) * i / (along - 1);
      full.read(x, y, part_of(sample.view(), {0, row, wide, high}));
    }
  return sample;
}

}  // namespace

PictureOnDisk::Facts PictureOnDisk::facts_of(const PictureSource& source, const PictureOnDiskOptions& options,
                                             const Array& sample) {
  Facts facts;
  facts.full = source.levels.front().extent;
  facts.type = source.type;
  facts.names = source.names;
  facts.has_colour = source.has_colour;
  facts.bins = options.bins;
  std::vector<ConstView> channels;
  for (std::int64_t c = 0; c < sample.shape().channels; ++c) channels.push_back(plane(sample.view(), c));
  facts.range = options.range ? *options.range : default_range(channels);
  facts.most_drawn = std::int64_t{1} << 22;
  facts.drawn = facts.type == Type::u8 ? std::pair(0.0, 255.0) : facts.range;
  return facts;
}

PictureOnDisk::PictureOnDisk(PictureSource source, const PictureOnDiskOptions& options)
    : PictureOnDisk(std::move(source), options, Array()) {}

PictureOnDisk::PictureOnDisk(PictureSource source, const PictureOnDiskOptions& options, Array sample)
    : Scene(facts_of(source, options, sample = sample_of(source))), source_(std::move(source)), options_(options) {
  // A level of the file is drawn if it halves the picture as the scene's levels do, but for rounding.
  for (std::size_t i = 0; i < source_.levels.size(); ++i) {
    const Extent& own = source_.levels[i].extent;
    const auto at = std::find_if(levels().begin(), levels().end(), [&](const Extent& level) {
      return std::abs(level.width - own.width) <= 1 && std::abs(level.height - own.height) <= 1;
    });
    level_shifts_.push_back(static_cast<std::size_t>(at - levels().begin()));
  }
  const std::uint64_t share = options_.memory / 8;
  const auto reduced_bytes = [&](std::size_t level) {
    return bytes_of(planes_shape(levels()[level].width, levels()[level].height, channels()), drawn_type(type())) * 4 /
           3;
  };
  reduced_level_ = std::min(first_reduced, levels().size() - 1);
  while (reduced_level_ + 1 < levels().size() && reduced_bytes(reduced_level_) > share) ++reduced_level_;
  const Extent &full = levels().front(), &small = levels()[reduced_level_];
  const std::uint64_t for_grids = options_.memory / 4;
  const std::int64_t side = Grid::side_for(full, type(), bins(), for_grids / channels());
  const std::uint64_t needed =
      channels() * Grid::bytes(full, type(), bins(), side) + reduced_bytes(reduced_level_) +
      3 * bytes_of(planes_shape(survey_block().width, survey_block().height, channels()), type());
  if (needed > options_.memory)
    throw OutOfMemory("a picture of " + std::to_string(full.width) + "x" + std::to_string(full.height) + " needs " +
                          std::to_string((needed >> 20) + 1) + " MiB to view, more than the " +
                          std::to_string(options_.memory >> 20) + " MiB that it may take",
                      needed);
  reduced_ = Array(planes_shape(small.width, small.height, channels()), drawn_type(type()));
  std::memset(reduced_.data(), 0, reduced_.bytes());
  for (std::size_t c = 0; c < channels(); ++c)
    grids_.push_back(
        Grid::make(full, bins(), range(), side, plane(std::as_const(sample).view(), static_cast<std::int64_t>(c))));
  surveyed_.of = full.height;
  surveyor_ = std::thread([this] { survey(); });
}

PictureOnDisk::~PictureOnDisk() { stop_survey(); }

void PictureOnDisk::stop_survey() {
  {
    const std::lock_guard held(lock_);
    ends_ = true;
  }
  turn_.notify_all();
  if (surveyor_.joinable()) surveyor_.join();
}

void PictureOnDisk::range_changed() {
  stop_survey();
  const bool keeps = surveyed_.rows == surveyed_.of && size_of(type()) == 1;  // bytes are counted by value
  for (const auto& grid : grids_) {
    grid->set_range(range());
    if (!keeps) grid->forget();
  }
  if (keeps) return;
  {
    const std::lock_guard held(lock_);
    ends_ = false;
    surveyed_.rows = 0, surveyed_.problem.clear();
    if (on_survey_) on_survey_();
  }
  surveyor_ = std::thread([this] { survey(); });
}

Surveyed PictureOnDisk::surveyed() const {
  const std::lock_guard held(lock_);
  return surveyed_;
}

void PictureOnDisk::on_survey(std::function<void()> call) {
  const std::lock_guard held(lock_);
  on_survey_ = std::move(call);
}

// ---------------------------------------------------------------- the survey

Extent PictureOnDisk::survey_block() const {
  const PictureLevel& full = source_.levels.front();
  const std::int64_t multiple = std::max(unit, std::int64_t{1} << reduced_level_);
  // 1 to 8 MiB of planes: an answer waits for one block at most.
  const auto most = static_cast<std::int64_t>(
      std::clamp<std::uint64_t>(options_.memory / 64, std::uint64_t{1} << 20, std::uint64_t{8} << 20) /
      (channels() * size_of(type())));
  // Whole blocks of the file if they begin at such multiples; otherwise the reader's cache holds those that are cut.
  const auto aligned = [&](std::int64_t block, std::int64_t extent) {
    return block >= extent ? rounded_up(extent, multiple) : block % multiple == 0 ? block : multiple;
  };
  Extent block{aligned(full.block.width, full.extent.width), aligned(full.block.height, full.extent.height)};
  if (block.height >= full.extent.height || block.width * block.height > most) block.height = multiple;
  if (block.width * block.height > most) block.width = std::max(multiple, most / block.height / multiple * multiple);
  // Several blocks of the file side by side.
  block.width *= std::max<std::int64_t>(
      1, std::min(most / (block.width * block.height), (full.extent.width + block.width - 1) / block.width));
  return {std::min(block.width, full.extent.width), std::min(block.height, full.extent.height)};
}

bool PictureOnDisk::my_turn() {
  std::unique_lock held(lock_);
  turn_.wait(held, [&] { return ends_ || answering_ == 0; });
  return !ends_;
}

void PictureOnDisk::passed(std::int64_t rows) {
  for (const auto& grid : grids_) grid->complete(rows);
  const std::lock_guard held(lock_);
  const auto hundredths = [&](std::int64_t done) { return 100 * done / surveyed_.of; };
  const bool is_news = rows == surveyed_.of || hundredths(rows) / 4 != hundredths(surveyed_.rows) / 4;
  surveyed_.rows = rows;
  if (is_news && on_survey_) on_survey_();
}

void PictureOnDisk::survey() {
  // Half of the processors remain for answers.
  const int threads =
      options_.threads != 0 ? options_.threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency() / 2));
  const bool reduces = !complete_;  // an earlier survey has not made the reduced picture
  std::string problem;
  try {
    const Extent block = survey_block();
    Array planes(planes_shape(block.width, block.height, channels()), type());
    for (std::int64_t y = 0; y < height(); y += block.height) {
      const std::int64_t high = std::min(block.height, height() - y);
      for (std::int64_t x = 0; x < width(); x += block.width) {
        if (!my_turn()) return;
        const std::int64_t wide = std::min(block.width, width() - x);
        const View part = part_of(planes.view(), {0, 0, wide, high});
        source_.survey(x, y, part);
        const Extent& small = levels()[reduced_level_];
        const std::int64_t left = x >> reduced_level_, top = y >> reduced_level_;
        const Region into{
            left, top,
            std::min(rounded_up(wide, std::int64_t{1} << reduced_level_) >> reduced_level_, small.width - left),
            std::min(rounded_up(high, std::int64_t{1} << reduced_level_) >> reduced_level_, small.height - top)};
        for (std::size_t c = 0; c < channels(); ++c) {
          const ConstView pixels = plane(ConstView(part), static_cast<std::int64_t>(c));
          grids_[c]->add(x, y, pixels, threads);
          if (!reduces) continue;
          const std::lock_guard held(reduced_lock_);
          shrink(pixels, reduced_level_, part_of(plane(reduced_.view(), static_cast<std::int64_t>(c)), into));
        }
      }
      if (y + high < height()) passed(y + high);
    }
    if (reduces) {
      pyramids_.clear();
      for (std::size_t c = 0; c < channels(); ++c)
        pyramids_.push_back(
            std::make_unique<Pyramid>(plane(std::as_const(reduced_).view(), static_cast<std::int64_t>(c))));
      complete_.store(true, std::memory_order_release);
    }
    return passed(height());
  } catch (const Error& error) {
    problem = error.what();
  } catch (const std::bad_alloc&) {
    problem = "no memory was left to survey the picture";
  }
  const std::lock_guard held(lock_);
  surveyed_.problem = std::move(problem);
  if (on_survey_) on_survey_();
}

// ---------------------------------------------------------------- answers

namespace {

/// Makes the survey wait.
class Turn {
 public:
  Turn(std::mutex& lock, std::condition_variable& turn, int& answering)
      : lock_(lock), turn_(turn), answering_(answering) {
    const std::lock_guard held(lock_);
    ++answering_;
  }
  ~Turn() {
    {
      const std::lock_guard held(lock_);
      --answering_;
    }
    turn_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::mutex& lock_;
  std::condition_variable& turn_;
  int& answering_;
};

std::int64_t area(const Region& region) { return region.width * region.height; }

}  // namespace

void PictureOnDisk::each_block(std::size_t channel, const Region& region, const Grid::Pixels& take) const {
  const PictureLevel& full = source_.levels.front();
  // Blocks of the file, or parts of them, of a mebibyte or so.
  const auto most = static_cast<std::int64_t>((std::size_t{1} << 20) / (channels() * size_of(type())));
  const std::int64_t wide = std::min({full.block.width, full.extent.width, most});
  const std::int64_t high = std::clamp<std::int64_t>(most / wide, 1, std::max<std::int64_t>(1, full.block.height));
  const std::lock_guard held(reading_);
  Array planes(planes_shape(std::min(wide, region.width), std::min(high, region.height), channels()), type());
  const std::int64_t right = region.x + region.width, bottom = region.y + region.height;
  for (std::int64_t y = region.y, next = 0; y < bottom; y = next) {
    next = std::min(bottom, (y / high + 1) * high);
    for (std::int64_t x = region.x, end = 0; x < right; x = end) {
      end = std::min(right, (x / wide + 1) * wide);
      const View part = part_of(planes.view(), {0, 0, end - x, next - y});
      full.read(x, y, part);
      take(plane(ConstView(part), static_cast<std::int64_t>(channel)));
    }
  }
}

Answer PictureOnDisk::answer(std::size_t channel, const Region& asked, bool final) const {
  const Region region = checked_region(asked, 0, width(), height());
  const Turn turn(lock_, turn_, answering_);
  const Grid& grid = *grids_.at(channel);
  const std::int64_t side = grid.side(), rows = grid.rows(), columns = (width() + side - 1) / side;
  const auto within = [&](const Region& r) {
    const std::int64_t right = r.x + r.width, bottom = r.y + r.height;
    CellRange cells{(r.x + side - 1) / side, (r.y + side - 1) / side, right == width() ? columns : right / side,
                    std::min(rows, bottom == height() ? (bottom + side - 1) / side : bottom / side)};
    return cells.empty() ? CellRange() : cells;
  };
  const auto region_of = [&](const CellRange& cells) {
    const std::int64_t x = cells.left * side, y = cells.top * side;
    return Region{x, y, std::min(width(), cells.right * side) - x, std::min(height(), cells.bottom * side) - y};
  };
  CellRange cells = within(region);
  Region inner = region_of(cells);
  const std::int64_t rest = area(region) - area(inner);
  const bool is_surveyed = region.y + region.height <= std::min(height(), rows * side);
  Answer::Standing standing = Answer::Standing::exact;
  if (!is_surveyed && rest > (source_.decodes && !final ? most_counted_in_drag : most_counted)) {
    Answer pending = grid.answer({}, [](const Grid::Pixels&) {});
    pending.standing = Answer::Standing::pending;
    return pending;
  }
  if (is_surveyed && source_.decodes && !final && rest > most_decoded) {
    const auto near = [&](std::int64_t at) { return (at + side / 2) / side; };
    CellRange rounded{near(region.x), near(region.y), near(region.x + region.width), near(region.y + region.height)};
    rounded.left = std::min(rounded.left, columns - 1), rounded.top = std::min(rounded.top, rows - 1);
    rounded.right = std::clamp(rounded.right, rounded.left + 1, columns);
    rounded.bottom = std::clamp(rounded.bottom, rounded.top + 1, rows);
    cells = rounded, inner = region_of(cells);
    standing = Answer::Standing::rounded;
  }
  Answer answer = grid.answer(cells, [&](const Grid::Pixels& take) {
    if (standing == Answer::Standing::rounded) return;
    const auto add = [&](std::int64_t left, std::int64_t top, std::int64_t right, std::int64_t bottom) {
      if (left < right && top < bottom) each_block(channel, {left, top, right - left, bottom - top}, take);
    };
    const std::int64_t right = region.x + region.width, bottom = region.y + region.height;
    if (area(inner) == 0) return add(region.x, region.y, right, bottom);
    const std::int64_t inner_right = inner.x + inner.width, inner_bottom = inner.y + inner.height;
    add(region.x, region.y, right, inner.y);
    add(region.x, inner.y, inner.x, inner_bottom);
    add(inner_right, inner.y, right, inner_bottom);
    add(region.x, inner_bottom, right, bottom);
  });
  answer.standing = standing;
  answer.box = inner;
  return answer;
}

// ---------------------------------------------------------------- tiles

void PictureOnDisk::with_pixels(std::size_t first, std::size_t count, std::size_t level, const Region& region,
                                const std::function<void(std::size_t, const ConstView&)>& take) const {
  const Turn turn(lock_, turn_, answering_);
  if (level >= reduced_level_ && complete_.load(std::memory_order_acquire)) {
    for (std::size_t i = 0; i < count; ++i)
      take(i, part_of(pyramids_[first + i]->level(level - reduced_level_), region));
    return;
  }
  std::size_t nearest = 0;
  for (const std::size_t shift : level_shifts_)
    if (shift <= level) nearest = std::max(nearest, shift);
  if (level < reduced_level_ || level - nearest <= most_file_levels)
    return with_file_pixels(first, count, level, region, take);
  // What the survey has passed, reduced further; the rest is black.
  const std::size_t further = level - reduced_level_;
  const Extent& small = levels()[reduced_level_];
  Region from{region.x << further, region.y << further, region.width << further, region.height << further};
  from.width = std::min(from.width, small.width - from.x), from.height = std::min(from.height, small.height - from.y);
  Array out(Shape{region.width, region.height}, drawn_type(type()));
  for (std::size_t i = 0; i < count; ++i) {
    const ConstView pixels = plane(std::as_const(reduced_).view(), static_cast<std::int64_t>(first + i));
    {
      const std::lock_guard held(reduced_lock_);
      shrink(view::part_of(pixels, from), further, out.view());
    }
    take(i, std::as_const(out).view());
  }
}

void PictureOnDisk::with_file_pixels(std::size_t first, std::size_t count, std::size_t level, const Region& region,
                                     const std::function<void(std::size_t, const ConstView&)>& take) const {
  std::size_t number = 0;
  for (std::size_t i = 0; i < level_shifts_.size(); ++i)
    if (level_shifts_[i] <= level && level_shifts_[i] >= level_shifts_[number]) number = i;
  const PictureLevel& source = source_.levels[number];
  const std::size_t further = level - level_shifts_[number];
  const Type to = further == 0 ? type() : drawn_type(type());
  Array out(planes_shape(region.width, region.height, count), to);
  // The file's own level may lack the last column or row.
  const auto clipped = [&](std::int64_t from, std::int64_t extent, std::int64_t whole) {
    return std::max<std::int64_t>(0, std::min(extent, whole - from));
  };
  const std::int64_t left = region.x << further;
  const std::int64_t wide = clipped(left, region.width << further, source.extent.width);
  const auto most = static_cast<std::int64_t>((std::size_t{8} << 20) / (channels() * size_of(type())));
  const std::int64_t rows_at_once =
      std::clamp<std::int64_t>((most / std::max<std::int64_t>(1, wide)) >> further, 1, region.height);
  std::memset(out.data(), 0, out.bytes());
  const std::lock_guard held(reading_);
  Array planes(planes_shape(wide, rows_at_once << further, channels()), type());
  for (std::int64_t y = 0; y < region.height; y += rows_at_once) {
    const std::int64_t rows = std::min(rows_at_once, region.height - y), top = (region.y + y) << further;
    const std::int64_t high = clipped(top, rows << further, source.extent.height);
    if (wide == 0 || high == 0) break;
    const View part = part_of(planes.view(), {0, 0, wide, high});
    source.read(left, top, part);
    const std::int64_t out_wide = ((wide - 1) >> further) + 1, out_high = ((high - 1) >> further) + 1;
    for (std::size_t i = 0; i < count; ++i) {
      const ConstView pixels = plane(ConstView(part), static_cast<std::int64_t>(first + i));
      const View into = part_of(plane(out.view(), static_cast<std::int64_t>(i)), {0, y, out_wide, out_high});
      if (further > 0) {
        shrink(pixels, further, into);
        continue;
      }
      for (std::int64_t row = 0; row < high; ++row)
        std::memcpy(into.row(row), pixels.row(row), static_cast<std::size_t>(wide) * size_of(type()));
    }
  }
  for (std::size_t i = 0; i < count; ++i) take(i, plane(std::as_const(out).view(), static_cast<std::int64_t>(i)));
}

}  // namespace areal::view
