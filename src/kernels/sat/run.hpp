#pragma once
// All tables of one execute, one after another, and each one's part of the workspace: marks of valid pixels; then
// counts and the tilted table; last the sum, which may overwrite the image, and its squares in the same launch.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include "formulas/reversed.hpp"
#include "kernels/primitives/table_geometry.hpp"
#include "kernels/primitives/type_groups.hpp"
#include "kernels/primitives/view_bytes.hpp"
#include "kernels/sat/request.hpp"
#include "kernels/sat/valid.hpp"

namespace areal::kernels {

/// The kernels of one table, or of the sum and its squares, as functions.
template <class Launcher>
struct SatKernels {
  std::size_t (*workspace_bytes)(const TableRequest&) = nullptr;
  /// Arguments are checked; views and request agree, and fit; the workspace held zeros when it was new. Returns false,
  /// and queues nothing, if the device refuses to run all blocks at once.
  bool (*execute)(Launcher&, const TableRequest&, const ConstView& image, const Valid&, const TableViews&,
                  void* workspace) = nullptr;
  /// Along the depth of a volume: depth.hpp.
  void (*depth)(Launcher&, const TableViews&, std::int64_t offset) = nullptr;
  std::size_t shared_bytes = 0;  ///< of the largest block
  /// What the algorithm needs, if it does not support this request on this machine for any views; empty if it does.
  /// None: it supports all.
  std::string (*takes)(Launcher&, const TableRequest&) = nullptr;
  /// What views it needs, if it does not support these; empty if it does. Reads no element. None: it supports any.
  std::string (*fits)(const TableRequest&, const ConstView& image, const TableViews&) = nullptr;
  bool together = false;  ///< `execute` may return false
};

/// The registry of the kernels; each is compiled separately.
template <class Self>
struct SatRegistry {
  using Key = TableRequest;
  template <class Launcher>
  using Kernels = SatKernels<Launcher>;
};
/// areal's own tables, including tilted ones.
struct ProductTables : SatRegistry<ProductTables> {
  template <class Launcher, TypeGroup group>
  static SatKernels<Launcher> find(const TableRequest& request);
};
/// The same from the last row and column on: sums, and sums with squares.
struct ReversedTables : SatRegistry<ReversedTables> {
  template <class Launcher, TypeGroup group>
  static SatKernels<Launcher> find(const TableRequest& request);
};
/// Sums with their squares.
struct SquaresTables : SatRegistry<SquaresTables> {
  template <class Launcher, TypeGroup group>
  static SatKernels<Launcher> find(const TableRequest& request);
};
/// The papers' plain sums.
struct PaperTables : SatRegistry<PaperTables> {
  template <class Launcher, TypeGroup group>
  static SatKernels<Launcher> find(const TableRequest& request);
};

/// No functions if there are none.
template <class Launcher>
SatKernels<Launcher> table_kernels(const TableRequest& request) {
  const Type table = request.types.table;
  auto found = request.reverse   ? kernels_for<Launcher, ReversedTables>(table, request)
               : request.squares ? kernels_for<Launcher, SquaresTables>(table, request)
                                 : kernels_for<Launcher, ProductTables>(table, request);
  if constexpr (has_papers)
    if (!found.execute && !found.takes && !request.squares && !request.reverse)
      found = kernels_for<Launcher, PaperTables>(table, request);
  return found;
}

/// One table of an execute.
template <class Launcher>
struct TableWork {
  TableRequest request;
  SatKernels<Launcher> kernels;
  std::size_t workspace = 0;  ///< where its part begins
  bool wanted = false;
};

/// All of them.
template <class Launcher>
struct SatWork {
  Shape plane;  ///< of the marks of valid pixels
  TableWork<Launcher> count, tilted, sum;
};

/// `request` must outlive the result: the tables refer to its id.
template <class Launcher>
Found<SatWork<Launcher>> Sat::find(const SatRequest& request) {
  Found<SatWork<Launcher>> found;
  SatWork<Launcher>& tables = found.kernels;
  Shape image = request.image;
  if (request.volume) image.batch = table_depth(image, request.border);
  const auto add = [&](TableWork<Launcher>& part, TableRequest table) {
    part = {table, table_kernels<Launcher>(table), found.workspace_bytes, true};
    if (!part.kernels.execute) {
      if (found.missing.empty())
        found.missing = "algorithm " + std::string(table.id) + " for types " + name_of(table.types) +
                        (table.reverse ? ", reversed, has no kernel on " : " has no kernel on ") + Launcher::name;
      return;
    }
    found.workspace_bytes += part.kernels.workspace_bytes(table);
    found.shared_bytes = std::max(found.shared_bytes, part.kernels.shared_bytes);
  };
  if (request.counts()) {
    tables.plane = image;
    tables.plane.channels = 1, tables.plane.layout = Layout::interleaved;
    found.workspace_bytes += Valid::bytes(tables.plane);
    TableRequest count{"lookback", TableKind::pixels, {Type::u8, Type::u32}, tables.plane, request.border};
    count.reverse = request.reverse;
    add(tables.count, count);
  }
  if (request.tilted) add(tables.tilted, {request.id, TableKind::tilted, request.types, image, Border::zero});
  add(tables.sum, {request.id, TableKind::pixels, request.types, image, request.border, request.squares, request.r,
                   request.scan, request.reverse, request.counts(), request.carries});
  found.is_certain = tables.sum.kernels.fits == nullptr && !tables.sum.kernels.together;
  return found;
}

template <class Launcher>
std::string Sat::takes(Launcher& launcher, const SatWork<Launcher>& tables, const SatRequest& request) {
  if (request.squares && request.id != "lookback") return "it makes no table of squares; lookback does";
  return tables.sum.kernels.takes ? tables.sum.kernels.takes(launcher, tables.sum.request) : std::string();
}

template <class Launcher>
void Sat::prepare(Launcher& launcher, const SatRequest&, void* workspace, std::size_t bytes) {
  launcher.clear(workspace, bytes);
}

/// The slices of zeros with which a volume's table begins.
inline std::int64_t zero_slices(const SatRequest& request) { return request.border == Border::none ? 0 : 1; }

/// A kernel's view of a request's tables: in a volume the slices that are not zeros.
inline TableViews planes_of(const SatRequest& request, const Shape& image, const TableViews& views) {
  if (!request.volume) return views;
  const auto slices_of = [&](View view) {
    view.shape.batch = image.batch;
    if (view.data != nullptr) view.data = static_cast<char*>(view.data) + zero_slices(request) * view.batch_pitch;
    return view;
  };
  return {slices_of(views.sum), slices_of(views.squares)};
}

template <class Launcher>
bool run_table(Launcher& launcher, const TableWork<Launcher>& table, const SatRequest& request, const ConstView& image,
               const Valid& valid, const TableViews& views, void* workspace) {
  if (!table.wanted) return true;
  void* const own = static_cast<char*>(workspace) + table.workspace;
  const TableViews planes = planes_of(request, image.shape, views);
  if (!(request.volume && planes.sum.shape.empty()) &&
      !table.kernels.execute(launcher, table.request, image, valid, planes, own))
    return false;
  if (request.volume) table.kernels.depth(launcher, views, zero_slices(request));
  return true;
}

/// From the last row on, and from a volume's last slice.
inline SatArguments turned(const SatArguments& a, bool volume) {
  const auto view = [&](const auto& v) { return formulas::upside_down(v, volume); };
  const auto carry = [&](const Carry& c) { return Carry{c.above, view(c.left)}; };
  return {view(a.image), view(a.sum),    view(a.mask),           view(a.squares),     view(a.tilted),
          view(a.count), carry(a.carry), carry(a.squares_carry), carry(a.count_carry)};
}

template <class Launcher>
std::string Sat::fits(const SatWork<Launcher>& tables, const SatRequest& request, const SatArguments& given) {
  const auto& kernels = tables.sum.kernels;
  if (kernels.fits == nullptr) return {};
  const SatArguments views = request.reverse ? turned(given, request.volume) : given;
  ConstView image = views.image;
  image.shape = tables.sum.request.image;
  return kernels.fits(tables.sum.request, image,
                      planes_of(request, image.shape, {views.sum, views.squares, views.carry, views.squares_carry}));
}

template <class Launcher>
bool Sat::run(Launcher& launcher, const SatWork<Launcher>& tables, const SatRequest& request, const SatArguments& given,
              void* workspace) {
  const SatArguments views = request.reverse ? turned(given, request.volume) : given;
  ConstView image = views.image;
  image.shape = tables.sum.request.image;
  Valid valid;
  if (request.counts()) {
    valid = mark_valid(launcher, image, views.mask, request.ignore_nan, workspace);
    run_table(launcher, tables.count, request,
              ConstView(valid.plane, Type::u8, tables.plane, valid.row, 0, valid.image), {},
              {views.count, {}, views.count_carry}, workspace);
  }
  run_table(launcher, tables.tilted, request, image, valid, {views.tilted}, workspace);
  return run_table(launcher, tables.sum, request, image, valid,
                   {views.sum, views.squares, views.carry, views.squares_carry}, workspace);
}

template <class Visit>
void Sat::memory(const SatRequest&, const SatArguments& views, void* workspace, std::size_t bytes, Visit&& visit) {
  using Use = MemoryRange::Use;
  const bool in_place = views.sum.data == views.image.data;
  const auto add = [&](const char* name, const auto& view, Use use) {
    visit(MemoryRange{name, view.data, bytes_of_view(view), use});
  };
  if (!in_place) add("the image", views.image, Use::input);
  add("the mask", views.mask, Use::input);
  for (const Carry* carry : {&views.carry, &views.squares_carry, &views.count_carry}) {
    add("the carry from above", carry->above, Use::input);
    add("the carry from the left", carry->left, Use::input);
  }
  add("the table", views.sum, in_place ? Use::in_place : Use::output);
  add("the table of squares", views.squares, Use::output);
  add("the tilted table", views.tilted, Use::output);
  add("the table of counts", views.count, Use::output);
  visit(MemoryRange{"the workspace", workspace, bytes, Use::workspace});
}

}  // namespace areal::kernels
