#pragma once
// What the papers' integral histograms share: one image of one channel, and a tensor of one inclusive matrix a bin,
// which a first launch sets to 0 and 1. The border is an offset of the tensor and a separate launch that writes zeros;
// a paper's counts are those of border none.

#include "kernels/histogram/run.hpp"
#include "kernels/primitives/fill_border.hpp"
#include "kernels/primitives/pixel_bin.hpp"
#include "kernels/primitives/planes.hpp"
#include "kernels/primitives/table_geometry.hpp"
#include "kernels/primitives/workspace.hpp"

namespace areal::kernels {

inline TensorSize tensor_size(const HistogramRequest& request) {
  const TableGeometry p = table_geometry(request.image, request.border);
  return {p.width, p.height, request.image.empty() ? 0 : request.bins};
}

// ---------------------------------------------------------------- the first launch

struct InitialiseArgs {
  ChannelRule rule;
  Matrix image;
  Planes out;
  std::int64_t width = 0, pixels = 0;
  int bins = 0;
};

template <class T_, class In_>
struct InitialiseConfig {
  using T = T_;
  using In = In_;
};

/// A thread a pixel: 1 in its bin, 0 in all others. Reads 1/b (and the rule's table), writes 1 per element, coalesced.
template <class M, class C>
struct InitialiseTensor {
  using T = typename C::T;
  using In = typename C::In;
  using Args = InitialiseArgs;
  using Shared = NoShared;
  static constexpr int threads = 256, resident = 1;
  M m;
  Args a;

  AREAL_DEVICE void operator()() {
    const std::int64_t i = m.block() * threads + m.thread();
    if (i >= a.pixels) return;
    const std::int64_t y = i / a.width, x = i % a.width;
    const int bin = bin_of_value<In>(m, a.rule, load_element<M, In>(m, a.image.at(y, x, sizeof(In)), a.image.aligned));
    for (int k = 0; k < a.bins; ++k) store(m, a.out.of(k), y, x, static_cast<T>(k == bin));
  }
};

// ---------------------------------------------------------------- all launches

/// The tensor of a plain algorithm: Algorithm<T>(request, size, workspace) allocates from a workspace, and
/// run(launcher, tensor) sums the zeros and ones.
template <class Launcher, class T, template <class> class Algorithm>
struct PlainHistogram {
  static std::size_t workspace_bytes(const HistogramRequest& request) {
    const TensorSize size = tensor_size(request);
    if (size.elements() == 0) return 0;
    Workspace from(nullptr);
    rule(request, from);
    const Algorithm<T> algorithm(request, size, from);
    return from.bytes();
  }

  static void execute(Launcher& launcher, const HistogramRequest& request, const HistogramArguments& views,
                      void* workspace) {
    const ConstView& image = views.image;
    const View& tensor = views.tensor;
    if (request.border != Border::none) fill_border<T>(launcher, tensor);
    const TensorSize size = tensor_size(request);
    if (size.elements() == 0) return;
    Workspace from(workspace);
    InitialiseArgs a;
    a.rule = rule(request, from);
    a.image = matrix(image);
    a.out = planes(tensor, table_geometry(request.image, request.border).offset);
    a.width = size.width, a.pixels = size.width * size.height;
    a.bins = static_cast<int>(size.bins);
    const Algorithm<T> algorithm(request, size, from);
    with_pixel(request.type, [&](auto value) {
      using Config = InitialiseConfig<T, decltype(value)>;
      launcher.template launch<InitialiseTensor, Config>(
          blocks_of(a.pixels, InitialiseTensor<NoMachine, Config>::threads), a, false);
    });
    algorithm.run(launcher, a.out);
  }

  static HistogramKernels<Launcher> kernels() {
    return {&workspace_bytes, &execute};  // its blocks fit the shared memory of every device
  }

 private:
  /// `prepare` copies the rule's table to the begin of the workspace.
  static ChannelRule rule(const HistogramRequest& request, Workspace& from) {
    char* tables = nullptr;
    from.take(tables, static_cast<std::int64_t>(request.tables.size()));
    ChannelRule rule = request.rule.channel[0];
    rule.data = tables + request.table_at[0];
    return rule;
  }
  template <class V>
  static Strides strides_of(const V& view, const void* first) {
    Strides s = strides(view);
    s.batch = 0;
    s.alignment = alignment_of(first, s, size_of(view.type), size_of(view.type));
    return s;
  }
  static Matrix matrix(const ConstView& image) {
    const Strides s = strides_of(image, image.data);
    return {static_cast<char*>(const_cast<void*>(image.data)), s.row, s.alignment != Alignment::bytes};
  }
  static Planes planes(const View& tensor, std::int64_t offset) {
    const Strides s = strides_of(tensor, tensor.data);
    return {static_cast<char*>(tensor.data) + offset * (s.row + s.column), s.row, s.channel,
            s.alignment != Alignment::bytes};
  }
};

}  // namespace areal::kernels
