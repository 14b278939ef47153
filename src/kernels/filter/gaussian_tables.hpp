#pragma once
// The workspace of Gaussians: tables of weights and shares, which `prepare` copies there, then the columns' results of
// a band of rows.

#include <algorithm>
#include <areal/filter.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <variant>
#include <vector>
#include "formulas/gaussian.hpp"
#include "kernels/filter/request.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

inline bool is_gaussian(const FilterRequest& request) {
  return std::holds_alternative<filter::Gaussian>(request.filter);
}

/// The axes of a request for a Gaussian.
struct GaussianAxes {
  formulas::GaussianAxis columns, rows;  ///< along a row, down a column

  explicit GaussianAxes(const FilterRequest& request)
      : GaussianAxes(std::get<filter::Gaussian>(request.filter), request.id) {}
  GaussianAxes(const filter::Gaussian& filter, const std::string& id)
      : columns(filter, filter.sigma_x, id), rows(filter, filter.sigma_y, id) {}
};

/// Bytes of the columns' results of a band.
inline constexpr std::int64_t gaussian_band_bytes = std::int64_t{96} << 20;

/// Rows and planes of a band; a row of results has one number more than the image, which stands beyond the edge.
struct GaussianBands {
  std::int64_t rows, planes, row;
  explicit GaussianBands(const FilterRequest& request) : row(request.columns.extent + 1) {
    const std::int64_t all = std::max<std::int64_t>(1, request.image.channels * request.image.batch);
    const std::int64_t height = request.rows.outputs;
    const std::int64_t fit = std::max<std::int64_t>(1, gaussian_band_bytes / (8 * row));
    rows = std::min(height, fit), planes = std::clamp<std::int64_t>(fit / std::max<std::int64_t>(1, height), 1, all);
  }
};

/// Where the arrays of a workspace lie.
struct GaussianWorkspace {
  double *weights = nullptr, *down_weights = nullptr, *shares = nullptr, *down_shares = nullptr, *between = nullptr;
  std::size_t bytes = 0, table_bytes = 0;

  GaussianWorkspace(const FilterRequest& request, void* memory) {
    Workspace workspace(memory);
    const GaussianAxes axes(request);
    const bool shrinks = request.columns.edge == Edge::shrink;
    workspace.take(weights, axes.columns.passes == 0 ? axes.columns.reach + 1 : 0);
    workspace.take(down_weights, axes.rows.passes == 0 ? axes.rows.reach + 1 : 0);
    workspace.take(shares, shrinks ? request.columns.outputs : 0);
    workspace.take(down_shares, shrinks ? request.rows.outputs : 0);
    const GaussianBands bands(request);
    workspace.take(between, bands.row * bands.rows * bands.planes);
    bytes = workspace.bytes();
    table_bytes = static_cast<std::size_t>(reinterpret_cast<char*>(between) - reinterpret_cast<char*>(weights));
  }
};

/// What `prepare` copies to the begin of the workspace.
inline std::vector<char> gaussian_table(const FilterRequest& request) {
  const GaussianWorkspace at(request, nullptr);
  const GaussianAxes axes(request);
  const auto& filter = std::get<filter::Gaussian>(request.filter);
  std::vector<char> table(at.table_bytes);
  const auto put = [&](const double* to, const std::vector<double>& numbers) {
    std::memcpy(table.data() + (reinterpret_cast<const char*>(to) - reinterpret_cast<const char*>(at.weights)),
                numbers.data(), numbers.size() * sizeof(double));
  };
  const auto put_axis = [&](const formulas::GaussianAxis& axis, double sigma, const formulas::WindowAxis& window,
                            const double* weights, const double* shares) {
    std::vector<double> numbers;
    if (axis.passes == 0) put(weights, numbers = formulas::gaussian_weights(sigma, axis.reach));
    if (window.edge == Edge::shrink) put(shares, formulas::gaussian_shares(axis, numbers, window));
  };
  put_axis(axes.columns, filter.sigma_x, request.columns, at.weights, at.shares);
  put_axis(axes.rows, filter.sigma_y, request.rows, at.down_weights, at.down_shares);
  return table;
}

}  // namespace areal::kernels
