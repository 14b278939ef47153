#include "mpi/sat_strip.hpp"
#include <algorithm>
#include <areal/device.hpp>

namespace areal::mpi {
namespace {

constexpr std::int64_t block_rows = 256;  // scratch that fits caches, and launches that cost devices little

/// One row of a table of border `zero`: a carry for the rows after it.
ConstView row_of(const ConstView& table, std::int64_t y) {
  ConstView row = table;
  row.data = table.row(y);
  row.shape.height = 1;
  return row;
}

ConstView rows_of(const ConstView& image, std::int64_t first, std::int64_t count) {
  ConstView rows = image;
  if (image.data != nullptr) rows.data = image.row(first);
  rows.shape.height = count;
  return rows;
}

}  // namespace

bool SatStrip::has_floats() const {
  return std::any_of(outputs.begin(), outputs.end(), [](const Output& o) { return is_float(o.type); });
}

std::vector<Output> outputs_of(const SatPlan& plan) {
  const Shape image = plan.image_shape();
  const Shape row{image.width + 1, 1, image.channels, image.batch, plan.options().tables};
  std::vector<Output> outputs{{plan.types().table, Term::pixel, row}};
  if (plan.squares_type()) outputs.push_back({*plan.squares_type(), Term::square, row});
  if (plan.options().mask || plan.options().ignore_nan)
    outputs.push_back({Type::u32, Term::one, {image.width + 1, 1, 1, image.batch, plan.options().tables}});
  return outputs;
}

SatArguments arguments_of(const SatStrip& strip) {
  return {strip.image,           strip.table->sum(),  strip.mask, strip.table->squares(),
          strip.table->tilted(), strip.table->count()};
}

Carry& carry_of(SatArguments& arguments, Term term) {
  return term == Term::pixel ? arguments.carry : term == Term::square ? arguments.squares_carry : arguments.count_carry;
}

std::vector<DeviceArray> sums_of_columns(const SatStrip& strip) {
  const SatOptions& options = strip.plan->options();
  std::vector<DeviceArray> totals;
  for (const Output& output : strip.outputs) {
    totals.emplace_back(output.row, output.type, Execution{.backend = Backend::cpu});
    column_sums(strip.image, strip.mask, output.term, options.reverse, strip.plan->execution().threads,
                totals.back().view());
  }
  return totals;
}

std::vector<DeviceArray> sums_of_blocks(const SatStrip& strip, const std::vector<Execution>& where) {
  const Shape& image = strip.image.shape;
  SatOptions options = strip.plan->options();
  options.border = Border::zero;
  options.progress = {};
  const bool reverse = options.reverse;
  SatTable tables[2];
  std::optional<SatPlan> plan;
  std::optional<Workspace> workspace;
  const auto last_row = [&](const Output& output, const SatTable& of, std::int64_t height) {
    const ConstView table = output.term == Term::pixel    ? of.sum()
                            : output.term == Term::square ? of.squares()
                                                          : of.count();
    return row_of(table, reverse ? 0 : height);
  };
  std::int64_t before = 0;
  for (std::int64_t done = 0, i = 0; done < image.height; done += before, ++i) {
    const std::int64_t height = std::min(block_rows, image.height - done);
    SatTable& into = tables[i % 2];
    const SatTable& from = tables[(i + 1) % 2];
    if (!plan || plan->image_shape().height != height) {
      Shape shape = image;
      shape.height = height;
      plan.emplace(shape, strip.image.type, options, strip.plan->execution());
      workspace.emplace(*plan);
    }
    if (i < 2 || height != before) into = plan->allocate(strip.image.memory);
    const std::int64_t first = reverse ? image.height - done - height : done;
    SatArguments arguments = arguments_of({rows_of(strip.image, first, height),
                                           strip.mask.data ? rows_of(strip.mask, first, height) : strip.mask,
                                           nullptr,
                                           &into,
                                           {}});
    if (i > 0)
      for (const Output& output : strip.outputs)
        carry_of(arguments, output.term).above = last_row(output, from, before);
    plan->execute(arguments, *workspace);
    workspace->wait();
    before = height;
  }
  std::vector<DeviceArray> totals;
  for (const Output& output : strip.outputs) {
    totals.emplace_back(output.row, output.type, where[totals.size()]);
    if (image.height == 0) {
      clear_view(totals.back().view());
      continue;
    }
    const std::int64_t blocks = (image.height + block_rows - 1) / block_rows;
    copy_view(last_row(output, tables[(blocks - 1) % 2], before), totals.back().view());
  }
  return totals;
}

void execute_with(const SatStrip& strip, const std::vector<DeviceArray>& above) {
  SatArguments arguments = arguments_of(strip);
  std::vector<DeviceArray> there;
  for (std::size_t o = 0; o < strip.outputs.size(); ++o) {
    Carry& carry = carry_of(arguments, strip.outputs[o].term);
    carry.above = above[o].view();
    if (above[o].view().memory == strip.image.memory) continue;
    there.push_back(
        DeviceArray::copy_of(above[o].view(), {.backend = Backend::cuda, .device = strip.image.memory.device}));
    carry.above = there.back().view();
  }
  Workspace workspace(*strip.plan);
  strip.plan->execute(arguments, workspace);
  workspace.wait();
}

}  // namespace areal::mpi
