// Doors of tables that one plan computes.

#include <areal/research/sat.hpp>
#include <areal/sat.hpp>

#include "door.hpp"
#include "run.hpp"
#include "tables.hpp"

namespace doors {
namespace {

areal::SatOptions watched_options(const Question& q) {
  areal::SatOptions options = sat_options(q);
  options.progress = q.progress();
  return options;
}

std::shared_ptr<TableRooms> rooms_for(const areal::SatPlan& plan, const Question& q, std::byte fill = poison) {
  auto rooms = std::make_shared<TableRooms>();
  const Lie lie = lie_of_outputs(q);
  const areal::MemoryPlace place = place_of(q);
  rooms->sum.emplace(plan.table_shape(), plan.types().table, lie, place, fill);
  if (const auto type = plan.squares_type()) rooms->squares.emplace(plan.table_shape(), *type, lie, place, fill);
  if (plan.options().tilted) rooms->tilted.emplace(plan.tilted_shape(), plan.types().table, lie, place, fill);
  if (plan.options().mask || plan.options().ignore_nan)
    rooms->count.emplace(plan.count_shape(), areal::Type::u32, lie, place, fill);
  return rooms;
}

areal::SatArguments arguments_of(const Inputs& inputs, TableRooms& rooms) {
  areal::SatArguments arguments{inputs.image_view(), rooms.sum->view(), inputs.mask_view()};
  if (rooms.squares) arguments.squares = rooms.squares->view();
  if (rooms.tilted) arguments.tilted = rooms.tilted->view();
  if (rooms.count) arguments.count = rooms.count->view();
  return arguments;
}

void expect_equal_rooms(TableRooms& a, TableRooms& b, const std::string& what) {
  const auto same = [&what](std::optional<Room>& one, std::optional<Room>& other, const char* name) {
    if (one) expect_equal(one->take(name), other->take(name), what + ": " + name);
  };
  same(a.sum, b.sum, "the sums");
  same(a.squares, b.squares, "the squares");
  same(a.tilted, b.tilted, "the tilted table");
  same(a.count, b.count, "the counts");
}

/// Twice with one workspace, into memory that holds other bytes.
Tables execute_twice(const Question& q, const areal::SatPlan& plan) {
  Inputs inputs(q);
  auto first = rooms_for(plan, q, other_poison);
  auto second = rooms_for(plan, q);
  GuardedWorkspace workspace(plan, q);
  plan.check(arguments_of(inputs, *first));
  plan.execute(arguments_of(inputs, *first), workspace.get());
  const areal::SatPlan copy = plan;  // which is the same plan
  copy.execute(arguments_of(inputs, *second), workspace.get());
  workspace.finish();
  inputs.expect_unchanged();
  expect_equal_rooms(*first, *second, "two executes with one workspace");
  Tables tables = tables_in(second, q, plan.types());
  tables.ran = plan.algorithm();
  return tables;
}

Json direct(const Question& q) {
  const Running running(q);
  const Elements image = image_elements(q);
  return respond(q, execute_twice(q, areal::SatPlan(image.shape, image.type, watched_options(q), running.execution())));
}
Json on_cpu(const Question& q) { return direct(q.with("backend", "cpu")); }
Json on_simt(const Question& q) { return direct(q.with("backend", "simt")); }
Json on_cuda(const Question& q) { return direct(q.with("backend", "cuda")); }

Json research(const Question& q) {
  const Running running(q);
  const Elements image = image_elements(q);
  areal::research::SatParameters parameters;
  if (q.has_param("r")) parameters.r = number_of(q.param("r"));
  if (q.has_param("scan")) {
    const auto scan = areal::warp_scan_named(q.word("scan"));
    if (!scan) throw BadQuestion("scan: " + q.word("scan"));
    parameters.scan = *scan;
  }
  return respond(q, execute_twice(q, areal::research::sat_plan(image.shape, image.type, watched_options(q), parameters,
                                                               running.execution())));
}

Tables of_table(const Question& q, std::shared_ptr<areal::SatTable> table) {
  Tables tables;
  const areal::SatTable& made = *table;
  tables.sum = made.sum();
  tables.squares = made.squares();
  tables.tilted = made.tilted();
  tables.count = made.count();
  tables.border = made.border();
  tables.types = made.types();
  tables.volume = made.is_volume();
  tables.reverse = made.is_reversed();
  if (made.border() != border_of(q) || made.is_volume() != q.flag("volume") || made.is_reversed() != q.flag("reverse"))
    throw Failed("the table says that it has another border or kind than was asked for");
  tables.of = std::move(table);
  return tables;
}

/// Into the tables that the plan allocates.
Json allocated(const Question& q) {
  const Running running(q);
  Inputs inputs(q);
  const areal::SatPlan plan(inputs.image_view().shape, inputs.image_view().type, watched_options(q),
                            running.execution());
  auto table = std::make_shared<areal::SatTable>(plan.allocate(place_of(q)));
  areal::Workspace workspace(plan);
  plan.execute(inputs.image_view(), *table, workspace, inputs.mask_view());
  workspace.wait();
  inputs.expect_unchanged();
  Tables tables = of_table(q, table);
  tables.ran = plan.algorithm();
  return respond(q, tables);
}

Json one_line(const Question& q) {
  Inputs inputs(q);
  auto table = std::make_shared<areal::SatTable>(
      areal::sat(inputs.image_view(), watched_options(q), execution_of(q), inputs.mask_view()));
  inputs.expect_unchanged();
  return respond(q, of_table(q, table));
}

/// Copied to the host, and from there to the host once more.
Json copied(const Question& q) {
  Inputs inputs(q);
  const areal::SatTable table =
      areal::sat(inputs.image_view(), watched_options(q), execution_of(q), inputs.mask_view());
  auto copy = std::make_shared<areal::SatTable>(table.copy_to({}).copy_to({}));
  return respond(q, of_table(q, copy));
}

/// One plan, executed by several threads at once.
Json parallel(const Question& q) {
  const Running running(q);
  Inputs inputs(q);
  const areal::SatPlan plan(inputs.image_view().shape, inputs.image_view().type, sat_options(q), running.execution());
  std::vector<std::shared_ptr<TableRooms>> rooms(static_cast<std::size_t>(q.number("parallel", 3)));
  for (auto& room : rooms) room = rooms_for(plan, q);
  on_threads(static_cast<int>(rooms.size()), [&rooms, &inputs, &plan, &q](int i) {
    GuardedWorkspace workspace(plan, q);
    plan.execute(arguments_of(inputs, *rooms[static_cast<std::size_t>(i)]), workspace.get());
    workspace.finish();
  });
  inputs.expect_unchanged();
  for (auto& room : rooms) expect_equal_rooms(*rooms.front(), *room, "executes of one plan on several threads");
  Tables tables = tables_in(rooms.front(), q, plan.types());
  tables.ran = plan.algorithm();
  return respond(q, tables);
}

/// The sums where the image was, in its layout unless the question names another.
Json in_place(const Question& asked) {
  const Question q =
      asked.has_param("tables") ? asked : asked.with_param("tables", asked.text("layout", "interleaved"));
  const Running running(q);
  const Elements image = image_elements(q);
  const areal::SatPlan plan(image.shape, image.type, watched_options(q), running.execution());
  GuardedWorkspace workspace(plan, q);
  std::optional<Elements> before;
  Tables tables;
  for (int run = 0; run < 2; ++run) {
    Inputs inputs(q);
    auto rooms = rooms_for(plan, q);
    areal::SatArguments arguments = arguments_of(inputs, *rooms);
    arguments.sum = inputs.image.view();
    arguments.sum.type = plan.types().table;
    arguments.sum.shape = plan.table_shape();
    plan.execute(arguments, workspace.get());
    workspace.finish();
    Elements sums = gather(areal::ConstView(arguments.sum));
    if (before) expect_equal(*before, sums, "two executes in place");
    before = sums;
    (void)inputs.image.take("the image that became sums");
    tables = tables_in(rooms, q, plan.types());
    struct Both {
      std::shared_ptr<void> rooms;
      Inputs inputs;
    };
    tables.sum = arguments.sum;
    tables.keep = std::make_shared<Both>(Both{rooms, std::move(inputs)});
  }
  tables.ran = plan.algorithm();
  return respond(q, tables);
}

const std::vector<std::string_view> all = {"table", "regions", "window"};
const std::vector<Door> doors = {
    {"direct", all, direct},     {"cpu-algorithms", all, on_cpu}, {"simt", all, on_simt},      {"cuda", all, on_cuda},
    {"research", all, research}, {"allocated", all, allocated},   {"one-line", all, one_line}, {"copied", all, copied},
    {"parallel", all, parallel}, {"in-place", all, in_place}};

}  // namespace

std::span<const Door> table_doors() { return doors; }

}  // namespace doors
