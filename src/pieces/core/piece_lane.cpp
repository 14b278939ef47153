#include "pieces/core/piece_lane.hpp"
#include <algorithm>
#include <areal/array.hpp>
#include <areal/error.hpp>
#include "api/core/copy_rows.hpp"
#include "pieces/core/current_device.hpp"

namespace areal::pieces {
namespace {

std::size_t slot_of(const Part& part) { return static_cast<std::size_t>(part.number % slots); }

std::size_t bytes_of_rows(const Rows& rows, std::int64_t width, std::int64_t height) {
  return std::max<std::size_t>(1, bytes_of(rows.of(width, height), rows.type));  // a view of no rows has an address
}

}  // namespace

/// Made while the device is current.
struct PieceLane::Device {
  cuda::OwnedStream up, computing, down;
  std::array<cuda::Event, slots> uploaded, computed;
  Buffers inputs, outputs;
};

PieceLane::PieceLane(const Work& work, std::int64_t width, const RowGrid& grid) : work_(work) {
  const CurrentDevice device(work.execution());
  const Form& form = work.form();
  if (work.on_cuda()) device_ = std::make_unique<Device>();
  const auto add = [&](Buffers PieceLane::*of_host, Buffers Device::*of_device, std::size_t slot, std::size_t bytes,
                       bool on_host) {
    if (on_host) (this->*of_host)[slot].push_back(Memory::of_host(bytes, work.on_cuda()));
    if (device_) ((*device_).*of_device)[slot].emplace_back(bytes, work.memory());
  };
  for (std::size_t slot = 0; slot < slots; ++slot) {
    for (const Rows& input : form.inputs)
      add(&PieceLane::inputs_, &Device::inputs, slot, bytes_of_rows(input, width, grid.most_rows()), true);
    if (slot > 0 && !form.downloads) continue;
    for (const Rows& output : form.outputs)
      add(&PieceLane::outputs_, &Device::outputs, slot,
          bytes_of_rows(output, width + form.margin, grid.most_made() + form.margin), form.downloads || !device_);
  }
  if (form.carried) carry_.emplace(work, width, stream());
  if (device_ && !form.downloads)
    for (const Rows& output : form.outputs)
      last_rows_.push_back(Memory::of_host(bytes_of_rows(output, width + form.margin, 1), true));
}

PieceLane::~PieceLane() {
  if (!device_) return;
  try {
    const CurrentDevice device(work_.execution());
    for (const cuda::OwnedStream* stream : {&device_->up, &device_->computing, &device_->down}) stream->synchronize();
  } catch (const Error&) {  // of a device that fails, memory is given up all the same
  }
}

Stream PieceLane::stream() const { return device_ ? device_->computing.get() : Stream::host(); }

View PieceLane::input(const Part& part, std::size_t which) {
  const std::size_t slot = slot_of(part);
  if (device_) {
    const CurrentDevice device(work_.execution());
    device_->uploaded[slot].synchronize();
  }
  return held(part, which);
}

View PieceLane::held(const Part& part, std::size_t which) const {
  const Rows& rows = work_.form().inputs[which];
  return inputs_[slot_of(part)][which].view(rows.type, rows.of(part.pixels.width, part.rows()));
}

std::int64_t PieceLane::take_over(const Part& before, const Part& part) {
  const std::int64_t shared = before.first_row() + before.rows() - part.first_row();
  if (shared <= 0) return 0;
  for (std::size_t i = 0; i < work_.form().inputs.size(); ++i)
    copy_rows(rows_of(held(before, i), before.rows() - shared, shared), rows_of(input(part, i), 0, shared));
  return shared;
}

void PieceLane::upload(const Part& part) {
  if (!device_) return;
  const CurrentDevice device(work_.execution());
  const std::size_t slot = slot_of(part);
  const Stream up = device_->up.get();
  device_->computed[slot].hold_back(up);  // which reads the same memory of the device
  for (std::size_t i = 0; i < inputs_[slot].size(); ++i) {
    const Rows& rows = work_.form().inputs[i];
    if (const auto bytes = bytes_of(rows.of(part.pixels.width, part.rows()), rows.type))
      cuda::copy_in(device_->inputs[slot][i].data(), inputs_[slot][i].data(), bytes, up);
  }
  device_->uploaded[slot].record(up);
}

std::size_t PieceLane::output_slot(const Part& part) const { return work_.form().downloads ? slot_of(part) : 0; }

View PieceLane::output(const Part& part, std::size_t which) const {
  const Form& form = work_.form();
  const Rows& rows = form.outputs[which];
  const std::int64_t height = form.halo.is_made ? part.rows() : part.pixels.height;
  return (device_ ? device_->outputs : outputs_)[output_slot(part)][which].view(
      rows.type, rows.of(part.pixels.width + form.margin, height + form.margin));
}

void PieceLane::compute(const Part& part, const std::vector<ConstView>* elsewhere) {
  const CurrentDevice device(work_.execution());
  const Form& form = work_.form();
  const std::int64_t width = part.pixels.width, height = part.rows();
  if (step_height_ != height) {
    if (device_) device_->computing.synchronize();  // the workspace is in use
    step_.reset();
    step_height_ = -1;
    step_ = work_.plan(width, height, stream());
    step_height_ = height;
  }
  Views views;
  views.part = part;
  if (elsewhere) views.inputs = *elsewhere;
  for (std::size_t i = 0; i < form.inputs.size() && !elsewhere; ++i) {
    const Memory& memory = (device_ ? device_->inputs : inputs_)[slot_of(part)][i];
    views.inputs.emplace_back(memory.view(form.inputs[i].type, form.inputs[i].of(width, height)));
  }
  for (std::size_t t = 0; t < form.outputs.size(); ++t) views.outputs.push_back(output(part, t));
  views.carries = carry_ ? carry_->take() : std::vector<Carry>(form.outputs.size());
  if (device_) device_->uploaded[slot_of(part)].hold_back(stream());
  step_->execute(views);
  if (carry_) carry_->hand_on(views.outputs, stream());
  if (device_) device_->computed[slot_of(part)].record(stream());
}

std::vector<ConstView> PieceLane::download(const Part& part) {
  const CurrentDevice device(work_.execution());
  std::vector<ConstView> views;
  if (device_) device_->computed[slot_of(part)].hold_back(device_->down.get());
  for (std::size_t t = 0; t < work_.form().outputs.size(); ++t) {
    const View from = output(part, t);
    const View to = outputs_[output_slot(part)][t].view(from.type, from.shape);
    if (device_) cuda::copy_out(to.data, from.data, bytes_of(from.shape, from.type), device_->down.get());
    views.emplace_back(to);
  }
  if (device_) device_->down.synchronize();
  return views;
}

std::vector<ConstView> PieceLane::last_rows(const Part& part) {
  const CurrentDevice device(work_.execution());
  std::vector<ConstView> views;
  for (std::size_t t = 0; t < work_.form().outputs.size(); ++t) {
    const View table = output(part, t);
    const Shape row = work_.form().outputs[t].of(table.shape.width, 1);
    if (device_) {
      const View to = last_rows_[t].view(table.type, row);
      copy_last_row(table, to, stream());
      views.emplace_back(to);
    } else {
      views.emplace_back(table.row(table.shape.height - 1), table.type, row, table.row_pitch, table.plane_pitch);
    }
  }
  if (device_) device_->computing.synchronize();
  return views;
}

}  // namespace areal::pieces
