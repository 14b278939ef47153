#pragma once
// Queries of tables on a device: their kernels, and the memory that each touches.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include "kernels/primitives/type_groups.hpp"
#include "kernels/primitives/view_bytes.hpp"
#include "kernels/query/request.hpp"

namespace areal::kernels {

template <class Launcher>
struct QueryKernels {
  void (*execute)(Launcher&, const RegionRequest&) = nullptr;
};

/// All queries are compiled together: they distinguish types at run time.
struct Queries {
  struct Key {};
  template <class Launcher>
  using Kernels = QueryKernels<Launcher>;
  template <class Launcher, TypeGroup group>
  static QueryKernels<Launcher> find(const Key&);
};

template <class Launcher>
Found<QueryKernels<Launcher>> Query::find(const Request&) {
  return {kernels_of<Launcher, Queries, TypeGroup::all>({})};
}

template <class Launcher>
void Query::run(Launcher& launcher, const QueryKernels<Launcher>& kernels, const Request&,
                const RegionRequest& arguments, void*) {
  kernels.execute(launcher, arguments);
}

/// Visits the memory that a query touches.
template <class Visit>
class QueryMemory {
 public:
  explicit QueryMemory(Visit& visit) : visit_(visit) {}

  void operator()(const SumsRequest& request) {
    input(request.table.view);
    input(request.regions);
    answers(request.out, request.regions.count * planes_of(request.table.view));
  }
  void operator()(const StatisticsRequest& request) {
    input(request.sum.view);
    input(request.squares);
    input(request.count);
    input(request.regions);
    answers(request.out, request.regions.count * planes_of(request.sum.view));
  }
  void operator()(const BoxesRequest& request) {
    input(request.volume);
    input(request.boxes);
    answers(request.out, request.boxes.count);
  }
  void operator()(const RotatedRequest& request) {
    input(request.tilted);
    input(request.regions);
    answers(request.out, request.regions.count);
  }
  void operator()(const ScatterRequest& request) {
    input(request.regions);
    input(request.values, static_cast<std::size_t>(request.regions.count * planes_of(request.out)) * 8);
    output("the corners", request.out.data, bytes_of_view(request.out));
    visit_(MemoryRange{"the workspace", request.workspace, ScatterRequest::workspace_bytes(request.regions.count),
                       MemoryRange::Use::scratch});
  }
  void operator()(const HistogramsRequest& request) {
    input(request.tensor.view);
    input(request.regions);
    answers(request.out, request.regions.count * request.tensor.bins());
  }
  void operator()(const CountsRequest& request) {
    input(request.image);
    if (request.weights) input(*request.weights);
    input(request.regions);
    for (int c = 0; c < request.rule.channels; ++c) {
      const ChannelRule& rule = request.rule.channel[c];
      const std::size_t size = size_of(request.image.type);
      if (size == 2)
        input(rule.data, sizeof(std::uint16_t) << 16);
      else if (size > 2 && rule.kind != ChannelRule::Kind::labels)
        input(rule.data, (static_cast<std::size_t>(rule.bins) + 1) * sizeof(double));
    }
    answers(request.out, request.regions.count * request.bins);
    if (const std::size_t bytes = CountsRequest::workspace_bytes(request.regions.count); bytes > 0 && !request.weights)
      visit_(MemoryRange{"the workspace", request.workspace, bytes, MemoryRange::Use::scratch});
    if (request.parts && !request.weights)
      visit_(MemoryRange{"the parts", request.parts, CountsRequest::parts_bytes(request.bins),
                         MemoryRange::Use::workspace});
  }
  void operator()(const CompactCountsRequest& request) {
    input(request.store, static_cast<std::size_t>(request.layout.bytes()));
    input(request.regions);
    answers(request.out, request.regions.count * request.layout.bins);
  }
  void operator()(const RankValuesRequest& request) {
    input(request.store, static_cast<std::size_t>(request.layout.bytes()));
    input(request.regions);
    answers(request.out, request.regions.count * request.channels * request.count);
  }
  void operator()(const ReduceRequest& request) {
    const HistogramList& list = request.histograms;
    input(list);
    if (request.edges) doubles(request.edges, list.bins + 1);
    answers(request.out, request.reducer == Reducer::normalise ? list.count * list.bins : list.count);
  }
  void operator()(const DistancesRequest& request) {
    input(request.histograms);
    doubles(request.target, request.histograms.bins);
    answers(request.out, request.histograms.count);
  }
  void operator()(const WindowsRequest& request) {
    input(request.sum.view);
    input(request.squares);
    output("the answers", request.out.data, bytes_of_view(request.out));
  }
  void operator()(const DistanceMapRequest& request) {
    input(request.tensor.view);
    doubles(request.target, request.tensor.bins());
    output("the answers", request.out.data, bytes_of_view(request.out));
  }
  void operator()(const ConvertRequest& request) {
    input(request.from.view);
    if (request.image) input(*request.image);
    output("the table", request.to.data, bytes_of_view(request.to));
  }
  void operator()(const FragmentsRequest& request) {
    input(request.tensor.view);
    const std::size_t boxes_bytes = static_cast<std::size_t>(request.boxes) * sizeof(TrackedBox);
    const std::size_t shares_bytes =
        static_cast<std::size_t>(request.boxes * FragmentTracker::fragments * request.tensor.bins()) * sizeof(double);
    if (request.starts) {
      input(request.box, boxes_bytes);
      output("the shares", request.shares, shares_bytes);
      return;
    }
    visit_(MemoryRange{"the boxes", request.box, boxes_bytes, MemoryRange::Use::in_place});
    if (request.out) output("the boxes' copy", request.out, boxes_bytes);
    input(request.shares, shares_bytes);
    doubles(request.scale, request.scales);
    visit_(MemoryRange{"the votes", request.votes,
                       static_cast<std::size_t>(request.boxes * request.votes_of_a_box()) * 16,
                       MemoryRange::Use::scratch});
  }

 private:
  static std::int64_t planes_of(const ConstView& view) { return view.shape.channels * view.shape.batch; }
  void input(const void* data, std::size_t bytes) {
    visit_(MemoryRange{"the input", data, bytes, MemoryRange::Use::input});
  }
  void input(const ConstView& view) { input(view.data, bytes_of_view(view)); }
  void input(const std::optional<TableView>& table) {
    if (table) input(table->view);
  }
  template <class R>
  void input(const ListOf<R>& list) {
    input(list.data, static_cast<std::size_t>(list.count) * sizeof(R));
    if (list.refused) output("the refused region", list.refused, sizeof *list.refused);
  }
  void input(const HistogramList& list) { doubles(list.data, list.count * list.bins); }
  void doubles(const double* data, std::int64_t n) { input(data, static_cast<std::size_t>(n) * sizeof(double)); }

  void output(const char* name, void* data, std::size_t bytes) {
    visit_(MemoryRange{name, data, bytes, MemoryRange::Use::output});
  }
  /// Answers of 8 bytes.
  void answers(void* data, std::int64_t n) { output("the answers", data, static_cast<std::size_t>(n) * 8); }

  Visit& visit_;
};

template <class Visit>
void Query::memory(const Request&, const RegionRequest& arguments, void*, std::size_t, Visit&& visit) {
  QueryMemory<std::remove_reference_t<Visit>> memory(visit);
  std::visit(memory, arguments);
}

}  // namespace areal::kernels
