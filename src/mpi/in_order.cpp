// Tables whose floats have the bits of one rank. `tiles` (src/cpu/sat/tiles.hpp) makes an entry as
//     T[y][x] = T[y - 1][x] + P[y][x],
// where P is the sum along the row, in an order that the width and the SIMD target fix. P is the table of a batch of
// images of one row, which needs no other rank. Then rows are added from the top down, one block of columns after the
// other: a rank that has added a block sends its last row, and continues with the next block.
#include <algorithm>
#include <areal/device.hpp>
#include <climits>
#include <cstring>
#include "mpi/exchange.hpp"
#include "mpi/sat_strip.hpp"

namespace areal::mpi {
namespace {

/// Entries of the inclusive table (border none) of an output, where they are computed: in the table itself, or in a
/// separate array if the table lacks the last row and column.
struct Sums {
  Output output;
  Array separate;
  View entries;  ///< W x h
  Array above;   ///< the carry: W x 1
};

constexpr std::int64_t rows_at_once = 64;  // a plan's workspace has a row for each image

/// The rows [first, first + count) of image n of `view`, each as an image of one row.
template <class V>
V rows_as_images(V view, std::int64_t n, std::int64_t first, std::int64_t count) {
  if (view.data != nullptr) view.data = view.row(first, 0, n);
  view.batch_pitch = view.row_pitch;
  view.shape.batch = count;
  view.shape.height = 1;
  return view;
}

Sums sums_of(const SatStrip& strip, const Output& output) {
  const SatOptions& options = strip.plan->options();
  const View table = strip.table_of(output);
  Shape shape = table.shape;
  shape.width = strip.image.shape.width, shape.height = strip.image.shape.height;
  Sums sums{output, {}, {}, {}};
  if (options.border == Border::exclusive) {
    sums.separate = Array(shape, output.type);
    sums.entries = sums.separate.view();
  } else {
    const std::int64_t offset = options.border == Border::zero && !options.reverse ? 1 : 0;
    sums.entries = table;
    sums.entries.shape = shape;
    if (table.data != nullptr)
      sums.entries.data = static_cast<char*>(table.row(offset)) + offset * table.column_pitch();
  }
  shape.height = 1;
  sums.above = Array(shape, output.type);
  return sums;
}

/// Computes the sums along the rows of all outputs.
void sum_rows(const SatStrip& strip, std::vector<Sums>& outputs) {
  const Shape& image = strip.image.shape;
  if (image.empty()) return;
  SatOptions options = strip.plan->options();
  options.border = Border::none;
  for (std::int64_t first = 0, planned = 0; first < image.height; first += planned) {
    // All whole groups with one plan, then the remainder.
    const std::int64_t left = image.height - first, count = std::min(rows_at_once, left);
    const std::int64_t end = first + left / count * count;
    Shape rows = image;
    rows.height = 1, rows.batch = count;
    const SatPlan plan(rows, strip.image.type, options, strip.plan->execution());
    Workspace workspace(plan);
    for (std::int64_t y = first; y < end; y += count)
      for (std::int64_t n = 0; n < image.batch; ++n) {
        const auto images = [&](const auto& view) { return rows_as_images(view, n, y, count); };
        SatArguments arguments{images(strip.image), images(outputs[0].entries)};
        if (strip.mask.data != nullptr) arguments.mask = images(strip.mask);
        for (const Sums& sums : outputs) {
          if (sums.output.term == Term::square) arguments.squares = images(sums.entries);
          if (sums.output.term == Term::one) arguments.count = images(sums.entries);
        }
        plan.execute(arguments, workspace);
      }
    planned = end - first;
  }
}

/// Sends that may be in flight; their buffers must not change.
class Sends {
 public:
  explicit Sends(const Communicator& comm) : comm_(comm) {}
  ~Sends() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }
  Sends(const Sends&) = delete;
  Sends& operator=(const Sends&) = delete;
  void send(const void* data, std::size_t bytes) {
    if (requests_.size() == most) wait();
    requests_.emplace_back();
    const int code =
        MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, comm_.rank() + 1, 0, comm_.get(), &requests_.back());
    if (code != MPI_SUCCESS) requests_.pop_back();
    require_mpi(code, "MPI_Isend");
  }
  void wait() {
    const int code = MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
    require_mpi(code, "MPI_Waitall");
  }

 private:
  static constexpr std::size_t most = 64;
  const Communicator& comm_;
  std::vector<MPI_Request> requests_;
};

struct Lines {
  char* above;         ///< entries of the carry
  char* first;         ///< of the first row, to which the carry is added
  std::int64_t pitch;  ///< bytes from a row to the next; negative in a reversed table
  std::int64_t rows;
};

template <class T>
void add_down(const Lines& lines, std::int64_t from, std::int64_t count) {
  const T* before = reinterpret_cast<const T*>(lines.above) + from;
  for (std::int64_t y = 0; y < lines.rows; ++y) {
    T* const here = reinterpret_cast<T*>(lines.first + y * lines.pitch) + from;
    for (std::int64_t i = 0; i < count; ++i) here[i] = before[i] + here[i];
    before = here;
  }
}

void add_down(Type type, const Lines& lines, std::int64_t from, std::int64_t count) {
  if (type == Type::f32) return add_down<float>(lines, from, count);
  if (type == Type::f64) return add_down<double>(lines, from, count);
  if (size_of(type) == 8) return add_down<std::uint64_t>(lines, from, count);
  add_down<std::uint32_t>(lines, from, count);
}

/// One plane of one output, a block of columns after the other.
void add_plane(const Communicator& comm, Type type, const Lines& lines, std::int64_t entries, Sends& sends,
               const Options& how, Clock& clock, Costs& costs) {
  const auto size = static_cast<std::int64_t>(size_of(type));
  // At least four blocks a rank, so that the last rank does not wait long; no blocks so small that messages dominate.
  const std::int64_t wanted = std::max<std::int64_t>(4096, entries * size / (4 * comm.size()));
  const std::int64_t most = std::min<std::int64_t>(static_cast<std::int64_t>(how.message_bytes), INT_MAX);
  const std::int64_t block = std::max<std::int64_t>(1, std::min(wanted, most) / size);
  for (std::int64_t from = 0; from < entries; from += block) {
    const std::int64_t count = std::min(block, entries - from), bytes = count * size;
    if (comm.rank() == 0)
      std::memset(lines.above + from * size, 0, static_cast<std::size_t>(bytes));
    else
      receive_from_before(comm, lines.above + from * size, static_cast<std::size_t>(bytes), MPI_BYTE);
    costs.exchange_seconds += clock.lap();
    add_down(type, lines, from, count);
    costs.table_seconds += clock.lap();
    if (comm.rank() == comm.size() - 1) continue;
    const char* const last = lines.rows == 0 ? lines.above : lines.first + (lines.rows - 1) * lines.pitch;
    sends.send(last + from * size, static_cast<std::size_t>(bytes));
    costs.messages += 1, costs.bytes += static_cast<std::uint64_t>(bytes);
    costs.exchange_seconds += clock.lap();
  }
}

/// Completes a table of border `zero` or `exclusive`: its rows and columns outside the sums, and for `exclusive` also
/// copies the shared ones.
void finish(const Sums& sums, const View& table, Border border, bool reverse) {
  if (border == Border::none || table.shape.empty()) return;
  const Shape& s = table.shape;
  const bool planar = s.layout == Layout::planar;
  const std::int64_t entry = table.column_pitch(), width = sums.entries.shape.width, height = sums.entries.shape.height;
  const std::int64_t copied = std::min(width, s.width - 1);  // exclusive tables lack the last column
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t c = 0; c < (planar ? s.channels : 1); ++c)
      for (std::int64_t y = 0; y < s.height; ++y) {
        char* const row = static_cast<char*>(table.row(y, c, n));
        std::memset(row + (reverse ? s.width - 1 : 0) * entry, 0, static_cast<std::size_t>(entry));
        if (copied <= 0) continue;
        const std::int64_t from = reverse ? y + 1 : y - 1;  // the row of the sums for row y
        const bool carried = reverse ? y == s.height - 1 : y == 0;
        if (!carried && border == Border::zero) continue;  // they are there already
        const char* const source = static_cast<const char*>(
            carried ? sums.above.view().row(0, c, n) : sums.entries.row(std::min(from, height - 1), c, n));
        std::memcpy(row + (reverse ? 0 : entry), source + (reverse ? (width - copied) * entry : 0),
                    static_cast<std::size_t>(copied * entry));
      }
}

}  // namespace

void execute_in_order(const Communicator& comm, const SatStrip& strip, const Options& how) {
  Costs mine;
  Costs& costs = how.costs != nullptr ? *how.costs : mine;
  const SatOptions& options = strip.plan->options();
  Clock clock;
  std::vector<Sums> outputs;
  comm.together([&] {
    for (const Output& output : strip.outputs) outputs.push_back(sums_of(strip, output));
    sum_rows(strip, outputs);
  });
  costs.sums_seconds += clock.lap();
  Sends sends(comm);
  for (Sums& sums : outputs) {
    const View entries = sums.entries, above = sums.above.view();
    const bool planar = entries.shape.layout == Layout::planar;
    const std::int64_t rows = entries.shape.height, first = options.reverse ? rows - 1 : 0;
    for (std::int64_t n = 0; n < entries.shape.batch; ++n)
      for (std::int64_t c = 0; c < (planar ? entries.shape.channels : 1); ++c)
        add_plane(
            comm, sums.output.type,
            {static_cast<char*>(above.row(0, c, n)), static_cast<char*>(rows > 0 ? entries.row(first, c, n) : nullptr),
             options.reverse ? -entries.row_pitch : entries.row_pitch, rows},
            entries.shape.width * (planar ? 1 : entries.shape.channels), sends, how, clock, costs);
  }
  sends.wait();
  costs.exchange_seconds += clock.lap();
  for (const Sums& sums : outputs) finish(sums, strip.table_of(sums.output), options.border, options.reverse);
  costs.table_seconds += clock.lap();
}

}  // namespace areal::mpi
