#pragma once
// All tables of one execute, one after another, and what each has of the workspace: which pixels count; then counts and
// the tilted table; last the sum, which may take the image's place, and its squares in the same launch.

#include <algorithm>
#include <areal/sat_arguments.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include "kernels/primitives/table_geometry.hpp"
#include "kernels/sat/request.hpp"
#include "kernels/sat/valid.hpp"

namespace areal::kernels {

/// The kernels of one table, or of the sum and its squares, as functions.
template <class Launcher>
struct SatKernels {
  std::size_t (*workspace_bytes)(const TableRequest&) = nullptr;
  /// Everything has been checked; views and request agree; the workspace held zeros when it was new.
  void (*execute)(Launcher&, const TableRequest&, const ConstView& image, const Valid&, const TableViews&,
                  void* workspace) = nullptr;
  /// Along the depth of a volume: depth.hpp.
  void (*depth)(Launcher&, const TableViews&, std::int64_t offset) = nullptr;
  std::size_t shared_bytes = 0;  ///< of the block that has most
};

template <class Launcher>
class SatSchedule {
 public:
  using Find = SatKernels<Launcher> (*)(const TableRequest&);

  /// `find` gives the kernels of a table, or throws.
  SatSchedule(std::string_view id, const SatRequest& request, Find find) : request_(request) {
    Shape image = request.image;
    if (request.volume) image.batch = table_depth(image, request.border);
    Shape plane = image;  // of the bytes that say which pixels count
    plane.channels = 1, plane.layout = Layout::interleaved;
    const auto add = [&](Part& part, const TableRequest& table) {
      part = {table, find(table), workspace_bytes_, true};
      workspace_bytes_ += part.entry.workspace_bytes(table);
      shared_bytes_ = std::max(shared_bytes_, part.entry.shared_bytes);
    };
    if (request.counts()) {
      plane_ = plane;
      workspace_bytes_ += Valid::bytes(plane);
      add(count_, {"lookback", TableKind::pixels, {Type::u8, Type::u32}, plane, request.border});
    }
    if (request.tilted) add(tilted_, {id, TableKind::tilted, request.types, image, Border::zero});
    add(sum_, {id, TableKind::pixels, request.types, image, request.border, request.squares, request.r, request.scan});
  }

  std::size_t workspace_bytes() const { return workspace_bytes_; }
  std::size_t shared_bytes() const { return shared_bytes_; }  ///< of the block that has most

  void execute(Launcher& launcher, const SatArguments& views, void* workspace) const {
    ConstView image = views.image;
    image.shape = sum_.request.image;
    Valid valid;
    if (request_.counts()) {
      valid = mark_valid(launcher, image, views.mask, request_.ignore_nan, workspace);
      run(launcher, count_, ConstView(valid.plane, Type::u8, plane_, valid.row, 0, valid.image), {}, {views.count},
          workspace);
    }
    run(launcher, tilted_, image, valid, {views.tilted}, workspace);
    run(launcher, sum_, image, valid, {views.sum, views.squares}, workspace);
  }

 private:
  struct Part {
    TableRequest request;
    SatKernels<Launcher> entry;
    std::size_t workspace = 0;  ///< where its part begins
    bool wanted = false;
  };

  void run(Launcher& launcher, const Part& part, const ConstView& image, const Valid& valid, const TableViews& tables,
           void* workspace) const {
    if (!part.wanted) return;
    void* const own = static_cast<char*>(workspace) + part.workspace;
    if (!request_.volume) return part.entry.execute(launcher, part.request, image, valid, tables, own);
    const std::int64_t offset = request_.border == Border::none ? 0 : 1;
    const auto slices_of = [&](View table) {
      table.shape.batch = image.shape.batch;
      if (table.data != nullptr) table.data = static_cast<char*>(table.data) + offset * table.batch_pitch;
      return table;
    };
    const TableViews slices{slices_of(tables.sum), slices_of(tables.squares)};
    if (!slices.sum.shape.empty()) part.entry.execute(launcher, part.request, image, valid, slices, own);
    part.entry.depth(launcher, tables, offset);
  }

  SatRequest request_;
  Shape plane_;
  Part count_, tilted_, sum_;
  std::size_t workspace_bytes_ = 0, shared_bytes_ = 0;
};

}  // namespace areal::kernels
