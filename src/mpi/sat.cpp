// Tables of images whose rows are distributed over ranks: the agreement, and the three phases.
#include <algorithm>
#include <areal/array.hpp>
#include <utility>
#include "mpi/device_messages.hpp"
#include "mpi/exchange.hpp"
#include "mpi/sat_strip.hpp"
#include "mpi/shared.hpp"

namespace areal::mpi {
namespace {

std::vector<Shared> shared_of(const SatOptions& o) {
  return {{"border", static_cast<int>(o.border), std::string(name_of(o.border))},
          {"types", o.types ? static_cast<int>(o.types->input) * 256 + static_cast<int>(o.types->table) : -1,
           o.types ? name_of(*o.types) : "by default"},
          {"squares", static_cast<int>(o.squares), {}},
          {"tilted", o.tilted, {}},
          {"option mask", o.mask, {}},
          {"ignore_nan", o.ignore_nan, {}},
          {"volume", o.volume, {}},
          {"reverse", o.reverse, {}},
          {"layout of the tables", static_cast<int>(o.tables), {}}};
}

/// True if that plan could have allocated it. The plan's check covers the shapes of squares and counts.
bool is_of(const SatTable& table, const SatPlan& plan, MemoryPlace memory) {
  const ConstView sum = table.sum();
  return sum.data != nullptr && table.memory() == memory && table.border() == plan.options().border &&
         table.types() == plan.types() && table.image_shape() == plan.image_shape() &&
         sum.shape == plan.table_shape() && table.is_reversed() == plan.options().reverse &&
         (table.squares().data != nullptr) == plan.squares_type().has_value() &&
         (table.count().data != nullptr) == (plan.options().mask || plan.options().ignore_nan);
}

}  // namespace

void sat(MPI_Comm caller, Table& made, const ConstView& strip, const SatOptions& options, const Options& how,
         const ConstView& mask) {
  const Communicator comm(caller, options.reverse);
  Costs mine;
  Costs& costs = how.costs != nullptr ? *how.costs : mine;
  std::vector<Shared> shared = shared_of(strip, how);
  for (const Shared& value : shared_of(options)) shared.push_back(value);
  comm.require_same(shared);
  comm.together([&] {
    require_strip(strip);
    if (options.volume) throw InvalidArgument("volume: the rows of a volume cannot be spread over ranks");
    if (options.tilted)
      throw InvalidArgument("tilted: a tilted table takes no carry, so its rows cannot be spread over ranks");
  });
  made.rows = comm.rows_of(strip.shape.height);
  if (options.reverse) made.rows.first = made.rows.of - made.rows.first - made.rows.count;

  std::optional<SatPlan> plan;
  SatStrip here{strip, mask, nullptr, nullptr, {}};
  comm.together([&] {
    SatOptions of_image = options;
    of_image.carries = true;
    if (!options.types) {
      Shape image = strip.shape;
      image.height = made.rows.of;
      of_image.types = default_types(image, strip.type);
    }
    plan.emplace(strip.shape, strip.type, of_image, execution_for(strip, how));
    if (!is_of(made.strip, *plan, strip.memory)) made.strip = plan->allocate(strip.memory);
    here.plan = &*plan, here.table = &made.strip, here.outputs = outputs_of(*plan);
    // Without rows there is no carry to check; the sentence is the plan's.
    SatArguments arguments = arguments_of(here);
    plan->check(arguments);
    const Array zeros(here.outputs[0].row, here.outputs[0].type);
    if (strip.memory.is_host()) arguments.carry.above = zeros.view(), plan->check(arguments);
  });
  const bool on_cpu = plan->backend() == Backend::cpu && strip.memory.is_host();
  if (here.has_floats() && comm.least(on_cpu) == 1) {
    execute_in_order(comm, here, how);
    return;
  }

  Clock clock;
  std::vector<DeviceArray> totals, above;
  const MessageFacts facts = message_facts();
  comm.together([&] {
    std::vector<Execution> where;
    for (const Output& output : here.outputs) {
      const bool there = travels_between_devices(strip.memory, output.type, facts);
      where.push_back({.backend = there ? Backend::cuda : Backend::cpu, .device = strip.memory.device});
      above.emplace_back(output.row, output.type, where.back());
    }
    totals =
        on_cpu && !is_float(strip.type) && !here.has_floats() ? sums_of_columns(here) : sums_of_blocks(here, where);
  });
  costs.sums_seconds += clock.lap();
  for (std::size_t o = 0; o < here.outputs.size(); ++o)
    if (const View to = above[o].view(); to.memory.is_host())
      exclusive_scan(comm, totals[o].view().data, to.data, totals[o].bytes() / size_of(to.type), to.type, how);
    else
      exclusive_scan_on_device(comm, std::as_const(totals[o]).view(), to, how);
  costs.exchange_seconds += clock.lap();
  comm.together([&] { execute_with(here, above); });
  costs.table_seconds += clock.lap();
}

Table sat(MPI_Comm comm, const ConstView& strip, const SatOptions& options, const Options& how, const ConstView& mask) {
  Table made;
  sat(comm, made, strip, options, how, mask);
  return made;
}

}  // namespace areal::mpi
