#include "pieces/tiles/tile_lane.hpp"
#include <algorithm>
#include <cstring>
#include "pieces/core/row_carry.hpp"

namespace areal::pieces {
namespace {

std::int64_t planes_of(const ConstView& view) { return view.shape.layout == Layout::planar ? view.shape.channels : 1; }

/// A column of entries, of all planes, to one that has no gaps; queued on a device.
void copy_column(const ConstView& column, const View& to, Stream stream) {
  const auto bytes = static_cast<std::size_t>(column.column_pitch());
  for (std::int64_t c = 0; c < planes_of(column); ++c) {
    if (!column.memory.is_host()) {
      cuda::copy_rows(to.row(0, c), to.row_pitch, column.row(0, c), column.row_pitch, bytes,
                      static_cast<std::size_t>(column.shape.height), cuda::CopyDirection::within, stream);
      continue;
    }
    for (std::int64_t y = 0; y < column.shape.height; ++y) std::memcpy(to.row(y, c), column.row(y, c), bytes);
  }
}

/// Rows of some planes, as they are copied to host memory: with the gaps between rows; at once with the gaps between
/// planes where these are small.
struct Span {
  std::int64_t planes;
  std::size_t plane_bytes, bytes;  // that are copied at once, and of all
  std::int64_t plane_pitch;        // there

  explicit Span(const ConstView& from) : planes(planes_of(from)), plane_pitch(from.shape.height * from.row_pitch) {
    const auto bytes_with = [&](std::int64_t pitch) {
      if (from.shape.empty()) return std::size_t{0};
      return static_cast<std::size_t>((planes - 1) * pitch + (from.shape.height - 1) * from.row_pitch +
                                      from.shape.width * from.column_pitch());
    };
    if (from.plane_pitch <= 2 * plane_pitch) plane_pitch = from.plane_pitch;
    bytes = bytes_with(plane_pitch);
    if (planes > 1 && plane_pitch == from.plane_pitch) planes = 1;
    plane_bytes = planes > 1 ? bytes - static_cast<std::size_t>((planes - 1) * plane_pitch) : bytes;
  }
  std::size_t room() const {
    constexpr std::size_t line = 64;
    return (bytes + line - 1) / line * line;
  }
};

}  // namespace

void TileLane::Buffer::wait() {
  if (in_flight) event->synchronize();
  in_flight = false;
}

TileLane::TileLane(const Worker& worker) : worker_(worker) {
  if (worker.backend != Backend::cuda) return;
  place_ = {MemoryPlace::cuda, worker.device};
  above_ = Memory(0, place_), left_ = Memory(0, place_);
  stream_.emplace(), handed_on_.emplace();
}

void TileLane::grow(std::vector<Memory>& memories, std::size_t n, std::size_t bytes) {
  while (memories.size() <= n) memories.emplace_back(0, place_);
  memories[n].grow(std::max<std::size_t>(1, bytes));
}

Step& TileLane::step_for(const TileJob& job, const Part& part) {
  const std::int64_t group = part.number % job.cut.groups, width = part.pixels.width, height = part.pixels.height;
  if (&job != job_ || group != group_) {
    steps_.clear(), work_.reset();
    job_ = &job, group_ = group;
  }
  if (!work_) work_ = job.work(worker_, job.bins_of(group));
  std::unique_ptr<Step>& step = steps_[{width, height}];
  if (!step) step = work_->plan(width, height, stream());
  return *step;
}

void* TileLane::on_worker(void* host, std::size_t bytes, Memory& memory) const {
  if (!on_cuda() || host == nullptr) return host;
  memory.grow(bytes);
  cuda::copy_in(memory.data(), host, bytes, stream());
  return memory.data();
}

const std::vector<ConstView>& TileLane::compute(const TileJob& job, const Part& part, const TilePixels& pixels,
                                                void* above, void* left) {
  Step& step = step_for(job, part);
  const Form& form = work_->form();
  const std::int64_t width = part.pixels.width, height = part.pixels.height;
  if (pixels.run != run_ || pixels.tile != tile_) {
    run_ = 0;  // until they are there
    pixels_ = pixels.inputs;
    for (std::size_t i = 0; i < pixels_.size() && on_cuda(); ++i) {
      const std::size_t bytes = bytes_of(pixels_[i].shape, pixels_[i].type);
      grow(inputs_, i, bytes);
      if (bytes > 0) cuda::copy_in(inputs_[i].data(), pixels_[i].data, bytes, stream());
      pixels_[i] = inputs_[i].view(pixels_[i].type, pixels_[i].shape);
    }
    run_ = pixels.run, tile_ = pixels.tile;
  }
  Views views;
  views.inputs = pixels_;
  const CarryLayout carries(form, width, height);
  void* const rows = on_worker(above, carries.above_bytes(), above_);
  void* const columns = on_worker(left, carries.left_bytes(), left_);
  outputs_.clear();
  for (std::size_t t = 0; t < form.outputs.size(); ++t) {
    const Shape shape = form.outputs[t].of(width + form.margin, height + form.margin);
    grow(output_memory_, t, bytes_of(shape, form.outputs[t].type));
    outputs_.emplace_back(views.outputs.emplace_back(output_memory_[t].view(form.outputs[t].type, shape)));
    Carry& carry = views.carries.emplace_back();
    if (rows != nullptr) carry.above = carries.above(t, rows).in(place_);
    if (columns != nullptr) carry.left = carries.left(t, columns).in(place_);
  }
  step.execute(views);
  return outputs_;
}

Edges TileLane::edges(const Part& part, void* left, bool has_below, bool has_right) {
  const Form& form = work_->form();
  const CarryLayout layout(form, part.pixels.width, part.pixels.height);
  const EdgesOf of(form, part.pixels.width, part.pixels.height);
  Edges edges;
  if (has_below) edges.bottom = Memory(layout.above_bytes(), MemoryPlace{});
  if (has_right) edges.right = Memory(layout.left_bytes(), MemoryPlace{});
  void *row = edges.bottom.data(), *column = edges.right.data();
  if (on_cuda()) {
    if (has_below) edge_row_.grow(edges.bottom.bytes()), row = edge_row_.data();
    if (has_right) left_.grow(edges.right.bytes()), column = left_.data();  // the step is done with what was in it
  }
  for (std::size_t t = 0; t < outputs_.size(); ++t) {
    if (has_below) copy_row(outputs_[t], of.row(), of.behind_corner(layout.above(t, row)), stream());
    if (has_right) copy_column(of.column(outputs_[t]), layout.left(t, column), stream());
  }
  if (on_cuda() && (has_below || has_right)) {
    if (has_right) edge_column_.grow(edges.right.bytes());
    if (has_right) cuda::copy_out(edge_column_.data(), left_.data(), edges.right.bytes(), stream());
    handed_on_->record(stream());
    handed_on_->synchronize();
    if (has_below) std::memcpy(edges.bottom.data(), edge_row_.data(), edges.bottom.bytes());
    if (has_right) std::memcpy(edges.right.data(), edge_column_.data(), edges.right.bytes());
  }
  for (std::size_t t = 0; t < outputs_.size() && has_below; ++t)
    of.write_corner(layout.above(t, edges.bottom.data()), left ? ConstView(layout.left(t, left)) : ConstView());
  return edges;
}

void TileLane::fetch(std::int64_t chunk, const std::vector<ConstView>& from) {
  if (!on_cuda()) return;
  Buffer& buffer = ring_[static_cast<std::size_t>(chunk % buffers)];
  std::size_t bytes = 0;
  for (const ConstView& view : from) bytes += Span(view).room();
  if (buffer.memory.bytes() < bytes) buffer.wait();
  buffer.memory.grow(bytes);
  if (!buffer.event) buffer.event.emplace();
  buffer.views.clear();
  std::size_t offset = 0;
  for (const ConstView& view : from) {
    const Span span(view);
    const View to(buffer.memory.at(offset), view.type, view.shape, view.row_pitch, span.plane_pitch);
    for (std::int64_t c = 0; c < span.planes && span.bytes > 0; ++c)
      cuda::copy_out(to.row(0, c), view.row(0, c), span.plane_bytes, stream());
    buffer.views.emplace_back(to);
    offset += span.room();
  }
  buffer.event->record(stream());
  buffer.in_flight = true;
}

std::vector<ConstView> TileLane::fetched(std::int64_t chunk, const std::vector<ConstView>& from) {
  if (!on_cuda()) return from;
  Buffer& buffer = ring_[static_cast<std::size_t>(chunk % buffers)];
  buffer.wait();
  return buffer.views;
}

}  // namespace areal::pieces
