#include "simt/query.hpp"

#include <algorithm>
#include <variant>
#include "kernels/query/registry.hpp"
#include "simt/launcher.hpp"
#include "simt/view_bytes.hpp"

namespace areal::simt {
namespace {

/// The memory of a request. Inputs may overlap one another (a table may be its own count): the union of their ranges is
/// registered.
class Registrar {
 public:
  explicit Registrar(Launcher& launcher) : launcher_(launcher) {}

  void input(const void* data, std::size_t bytes) {
    if (bytes > 0) inputs_.push_back({static_cast<const char*>(data), static_cast<const char*>(data) + bytes});
  }
  void input(const ConstView& view) { input(view.data, bytes_of_view(view)); }
  void input(const std::optional<TableView>& table) {
    if (table) input(table->view);
  }
  template <class R>
  void input(const kernels::ListOf<R>& list) {
    input(list.data, static_cast<std::size_t>(list.count) * sizeof(R));
    if (list.refused) output("the refused region", list.refused, sizeof *list.refused);
  }
  void input(const kernels::HistogramList& list) { doubles(list.data, list.count * list.bins); }
  void doubles(const double* data, std::int64_t n) { input(data, static_cast<std::size_t>(n) * sizeof(double)); }

  void output(const char* name, void* data, std::size_t bytes) {
    if (bytes > 0) launcher_.add({name, data, bytes, false, true, false});
  }
  /// Answers of 8 bytes.
  void answers(void* data, std::int64_t n) { output("the answers", data, static_cast<std::size_t>(n) * 8); }

  void add_inputs() {
    std::sort(inputs_.begin(), inputs_.end());
    for (std::size_t i = 0; i < inputs_.size();) {
      auto [first, last] = inputs_[i];
      for (++i; i < inputs_.size() && inputs_[i].first < last; ++i) last = std::max(last, inputs_[i].second);
      launcher_.add({"the input", first, static_cast<std::size_t>(last - first), true, false});
    }
  }

 private:
  Launcher& launcher_;
  std::vector<std::pair<const char*, const char*>> inputs_;
};

std::int64_t planes_of(const ConstView& view) { return view.shape.channels * view.shape.batch; }

void add_memory(Registrar& memory, const kernels::SumsRequest& request) {
  memory.input(request.table.view);
  memory.input(request.regions);
  memory.answers(request.out, request.regions.count * planes_of(request.table.view));
}
void add_memory(Registrar& memory, const kernels::StatisticsRequest& request) {
  memory.input(request.sum.view);
  memory.input(request.squares);
  memory.input(request.count);
  memory.input(request.regions);
  memory.answers(request.out, request.regions.count * planes_of(request.sum.view));
}
void add_memory(Registrar& memory, const kernels::BoxesRequest& request) {
  memory.input(request.volume);
  memory.input(request.boxes);
  memory.answers(request.out, request.boxes.count);
}
void add_memory(Registrar& memory, const kernels::RotatedRequest& request) {
  memory.input(request.tilted);
  memory.input(request.regions);
  memory.answers(request.out, request.regions.count);
}
void add_memory(Registrar& memory, const kernels::HistogramsRequest& request) {
  memory.input(request.tensor.view);
  memory.input(request.regions);
  memory.answers(request.out, request.regions.count * request.tensor.bins());
}
void add_memory(Registrar& memory, const kernels::ReduceRequest& request) {
  const kernels::HistogramList& list = request.histograms;
  memory.input(list);
  if (request.edges) memory.doubles(request.edges, list.bins + 1);
  memory.answers(request.out, request.reducer == kernels::Reducer::normalise ? list.count * list.bins : list.count);
}
void add_memory(Registrar& memory, const kernels::DistancesRequest& request) {
  memory.input(request.histograms);
  memory.doubles(request.target, request.histograms.bins);
  memory.answers(request.out, request.histograms.count);
}
void add_memory(Registrar& memory, const kernels::WindowsRequest& request) {
  memory.input(request.sum.view);
  memory.input(request.squares);
  memory.output("the answers", request.out.data, bytes_of_view(request.out));
}
void add_memory(Registrar& memory, const kernels::DistanceMapRequest& request) {
  memory.input(request.tensor.view);
  memory.doubles(request.target, request.tensor.bins());
  memory.output("the answers", request.out.data, bytes_of_view(request.out));
}

void add_memory(Registrar& memory, const kernels::ConvertRequest& request) {
  memory.input(request.from.view);
  if (request.image) memory.input(*request.image);
  memory.output("the table", request.to.data, bytes_of_view(request.to));
}

}  // namespace

std::vector<LaunchCounts> answer(const kernels::RegionRequest& request, const Options& options) {
  Launcher launcher(options);
  Registrar memory(launcher);
  std::visit([&](const auto& known) { add_memory(memory, known); }, request);
  memory.add_inputs();
  kernels::answer(launcher, request);
  return launcher.launches();
}

}  // namespace areal::simt
