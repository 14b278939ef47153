// Doors of several workers: tables and tensors tile by tile, tables over devices, sequences of frames.

#include <algorithm>
#include <areal/sequence.hpp>
#include <areal/spread.hpp>
#include <areal/tiled.hpp>
#include <array>

#include "door.hpp"
#include "histograms.hpp"
#include "strips.hpp"
#include "tables.hpp"

namespace doors {
namespace {

/// How often each entry was given out.
class Cover {
 public:
  Cover(std::int64_t width, std::int64_t height) : width_(width), times_(static_cast<std::size_t>(width * height)) {}
  void add(std::int64_t x, std::int64_t y, const areal::Shape& piece) {
    for (std::int64_t row = y; row < y + piece.height; ++row)
      for (std::int64_t column = x; column < x + piece.width; ++column)
        ++times_.at(static_cast<std::size_t>(row * width_ + column));
  }
  void expect_once(int times = 1) const {
    if (std::ranges::any_of(times_, [times](int t) { return t != times; }))
      throw Failed("pieces do not hold every entry once");
  }

 private:
  std::int64_t width_;
  std::vector<int> times_;
};

struct TiledTables {
  TiledTables(const Question& question)
      : q(question),
        inputs(q.with_param("memory", "host")),
        sat(inputs.image_view().shape, inputs.image_view().type, sat_options(q), tiled_options(q)),
        rooms(std::make_shared<TableRooms>()) {
    rooms->sum.emplace(sat.table_shape(), sat.types().table, lie_of_outputs(q));
    if (const auto type = sat.squares_type()) rooms->squares.emplace(sat.table_shape(), *type, lie_of_outputs(q));
    if (inputs.mask || q.flag("ignore_nan"))
      rooms->count.emplace(sat.count_shape(), areal::Type::u32, lie_of_outputs(q));
  }
  areal::ImageReader read() const { return reader_of(inputs.image_view()); }
  areal::ImageReader read_mask() const { return inputs.mask ? reader_of(inputs.mask_view()) : areal::ImageReader(); }
  Json answer() {
    inputs.expect_unchanged();
    return respond(q, tables_in(rooms, q, sat.types()));
  }
  const Question& q;
  Inputs inputs;
  areal::TiledSat sat;
  std::shared_ptr<TableRooms> rooms;
};

Json tiled_sat(const Question& q) {
  TiledTables t(q);
  const auto view = [](std::optional<Room>& room) { return room ? room->view() : areal::View(); };
  t.sat.table(t.read(), t.rooms->sum->view(), view(t.rooms->squares), view(t.rooms->count), t.read_mask());
  return t.answer();
}

Json tiled_sat_pieces(const Question& q) {
  TiledTables t(q);
  Cover cover(t.sat.table_shape().width, t.sat.table_shape().height);
  const auto put = [](std::optional<Room>& room, const areal::Piece& piece, const areal::ConstView& entries) {
    if (room.has_value() != (entries.data != nullptr)) throw Failed("a piece lacks a table, or has one too many");
    if (room) copy_elements(entries, part(room->view(), piece.x, piece.y, entries.shape.width, entries.shape.height));
  };
  t.sat.pieces(
      t.read(),
      [&t, &cover, &put](const areal::Piece& piece) {
        cover.add(piece.x, piece.y, piece.values.shape);
        put(t.rooms->sum, piece, piece.values);
        put(t.rooms->squares, piece, piece.squares);
        put(t.rooms->count, piece, piece.count);
        return true;
      },
      t.read_mask());
  cover.expect_once();
  return t.answer();
}

Json tiled_histogram(const Question& q) {
  if (q.has("weights")) throw BadQuestion("weights: tiles take none");
  HistogramInputs inputs(q.with_param("memory", "host"));
  const areal::ConstView image = inputs.image_view();
  const areal::Binning binning = binning_of(q);
  const areal::TiledHistogram tiled(image.shape, image.type, binning, {}, tiled_options(q));
  const std::vector<areal::Region> regions = regions_of(q);
  Room out({binning.bins(), static_cast<std::int64_t>(regions.size())}, areal::Type::u64);
  const auto counts = out.span<std::uint64_t>();
  tiled.answers(reader_of(image), regions, counts);
  (void)out.take("the histograms");
  inputs.expect_unchanged();
  Json answer = q.answer();
  answer["counts"] =
      Json::array({histograms_json(std::vector<std::uint64_t>(counts.begin(), counts.end()), binning.bins())});
  return answer;
}

Json tiled_histogram_pieces(const Question& q) {
  HistogramInputs inputs(q.with_param("memory", "host"));
  const areal::ConstView image = inputs.image_view(), weights = inputs.weights_view();
  const areal::Binning binning = binning_of(q);
  const areal::HistogramOptions options = histogram_options(q);
  const areal::TiledHistogram tiled(image.shape, image.type, binning, options, tiled_options(q),
                                    inputs.weights ? weights.type : areal::Type::f32);
  const std::int64_t more = options.border == areal::Border::zero ? 1 : 0;
  areal::Shape shape{image.shape.width + more, image.shape.height + more, binning.bins(), 1, areal::Layout::planar};
  auto room = std::make_shared<Room>(shape, options.counter, lie_of_outputs(q));
  Cover cover(shape.width, shape.height * shape.channels);
  tiled.pieces(
      reader_of(image),
      [&room, &cover, &shape](const areal::Piece& piece) {
        const areal::Shape& s = piece.values.shape;
        areal::View to = part(room->view(), piece.x, piece.y, s.width, s.height);
        to.data = static_cast<std::byte*>(to.data) + piece.first_bin * to.plane_pitch;
        to.shape.channels = s.channels;
        copy_elements(piece.values, to);
        for (std::int64_t b = 0; b < s.channels; ++b)
          cover.add(piece.x, (piece.first_bin + b) * shape.height + piece.y, s);
        return true;
      },
      inputs.weights ? reader_of(weights) : areal::ImageReader());
  cover.expect_once();
  inputs.expect_unchanged();
  return respond(q, tensor_in(room, options.border));
}

/// Strips in their devices' memory: on the CPU parts of one image and one table.
class Spread {
 public:
  explicit Spread(const Question& q)
      : q_(q),
        inputs_(q.with_param("memory", "host")),
        image_(inputs_.image_view()),
        sat_(image_.shape, image_.type, sat_options(q), options_of(q)),
        room_(std::make_shared<Room>(sat_.table_shape(), sat_.types().table, lie_of_outputs(q))) {
    const bool host = std::ranges::all_of(sat_.strips(), [](const auto& s) { return s.memory.is_host(); });
    if (!host) arrays_ = sat_.allocate();
    for (std::size_t i = 0; i < sat_.strips().size(); ++i) {
      const areal::SpreadStrip& strip = sat_.strips()[i];
      const areal::ConstView pixels = part(image_, 0, strip.first, image_.shape.width, strip.pixels.height);
      if (host) {
        pixels_.push_back(pixels);
        tables_.push_back(part(room_->view(), 0, strip.table_row, strip.table.width, strip.table.height));
      } else {
        const areal::Execution on{strip.worker.backend, strip.worker.device};
        images_.push_back(areal::DeviceArray::copy_of(pixels, on));
        pixels_.push_back(std::as_const(images_.back()).view());
        tables_.push_back(arrays_[i].view());
      }
    }
  }
  Json answer() {
    sat_.execute(pixels_, tables_);
    sat_.execute(pixels_, tables_);  // again, over what is there
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const areal::SpreadStrip& strip = sat_.strips()[i];
      const areal::Array host = arrays_[i].to_host();
      copy_elements(host.view(), part(room_->view(), 0, strip.table_row, strip.table.width, strip.table.height));
    }
    inputs_.expect_unchanged();
    auto rooms = std::make_shared<TableRooms>();
    rooms->sum.emplace(*room_);
    if (q_.family() == "regions" && (!q_.has("stats") || q_["stats"] == Json::array({"sum"}))) {
      (void)room_->take("the table");
      return sums();
    }
    return respond(q_, tables_in(rooms, q_, sat_.types()));
  }

 private:
  static areal::SpreadOptions options_of(const Question& q) {
    areal::SpreadOptions options;
    options.devices = workers_of(q);
    if (q.has_param("rows")) options.rows = q.param("rows").get<std::vector<std::int64_t>>();
    options.band_width = q.number("band_width");
    options.parts = static_cast<int>(q.number("parts"));
    return options;
  }
  template <class T>
  Json sums_as() {
    const std::vector<areal::ConstView> tables(tables_.begin(), tables_.end());
    Json one = Json::array();
    for (const T sum : sat_.region_sums<T>(tables, regions_of(q_))) one.push_back(text_of(sum));
    Json answer = q_.answer();
    answer["answers"]["sum"] = Json::array({Json::array({one})});
    answer["types"] = areal::name_of(sat_.types());
    return answer;
  }
  Json sums() {
    if (q_.text("outside", "error") != "error") throw BadQuestion("outside: spread tables clip nothing");
    const areal::Type type = sat_.types().table;
    if (areal::is_float(type) || q_.word("as") == "double") return sums_as<double>();
    return areal::is_signed_integer(type) ? sums_as<std::int64_t>() : sums_as<std::uint64_t>();
  }

  const Question& q_;
  Inputs inputs_;
  areal::ConstView image_;
  areal::SpreadSat sat_;
  std::shared_ptr<Room> room_;
  std::vector<areal::DeviceArray> arrays_, images_;
  std::vector<areal::ConstView> pixels_;
  std::vector<areal::View> tables_;
};

Json spread_sat(const Question& q) { return Spread(q).answer(); }

/// The images of the batch as frames; every second one is pointed at where it lies.
Json sequence(const Question& q) {
  if (q.has("weights")) throw BadQuestion("weights: sequences take none");
  HistogramInputs inputs(q.with_param("memory", "host"));
  std::array<std::uint8_t, 256> levels{};
  const bool mirrored = q.flag_param("levels");
  for (std::size_t v = 0; v < levels.size(); ++v) levels[v] = static_cast<std::uint8_t>(255 - v);
  std::optional<Room> mirror;
  if (mirrored) {
    Elements image = image_elements(q);
    for (std::byte& b : image.bytes) b = ~b;
    mirror.emplace(image, lie_of_inputs(q), areal::MemoryPlace());
  }
  const areal::ConstView frames = mirror ? std::as_const(*mirror).view() : inputs.image_view();
  const areal::Binning binning = binning_of(q);
  const std::vector<areal::Region> regions = regions_of(q);
  areal::SequenceOptions options;
  options.workers = workers_of(q);
  options.slots = static_cast<int>(q.number("slots", 4));
  options.outside = query_options(q).outside;
  options.border = border_of(q, areal::Border::none);
  options.device_bytes = static_cast<std::uint64_t>(q.number("device_bytes"));
  options.tensors = regions.empty();
  areal::Shape shape = frames.shape;
  shape.batch = 1;
  areal::HistogramSequence sequence(shape, frames.type, binning, options);
  const std::int64_t more = options.border == areal::Border::zero ? 1 : 0;
  auto room = std::make_shared<Room>(areal::Shape{frames.shape.width + more, frames.shape.height + more, binning.bins(),
                                                  frames.shape.batch, areal::Layout::planar},
                                     areal::Type::u32, lie_of_outputs(q));
  Json counts = Json::array();
  const auto of_batch = [&frames, &shape](std::int64_t n) {
    areal::ConstView one = frames;
    one.data = static_cast<const std::byte*>(frames.data) + n * frames.batch_pitch;
    one.shape = shape;
    return one;
  };
  std::int64_t next = 0, answered = 0;
  const auto source = [&next, &frames, &of_batch, &levels, mirrored](const areal::View& into, areal::Frame& frame) {
    if (next == frames.shape.batch) return false;
    frame.levels = mirrored ? levels.data() : nullptr;
    frame.number = next;
    frame.seconds = static_cast<double>(next) / 25;
    if (next % 2 == 0)
      copy_elements(of_batch(next), into);
    else
      frame.pixels = of_batch(next);
    ++next;
    return true;
  };
  const auto sink = [&](const areal::FrameAnswer& answer) {
    if (answer.frame.number != answered) throw Failed("frames are answered out of their order");
    counts.push_back(
        histograms_json(std::vector<std::uint64_t>(answer.counts.begin(), answer.counts.end()), binning.bins()));
    if (options.tensors != answer.tensor.has_value()) throw Failed("a frame without its tensor");
    if (answer.tensor) {
      areal::View to = room->view();
      to.data = static_cast<std::byte*>(to.data) + answered * to.batch_pitch;
      to.shape.batch = 1;
      copy_elements(answer.tensor->view, to);
    }
    ++answered;
    return true;
  };
  const auto report = sequence.run(
      source,
      [&regions](const areal::Frame&, std::vector<areal::Region>& into) {
        into.insert(into.end(), regions.begin(), regions.end());
      },
      sink);
  if (report.answered != frames.shape.batch || answered != report.answered || report.dropped != 0)
    throw Failed("a sequence did not answer every frame once");
  inputs.expect_unchanged();
  if (options.tensors) return respond(q, tensor_in(room, options.border));
  Json answer = q.answer();
  answer["counts"] = counts;
  return answer;
}

const std::vector<std::string_view> all = {"table", "regions", "window"};
const std::vector<std::string_view> histogram = {"histogram"};
const std::vector<Door> doors = {{"tiled-sat", all, tiled_sat},
                                 {"tiled-sat-pieces", all, tiled_sat_pieces},
                                 {"spread-sat", all, spread_sat},
                                 {"tiled-histogram", histogram, tiled_histogram},
                                 {"tiled-histogram-pieces", histogram, tiled_histogram_pieces},
                                 {"sequence", histogram, sequence}};

}  // namespace

std::span<const Door> cluster_doors() { return doors; }

}  // namespace doors
