// StripSums: a strip's own table, whose sums begin at its first row; at an event, what it has between the region's
// columns and what all strips above have there. Small integers on the host go by panels instead.

#include <areal/error.hpp>
#include <areal/table.hpp>
#include <cmath>
#include <limits>
#include "api/core/require.hpp"
#include "api/core/view_check.hpp"
#include "formulas/variance.hpp"
#include "strips/non_finite.hpp"
#include "strips/panel_sums.hpp"
#include "strips/push_state.hpp"
#include "strips/region_events.hpp"
#include "strips/sat_work.hpp"

namespace areal {
namespace strips {
namespace {

constexpr std::size_t events_at_once = 16384;
constexpr std::int64_t least_rows = 16;  // of a strip that is summed in 32 bits: below, its overhead takes more

/// Sums modulo 2^64, or in 64f.
struct Sums {
  std::vector<std::uint64_t> integer;
  std::vector<double> real;

  Sums() = default;
  Sums(bool is_real, std::size_t n) : integer(is_real ? 0 : n), real(is_real ? n : 0) {}
};

/// One of the two tables.
struct Summed {
  Type table;
  Sums above;    ///< of each channel W + 1: all strips above, from column 0 on
  Sums answers;  ///< regions x channels
};

/// f(values) of a typed row.
template <class F>
void with_values(Type type, const void* row, const F& f) {
  switch (type) {
    case Type::u32:
      return f(static_cast<const std::uint32_t*>(row));
    case Type::s32:
      return f(static_cast<const std::int32_t*>(row));
    case Type::s64:
      return f(static_cast<const std::int64_t*>(row));
    case Type::u64:
      return f(static_cast<const std::uint64_t*>(row));
    default:
      return f(static_cast<const double*>(row));
  }
}

void add_row(const void* row, Type type, std::size_t first, std::size_t n, Sums& above) {
  with_values(type, row, [&](const auto* values) {
    if constexpr (std::is_same_v<decltype(values), const double*>)
      for (std::size_t i = 0; i < n; ++i) above.real[first + i] += values[i];
    else
      for (std::size_t i = 0; i < n; ++i) above.integer[first + i] += static_cast<std::uint64_t>(values[i]);
  });
}

Type sums_type(Type input, bool narrow) {
  if (is_float(input)) return Type::f64;
  if (is_signed_integer(input)) return narrow ? Type::s32 : Type::s64;
  return narrow ? Type::u32 : Type::u64;
}

class ByPanels final : public StripPlan {
 public:
  explicit ByPanels(PanelSums& panels) : panels_(panels) {}
  void execute(const std::vector<ConstView>& inputs, const std::vector<View>&, const std::vector<ConstView>&) override {
    panels_.add(inputs[0]);
  }

 private:
  PanelSums& panels_;
};

}  // namespace
}  // namespace strips

struct StripSums::State {
  Shape image;
  Type type;
  StripOptions options;
  strips::RegionEvents events;
  strips::StripWork work;
  std::int64_t height = 0;
  std::uint64_t bytes = 0;
  std::vector<strips::Summed> tables;
  std::unique_ptr<strips::PanelSums> panels;  // then there are no tables
  std::size_t next = 0;                       // event
  bool done = false;
  std::optional<strips::PushState> pushed;
  std::optional<strips::NonFinite> non_finite;  // of floats
  // Of some events.
  std::vector<Region> local;
  std::vector<std::uint64_t> integers;
  std::vector<std::int64_t> signed_integers;
  std::vector<double> reals;

  State(const Shape& shape, Type of, Span<const Region> regions, const StripSumsOptions& sums_options,
        const StripOptions& strip_options)
      : image(shape),
        type(of),
        options(strip_options),
        events(regions, shape.width, shape.height, sums_options.outside) {
    choose(sums_options.squares);
    if (is_float(type))
      non_finite.emplace(image, type, std::vector<Region>(events.regions().begin(), events.regions().end()));
    if (panels) return;
    const auto answers = regions.size() * static_cast<std::size_t>(image.channels);
    const auto columns = static_cast<std::size_t>((image.width + 1) * image.channels);
    for (const strips::RowType& table : work.tables) {
      const bool real = is_float(table.type);
      tables.push_back({table.type, strips::Sums(real, columns), strips::Sums(real, answers)});
    }
  }

  // On the host no more than stays in a cache: no table leaves.
  std::int64_t chosen_height() const {
    if (work.on_cuda() || options.memory == 0 || options.height > 0) return strips::strip_height(work, options);
    StripOptions limited = options;
    limited.memory = std::min(options.memory, strips::default_limit(work, options.tile_height));
    return std::min(strips::strip_height(work, limited), strips::default_most_rows(image.height));
  }

  // 32 bits where the strip's sums fit them and strips are not too flat, else 64.
  void choose(bool squares) {
    const auto work_of = [&](Type table) {
      SatOptions sat{.border = Border::zero, .types = TypePair{type, table}};
      if (squares) sat.squares = Squares::automatic;
      strips::StripWork made = strips::sat_work(image, type, sat, options.execution);
      made.carried = false, made.table_buffers = 1;
      return made;
    };
    if (!squares && strips::PanelSums::takes(image, type)) {
      work = work_of(strips::sums_type(type, true));  // what it refuses, and its backend
      if (work.execution.backend == Backend::cpu) return by_panels();
    }
    if (!is_float(type) && size_of(type) <= 2) {
      const TypePair narrow{type, strips::sums_type(type, true)};
      const std::int64_t fit = largest_safe_region(narrow) / std::max<std::int64_t>(1, image.width);
      const std::int64_t wanted = options.height > 0 ? options.height : strips::least_rows;
      if (fit >= std::min(wanted, std::max<std::int64_t>(1, image.height))) {
        work = work_of(narrow.table);
        height = std::min(chosen_height(), fit);
        bytes = strips::strip_bytes(work, height, options.tile_height)->computing;
        return;
      }
    }
    work = work_of(strips::sums_type(type, false));
    height = chosen_height();
    bytes = strips::strip_bytes(work, height, options.tile_height)->computing;
  }

  void by_panels() {
    panels = std::make_unique<strips::PanelSums>(image, type, work.execution.threads, events);
    work.tables.clear();
    work.workspace_bytes = [this](std::int64_t rows) { return panels->workspace_bytes(rows); };
    work.plan = [this](std::int64_t, Stream) { return std::make_unique<strips::ByPanels>(*panels); };
    // Of 16, 32, 64 and 128 MiB the fastest, and as fast for every width: threads meet less often, and L3 holds it.
    work.default_memory = std::uint64_t{32} << 20;
    height = chosen_height();
    const std::int64_t rows = panels->panel().rows;
    if (options.height == 0 && height > rows) height -= height % rows;
    bytes = strips::strip_bytes(work, height, options.tile_height)->computing;
  }

  void restart() {
    next = 0, done = false;
    if (non_finite) non_finite->restart();
    if (panels) panels->restart();
    for (strips::Summed& table : tables)
      for (strips::Sums* sums : {&table.above, &table.answers}) {
        std::fill(sums->integer.begin(), sums->integer.end(), 0);
        std::fill(sums->real.begin(), sums->real.end(), 0.0);
      }
  }

  strips::StripUse use() {
    strips::StripUse use;
    use.computed = [this](const strips::Strip& strip, strips::StripSlots& buffers) { computed(strip, buffers); };
    if (non_finite)
      use.filled = [this](const strips::Strip& strip, const View& pixels) { non_finite->take(strip.y, pixels); };
    return use;
  }
  void finished() {
    if (non_finite) non_finite->finish();
    done = true;
  }

  void computed(const strips::Strip& strip, strips::StripSlots& buffers) {
    if (panels) return;
    const std::int64_t end = strip.y + strip.rows;
    while (next < events.size() && events[next].row <= end) {
      std::size_t last = next;
      local.clear();
      for (; last < events.size() && local.size() < strips::events_at_once; ++last) {
        const auto event = events[last];
        if (event.row > end) break;
        const Region& region = events.regions()[static_cast<std::size_t>(event.region)];
        local.push_back({region.x, 0, region.width, event.row - strip.y});
      }
      for (std::size_t t = 0; t < tables.size(); ++t)
        pick(tables[t], buffers.table(strip.slot(), t, strip.rows), last, buffers);
      next = last;
    }
    if (next == events.size() || strip.rows == 0) return;  // nobody asks what is above
    const std::vector<ConstView> rows = buffers.last_rows(strip.slot(), strip.rows);
    const auto columns = static_cast<std::size_t>(image.width + 1);
    for (std::size_t t = 0; t < tables.size(); ++t)
      for (std::int64_t c = 0; c < image.channels; ++c)
        strips::add_row(rows[t].row(0, c), rows[t].type, static_cast<std::size_t>(c) * columns, columns,
                        tables[t].above);
  }

  // The events from `next` to `last`, of one table.
  void pick(strips::Summed& table, const ConstView& view, std::size_t last, const strips::StripSlots& buffers) {
    const SatView strip(TableView(view, Border::zero));
    const auto channels = static_cast<std::size_t>(image.channels);
    const std::size_t n = local.size() * channels;
    QueryOptions query;
    query.execution = work.execution;
    if (work.on_cuda()) query.execution.stream = buffers.stream();
    if (is_float(table.table)) {
      reals.resize(n);
      region_sums(strip, local, Span<double>(reals), query);
      add(last, table.above.real, table.answers.real, reals);
    } else if (is_signed_integer(table.table)) {
      signed_integers.resize(n);
      signed_region_sums(strip, local, Span<std::int64_t>(signed_integers), query);
      add(last, table.above.integer, table.answers.integer, signed_integers);
    } else {
      integers.resize(n);
      region_sums(strip, local, Span<std::uint64_t>(integers), query);
      add(last, table.above.integer, table.answers.integer, integers);
    }
  }
  template <class T, class Local>
  void add(std::size_t last, const std::vector<T>& above, std::vector<T>& answers, const std::vector<Local>& of_strip) {
    const auto channels = static_cast<std::size_t>(image.channels), columns = static_cast<std::size_t>(image.width + 1);
    for (std::size_t i = next, from = 0; i < last; ++i) {
      const auto event = events[i];
      const auto index = static_cast<std::size_t>(event.region);
      const Region& region = events.regions()[index];
      const auto x = static_cast<std::size_t>(region.x), width = static_cast<std::size_t>(region.width);
      for (std::size_t c = 0; c < channels; ++c, ++from) {
        const T* const row = above.data() + c * columns;
        const T sum = static_cast<T>(of_strip[from]) + (row[x + width] - row[x]);
        T& answer = answers[index * channels + c];
        answer = event.adds ? answer + sum : answer - sum;
      }
    }
  }

  void require_answered(std::size_t t) const {
    require(done, "the image has not passed: run, or begin, push and finish, come before answers");
    require(t < (panels ? 1 : tables.size()), "squares were not asked for: StripSumsOptions has them");
  }
  bool is_real(std::size_t t) const { return !panels && is_float(tables[t].table); }
  const std::vector<std::uint64_t>& integer_answers(std::size_t t) const {
    return panels ? panels->answers() : tables[t].answers.integer;
  }
  void require_room(std::size_t n) const {
    const std::size_t all = events.regions().size() * static_cast<std::size_t>(image.channels);
    require(n == all, "output of ", n, " elements: ", events.regions().size(), " regions of ", image.channels,
            " channels need ", all);
  }
  double pixels(std::size_t answer) const {
    const Region& region = events.regions()[answer / static_cast<std::size_t>(image.channels)];
    return static_cast<double>(region.width) * static_cast<double>(region.height);
  }
  void write(std::size_t t, Span<double> out) const {
    require_answered(t);
    require_room(out.size());
    if (is_real(t)) {
      const std::vector<double>& sums = tables[t].answers.real;
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = !non_finite ? sums[i] : t == 0 ? non_finite->sum(i, sums[i]) : non_finite->squares(i, sums[i]);
      return;
    }
    const bool is_signed = t == 0 && is_signed_integer(type);
    const std::vector<std::uint64_t>& sums = integer_answers(t);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = is_signed ? static_cast<double>(static_cast<std::int64_t>(sums[i])) : static_cast<double>(sums[i]);
  }
  template <class T>
  void write_integers(std::size_t t, Span<T> out) const {
    require_answered(t);
    require_room(out.size());
    const bool is_signed = t == 0 && is_signed_integer(type);
    const char* const what = t == 0 ? "sums" : "squares";
    require(!is_real(t), what, " of ", name_of(type), " pixels are 64f: request them as double");
    require(is_signed == std::is_signed_v<T>, what, " of ", name_of(type), " pixels are ", is_signed ? "64s" : "64u",
            ", not ", is_signed ? "64u" : "64s");
    const std::vector<std::uint64_t>& sums = integer_answers(t);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(sums[i]);
  }
  double variance(std::size_t i) const {
    const strips::Sums &s1 = tables[0].answers, &s2 = tables[1].answers;
    const Region& region = events.regions()[i / static_cast<std::size_t>(image.channels)];
    if (non_finite && non_finite->in(i)) return formulas::not_a_number();
    if (is_float(type)) return formulas::variance(s1.real[i], s2.real[i], pixels(i));
    const auto n = static_cast<std::uint64_t>(region.width) * static_cast<std::uint64_t>(region.height);
    const bool negative = is_signed_integer(type) && static_cast<std::int64_t>(s1.integer[i]) < 0;
    const std::uint64_t magnitude = negative ? 0 - s1.integer[i] : s1.integer[i];
    return is_real(1) ? formulas::variance(magnitude, s2.real[i], n) : formulas::variance(magnitude, s2.integer[i], n);
  }
};

StripSums::StripSums(const Shape& image, Type type, Span<const Region> regions, const StripSumsOptions& options,
                     const StripOptions& strips) {
  check_shape("image", image, type);
  require(image.batch == 1, "image of batch ", image.batch, ": sums by strips are of one image");
  state_ = std::make_unique<State>(image, type, regions, options, strips);
}
StripSums::~StripSums() = default;
StripSums::StripSums(StripSums&&) noexcept = default;
StripSums& StripSums::operator=(StripSums&&) noexcept = default;

void StripSums::run(const ImageReader& read) {
  State& s = *state_;
  require(static_cast<bool>(read), "read: there is none");
  s.pushed.reset();
  s.restart();
  strips::run_strips(s.work, s.height, {read}, s.use(), strips::told(s.options.progress, s.image.height));
  s.finished();
}
void StripSums::begin() {
  State& s = *state_;
  s.pushed.reset();
  s.restart();
  s.pushed.emplace(s.work, s.image, s.height, "mask", s.options, s.use(),
                   strips::told(s.options.progress, s.image.height));
}
void StripSums::push(std::int64_t x, std::int64_t y, const ConstView& block) {
  strips::begun(state_->pushed).push(x, y, block, {});
}
void StripSums::finish() {
  strips::begun(state_->pushed).finish();
  state_->finished();
}

void StripSums::sums(Span<double> out) const { state_->write(0, out); }
void StripSums::sums(Span<std::uint64_t> out) const { state_->write_integers(0, out); }
void StripSums::sums(Span<std::int64_t> out) const { state_->write_integers(0, out); }
void StripSums::squares(Span<double> out) const { state_->write(1, out); }
void StripSums::squares(Span<std::uint64_t> out) const { state_->write_integers(1, out); }
void StripSums::squares(Span<std::int64_t> out) const { state_->write_integers(1, out); }

std::vector<double> StripSums::means() const {
  std::vector<double> out(answers());
  state_->write(0, Span<double>(out));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double pixels = state_->pixels(i);
    out[i] = pixels > 0 ? out[i] / pixels : formulas::not_a_number();
  }
  return out;
}
std::vector<double> StripSums::variances() const {
  state_->require_answered(1);
  std::vector<double> out(answers());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = state_->variance(i);
  return out;
}
std::vector<double> StripSums::standard_deviations() const {
  std::vector<double> out = variances();
  for (double& value : out) value = std::sqrt(value);
  return out;
}
std::size_t StripSums::answers() const noexcept {
  return state_->events.regions().size() * static_cast<std::size_t>(state_->image.channels);
}
std::int64_t StripSums::strip_height() const noexcept { return state_->height; }
std::uint64_t StripSums::memory_bytes() const noexcept { return state_->bytes; }
Backend StripSums::backend() const noexcept { return state_->work.execution.backend; }

}  // namespace areal
