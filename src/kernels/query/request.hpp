#pragma once
// Queries of tables that stay on a device. Requests are checked; every pointer and view is in the machine's memory, and
// spans of 8-byte elements are aligned.

#include <areal/histogram_measures.hpp>
#include <areal/region.hpp>
#include <areal/region_quantile.hpp>
#include <areal/table.hpp>
#include <areal/track.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include "formulas/compact.hpp"
#include "formulas/corners.hpp"
#include "formulas/rank.hpp"
#include "formulas/window_axis.hpp"
#include "kernels/plan.hpp"
#include "kernels/primitives/pixel_rule.hpp"
#include "kernels/query/sort_space.hpp"

namespace areal::kernels {

/// N regions or boxes, and what to do with those that reach outside.
template <class R>
struct ListOf {
  const R* data = nullptr;
  std::int64_t count = 0;
  Outside outside = Outside::error;
  std::int64_t* refused = nullptr;  ///< or null
};
using RegionList = ListOf<Region>;
using BoxList = ListOf<Box>;

enum class Statistic : std::uint8_t { sum, mean, variance, standard_deviation };

struct SumsRequest {
  TableView table;
  RegionList regions;
  void* out;  ///< 8 bytes a region and plane of the table
  bool real;  ///< double, or integers of the table's signedness
};

struct StatisticsRequest {
  Statistic statistic;  ///< no sum
  TableView sum;
  std::optional<TableView> squares, count;
  RegionList regions;
  double* out;  ///< one a region and plane of the sums
};

struct BoxesRequest {
  ConstView volume;
  Border border;
  formulas::Extents extents;  ///< of the volume, in pixels
  BoxList boxes;
  double* out;
};

struct RotatedRequest {
  ConstView tilted;
  RegionList regions;  ///< never clipped
  double* out;
};

struct ScatterRequest {
  RegionList regions;  ///< fewer than 2^30
  const void* values;  ///< 8 bytes a region and plane of the output: double for floats, else integers
  View out;
  Border border;
  void* workspace;  ///< of workspace_bytes

  static std::size_t workspace_bytes(std::int64_t regions) { return SortSpace::bytes(4 * regions); }
};

struct HistogramsRequest {
  TensorView tensor;
  RegionList regions;
  void* out;  ///< 8 bytes a region and bin
  bool real;  ///< double, or std::uint64_t
};

/// Histograms of regions straight from the pixels of one image.
struct CountsRequest {
  ConstView image;
  PixelRule rule;  ///< its `data` is the machine's; for bytes, 256 bins of each channel on the host
  int bins = 0;
  std::uint32_t scale = 0;  ///< if not 0, a pixel's bin is pixel * scale / 65536
  RegionList regions;
  void* out = nullptr;  ///< 8 bytes a region and bin: std::uint64_t, with weights double
  std::optional<ConstView> weights = {};
  void* workspace = nullptr;  ///< of workspace_bytes, aligned to 8 bytes
  void* parts = nullptr;      ///< of parts_bytes, aligned to 16, zeroed once before all requests; null: a launch more

  static constexpr std::int64_t most_parts = 1024;
  /// A sum for each 256 regions, if there are more than 1024.
  static std::size_t workspace_bytes(std::int64_t regions) {
    return regions <= 1024 ? 0 : static_cast<std::size_t>((regions + 255) / 256) * 8;
  }
  /// Histograms that the blocks of a launch hand on; 0 for more bins than that pays for.
  static std::size_t parts_bytes(std::int64_t bins) {
    return bins > 64 ? 0 : 16 + static_cast<std::size_t>(most_parts * bins) * 8;
  }
};

/// Histograms of regions of one image of a compact store.
struct CompactCountsRequest {
  formulas::Compact layout;
  const void* store = nullptr;  ///< layout.bytes(), aligned to 32
  std::int64_t image = 0;
  RegionList regions;
  void* out = nullptr;                         ///< 8 bytes a region and bin
  bool real = false;                           ///< double, or std::uint64_t
  std::int64_t most = formulas::compact_most;  ///< that a pair of strips counts; tests make it smaller
};

/// Quantiles, percentiles and counts of regions of one image of a rank store.
struct RankValuesRequest {
  enum class What : std::uint8_t { quantiles, percentiles, counts_below };
  What what = What::quantiles;
  QuantileMethod method = QuantileMethod::linear;
  formulas::Rank layout;
  const void* store = nullptr;  ///< layout.bytes(), aligned to 32
  std::int64_t image = 0, channels = 1;
  Type type = Type::u8;
  bool may_have_nan = false;  ///< floats
  RegionList regions;
  std::int64_t count = 0;               ///< of what is given, on the host:
  const double* given = nullptr;        ///< quantiles or percents
  const std::uint64_t* keys = nullptr;  ///< for counts_below; those beyond the layout's planes are above all pixels
  void* out = nullptr;                  ///< 8 bytes a region, channel and number given: double, or std::uint64_t
};

/// N histograms, row by row.
struct HistogramList {
  const double* data = nullptr;
  std::int64_t count = 0, bins = 0;
};

enum class Reducer : std::uint8_t { normalise, entropy, percentile, mode, mean };

struct ReduceRequest {
  Reducer reducer;
  HistogramList histograms;
  const double* edges;  ///< for percentile and mean
  double percent;
  void* out;  ///< 8 bytes a histogram: double, for mode std::int64_t; for normalise 8 bytes a bin
};

struct DistancesRequest {
  Distance measure;
  HistogramList histograms;
  const double* target;
  double* out;
};

struct WindowsRequest {
  Statistic statistic;
  TableView sum;
  std::optional<TableView> squares;
  formulas::WindowAxis columns, rows;
  View out;
  formulas::CellBeyond beyond = {}, squares_beyond = {};  ///< for edge `constant`
  Rounding rounding = Rounding::nearest;
  bool walks = false;  ///< sums and means inside by WindowWalk, where it takes them
};

struct ConvertRequest {
  TableView from;
  View to;
  Border to_border;
  std::optional<ConstView> image;  ///< if `to` has elements that `from` lacks
};

struct DistanceMapRequest {
  TensorView tensor;
  std::int64_t width, height;  ///< of the window
  const double* target;
  Distance measure;
  View out;
};

/// Boxes that are followed by their fragments: the first frame, or a step. All sizes fit 31 bits.
struct FragmentsRequest {
  static constexpr std::int64_t places = 16;  ///< places of a block, in a row
  TensorView tensor;
  bool starts = false;  ///< writes `shares`, for boxes in whole pixels; otherwise updates `box`
  std::int64_t boxes = 0, scales = 0;
  std::int64_t radius = 0;
  std::int64_t rows = 0, columns = 0;  ///< the most places of a box in a column and in a row
  int rank = 1;                        ///< the rank of the vote that counts among a place's 40 votes; from 1
  double scale_cost = 0;
  const double* scale = nullptr;  ///< the first is 1
  TrackedBox* box = nullptr;
  TrackedBox* out = nullptr;  ///< gets the boxes too, or null
  double* shares = nullptr;   ///< boxes x fragments x bins
  void* votes = nullptr;      ///< 16 bytes for each of boxes x votes_of_a_box, aligned to that

  std::int64_t chunks() const { return (columns + places - 1) / places; }
  std::int64_t votes_of_a_box() const { return scales * rows * chunks(); }
};

using RegionRequest =
    std::variant<SumsRequest, StatisticsRequest, BoxesRequest, RotatedRequest, ScatterRequest, HistogramsRequest,
                 CountsRequest, CompactCountsRequest, RankValuesRequest, ReduceRequest, DistancesRequest,
                 WindowsRequest, DistanceMapRequest, ConvertRequest, FragmentsRequest>;

template <class Launcher>
struct QueryKernels;

/// The subject `query` of a DevicePlan: everything is in the arguments. Its members are in run.hpp.
struct Query {
  struct Request {};
  using Arguments = RegionRequest;

  template <class Launcher>
  static Found<QueryKernels<Launcher>> find(const Request& request);
  template <class Launcher>
  static void prepare(Launcher&, const Request&, void*, std::size_t) {}
  template <class Launcher>
  static void run(Launcher& launcher, const QueryKernels<Launcher>& kernels, const Request& request,
                  const RegionRequest& arguments, void* workspace);
  template <class Visit>
  static void memory(const Request& request, const RegionRequest& arguments, void* workspace, std::size_t bytes,
                     Visit&& visit);
  static std::string words(const Request&) { return "queries"; }
};

}  // namespace areal::kernels
