#pragma once
// One case of the summed-area conformance suite: a plan executed on poisoned memory, compared with the oracle.

#include <areal/catalog.hpp>
#include <areal/sat.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "conformance/buffer.hpp"
#include "conformance/guarded_workspace.hpp"
#include "conformance/on_device.hpp"
#include "conformance/oracle.hpp"
#include "conformance/picture.hpp"
#include "conformance/plan_options.hpp"
#include "conformance/reversed.hpp"
#include "conformance/tilted.hpp"
#include "extent.hpp"

namespace areal::conformance {

/// The implementation. The library by default; the suite's proof that it can fail uses broken ones.
struct Subject {
  std::function<std::size_t(const SatPlan&)> workspace_bytes = [](const SatPlan& plan) {
    return plan.workspace_bytes();
  };
  std::function<void(const SatPlan&, GuardedWorkspace&)> prepare =
      [](const SatPlan& plan, GuardedWorkspace& workspace) { workspace.prepare(plan); };
  std::function<void(const SatPlan&, const SatArguments&, GuardedWorkspace&)> execute =
      [](const SatPlan& plan, const SatArguments& arguments, GuardedWorkspace& workspace) {
        plan.execute(arguments, workspace.ready());
      };
};

struct SatCase {
  Shape image;
  TypePair types;
  PlanOptions options;
  Placement in = placements[0], out = placements[0];
  Fill fill = Fill::wild;
  std::uint64_t seed = 1;
};

inline std::string describe(const SatCase& c) {
  const PlanOptions& o = c.options;
  std::string text = std::string(name_of(o.backend)) + ", algorithm " + o.algorithm + ", types " + name_of(c.types) +
                     ", border " + std::string(name_of(o.border)) + ", image " + std::to_string(c.image.width) + "x" +
                     std::to_string(c.image.height) + " channels " + std::to_string(c.image.channels) +
                     (c.image.layout == Layout::planar ? " planar" : "") + " batch " + std::to_string(c.image.batch) +
                     ", in " + c.in.name + ", out " + c.out.name + ", threads " + std::to_string(o.threads) +
                     ", seed " + std::to_string(c.seed);
  if (o.scan != WarpScan::kogge_stone) text += ", warp scan " + std::string(name_of(o.scan));
  if (o.squares) text += ", squares " + std::string(name_of(*o.squares));
  if (o.tilted) text += ", tilted";
  if (o.mask) text += ", mask";
  if (o.ignore_nan) text += ", ignore_nan";
  if (o.volume) text += ", volume";
  if (o.reverse) text += ", reverse";
  if (o.tables == Layout::interleaved) text += ", interleaved tables";
  return text;
}

/// The tables that one execute must give.
struct ExpectedTables {
  Expected sum;
  std::optional<Expected> squares, tilted, count;
};

inline ExpectedTables expected_tables(const SatCase& c, const Values& image, const Values* mask) {
  const PlanOptions& o = c.options;
  std::optional<Values> valid;
  if (o.mask || o.ignore_nan) valid = valid_pixels(image, mask, o.ignore_nan);
  const Values* counts = valid ? &*valid : nullptr;
  const Terms terms = terms_of(image, false, counts);
  const auto sums = o.reverse ? &reversed_sums_of : &sums_of;
  ExpectedTables tables;
  tables.sum = sums(terms, c.types.table, o.border, o.volume);
  if (o.squares) tables.squares = sums(terms_of(image, true, counts), *o.squares, o.border, o.volume);
  if (o.tilted) tables.tilted = tilted_of(terms, c.types.table);
  if (counts) tables.count = sums(ones_of(*valid), Type::u32, o.border, o.volume);
  return tables;
}

/// The memory of one execute.
struct SatMemory {
  Buffer image, mask, sum, squares, tilted, count;

  SatMemory(const SatCase& c, const SatPlan& plan, const Values& image_values, const Values* mask_values) {
    const PlanOptions& o = c.options;
    image = Buffer(image_values, c.in);
    if (mask_values) mask = Buffer(*mask_values, c.in);
    sum = Buffer(c.types.table, plan.table_shape(), c.out, Guard::output);
    if (o.squares) squares = Buffer(*o.squares, plan.table_shape(), c.out, Guard::output);
    if (o.tilted) tilted = Buffer(c.types.table, plan.tilted_shape(), c.out, Guard::output);
    if (o.mask || o.ignore_nan) count = Buffer(Type::u32, plan.count_shape(), c.out, Guard::output);
  }
  SatArguments arguments() const {
    return {image.view(), sum.view(), mask.view(), squares.view(), tilted.view(), count.view()};
  }
  void poison(std::uint8_t byte) {
    for (Buffer* buffer : {&sum, &squares, &tilted, &count}) buffer->poison(byte);
  }
};

/// An execute of a plan on cuda, on a copy of all memory.
inline void execute_on_device(const SatPlan& plan, SatMemory& memory, GuardedWorkspace& workspace) {
  const Stream stream = workspace.stream();
  std::vector<Mirror> mirrors;
  const auto twin = [&](Buffer& buffer) { return mirrors.emplace_back(buffer.bytes(), stream).twin(buffer.view()); };
  const View image = twin(memory.image), sum = twin(memory.sum), mask = twin(memory.mask),
             squares = twin(memory.squares), tilted = twin(memory.tilted), count = twin(memory.count);
  plan.execute({image, sum, mask, squares, tilted, count}, workspace.ready());
  for (Mirror& mirror : mirrors) mirror.back();
  workspace.ready().wait();
}

/// Empty, or the error of an execute: a wrong element, a byte outside, a changed input.
inline std::string fault_in(const SatMemory& memory, const ExpectedTables& expected) {
  const auto check = [](const char* name, const Buffer& buffer, const Expected& table) -> std::string {
    std::string fault = difference(table, values_of(buffer.view()));
    if (fault.empty()) fault = buffer.broken_guard();
    return fault.empty() ? fault : std::string(name) + ": " + fault;
  };
  std::string fault = check("sum", memory.sum, expected.sum);
  if (fault.empty() && expected.squares) fault = check("squares", memory.squares, *expected.squares);
  if (fault.empty() && expected.tilted) fault = check("tilted", memory.tilted, *expected.tilted);
  if (fault.empty() && expected.count) fault = check("count", memory.count, *expected.count);
  if (fault.empty() && memory.image.changed()) fault = "the image was changed";
  if (fault.empty() && memory.mask.changed()) fault = "the mask was changed";
  return fault;
}

/// Empty if the subject keeps the contract, else its first fault. Three executes: an image on a prepared workspace that
/// held 0xA5; another image on the same workspace; the first image on a workspace that held 0xFF, which must give the
/// bits of the first time. On the simulated machine, which takes long, cases have one of the last two in turns.
inline std::string fault_of(const SatCase& c, const Subject& subject = {}) {
  try {
    const SatPlan plan = plan_of(c.image, c.types, c.options);
    const bool on_device = plan.backend() == Backend::cuda;
    const SatPlan copy = plan;  // NOLINT: a plan may be copied, and the copy executes
    const Values image = random_image(c.types.input, c.image, c.fill, c.seed);
    const Values other =
        random_image(c.types.input, c.image, c.options.ignore_nan ? Fill::holes : Fill::exact, ~c.seed);
    std::optional<Values> mask;
    if (c.options.mask) mask = random_mask(Shape{c.image.width, c.image.height, 1, c.image.batch}, c.seed);
    const Values* const masked = mask ? &*mask : nullptr;
    const auto run = [&](const SatPlan& with, SatMemory& memory, std::uint8_t poison, GuardedWorkspace& workspace) {
      memory.poison(poison);
      if (on_device)
        execute_on_device(with, memory, workspace);
      else
        subject.execute(with, memory.arguments(), workspace);
      return workspace.broken_guard();
    };

    const std::size_t bytes = subject.workspace_bytes(plan);
    GuardedWorkspace workspace(bytes, 0xA5);
    subject.prepare(plan, workspace);
    SatMemory first(c, plan, image, masked);
    std::string fault = run(plan, first, 0x5C, workspace);
    if (fault.empty()) fault = fault_in(first, expected_tables(c, image, masked));
    if (!fault.empty()) return fault;

    const bool takes_turns = plan.backend() == Backend::simt && test::extent() != test::Extent::all;
    if (!takes_turns || c.seed % 2 == 0) {
      SatMemory second(c, plan, other, masked);
      fault = run(copy, second, 0xE3, workspace);
      if (fault.empty()) fault = fault_in(second, expected_tables(c, other, masked));
      if (!fault.empty()) return "second execute on one workspace: " + fault;
      if (takes_turns) return {};
    }

    GuardedWorkspace fresh(bytes, 0xFF);
    subject.prepare(copy, fresh);
    SatMemory third(c, plan, image, masked);
    fault = run(copy, third, 0x00, fresh);
    if (fault.empty() && !(third.sum.same_bits(first.sum) && third.squares.same_bits(first.squares) &&
                           third.tilted.same_bits(first.tilted) && third.count.same_bits(first.count)))
      fault = "other bits than on a workspace that held 0xA5";
    if (!fault.empty()) return "on a workspace that held 0xFF: " + fault;
    return {};
  } catch (const Error& error) {
    return std::string("threw: ") + error.what();
  }
}

/// The ids of the family that run on a device backend: ours, which support all options; or the papers', which compute
/// plain sums.
inline std::vector<std::string> device_sat_ids(bool plain_only = false) {
  std::vector<std::string> ids;
  for (const Algorithm& row : algorithms())
    if (row.family == "sat" && row.cuda && row.plain_only == plain_only) ids.emplace_back(row.id);
  return ids;
}
/// Those that take such images.
inline std::vector<std::string> device_sat_ids_that_take(SatCase c) {
  std::vector<std::string> ids = device_sat_ids();
  std::erase_if(ids, [&](const std::string& id) {
    c.options.algorithm = id;
    try {
      plan_of(c.image, c.types, c.options);
      return false;
    } catch (const InvalidArgument&) {
      return true;
    }
  });
  return ids;
}
/// The fault of a case by a named algorithm, but for a refusal by one that does not take all: that is right, too.
inline std::string unless_refused(const PlanOptions& options, const std::string& fault) {
  const std::string& id = options.algorithm;
  const bool may = id == "bands" || id == "relay" || id == "all-partials" || (options.squares && id != "lookback");
  return may && fault.find("threw: algorithm " + id + ": it ") != std::string::npos ? "" : fault;
}
/// The ids of the family that run on the CPU, `auto` first.
inline std::vector<std::string> cpu_sat_ids() {
  std::vector<std::string> ids{"auto"};
  for (const Algorithm& row : algorithms())
    if (row.family == "sat" && row.cpu) ids.emplace_back(row.id);
  return ids;
}
/// Those that take every option. Without `auto`, which is one of them.
inline std::vector<std::string> option_sat_ids() {
  std::vector<std::string> ids;
  for (const Algorithm& row : algorithms())
    if (row.family == "sat" && row.cpu && !row.plain_only) ids.emplace_back(row.id);
  return ids;
}

}  // namespace areal::conformance
