#pragma once
/// \file opencv.hpp Views of cv::Mat, and a cv::Mat of a view, without copies. Header-only; needs OpenCV's core
/// headers, and its core library to make a cv::Mat.

#include <areal/error.hpp>
#include <areal/view.hpp>
#include <opencv2/core/mat.hpp>
#include <string>

namespace areal::interop {

namespace detail {

inline Type type_of_depth(int depth) {
  switch (depth) {
    case CV_8U:
      return Type::u8;
    case CV_8S:
      return Type::s8;
    case CV_16U:
      return Type::u16;
    case CV_16S:
      return Type::s16;
    case CV_32S:
      return Type::s32;
    case CV_32F:
      return Type::f32;
    case CV_64F:
      return Type::f64;
    case CV_16F:
      return Type::f16;
    default:
      throw InvalidArgument("mat: its depth " + std::to_string(depth) + " is none that areal has");
  }
}

inline int depth_of_type(Type type) {
  switch (type) {
    case Type::u8:
      return CV_8U;
    case Type::s8:
      return CV_8S;
    case Type::u16:
      return CV_16U;
    case Type::s16:
      return CV_16S;
    case Type::s32:
      return CV_32S;
    case Type::f32:
      return CV_32F;
    case Type::f64:
      return CV_64F;
    case Type::f16:
      return CV_16F;
    default:
      throw InvalidArgument("view: cv::Mat has no elements of " + std::string(name_of(type)) +
                            "; a table can be made of 32s, 32f or 64f");
  }
}

template <class Void>
BasicView<Void> view_of(const cv::Mat& mat) {
  if (mat.empty())
    return BasicView<Void>(nullptr, type_of_depth(mat.depth()), Shape{mat.cols, mat.rows, mat.channels()});
  if (mat.dims != 2) throw InvalidArgument("mat: " + std::to_string(mat.dims) + " dimensions, it may have two");
  return BasicView<Void>(mat.data, type_of_depth(mat.depth()), Shape{mat.cols, mat.rows, mat.channels()},
                         static_cast<std::int64_t>(mat.step[0]));
}

}  // namespace detail

/// The image of a matrix: interleaved channels, the matrix's step as the row pitch. Valid as long as the matrix's
/// memory. O(1). Throws InvalidArgument for more than two dimensions and for a depth that areal lacks.
inline ConstView view_of(const cv::Mat& mat) { return detail::view_of<const void>(mat); }
/// The same, writable.
inline View view_of(cv::Mat& mat) { return detail::view_of<void>(mat); }

/// A matrix over one image or one plane (see `plane`) in host memory. Valid as long as that memory. O(1). Throws
/// InvalidArgument for device memory, a batch, planar channels, extents beyond int, and for 32u, 64u and 64s, which
/// cv::Mat lacks.
inline cv::Mat mat_of(const View& view) {
  const Shape& s = view.shape;
  if (!view.memory.is_host())
    throw InvalidArgument("view: memory of CUDA device " + std::to_string(view.memory.device) +
                          ": a cv::Mat is host memory");
  if (s.batch != 1) throw InvalidArgument("view: batch " + std::to_string(s.batch) + ": a cv::Mat is one image");
  if (s.channels != 1 && s.layout == Layout::planar)
    throw InvalidArgument("view: planar channels; a cv::Mat has interleaved ones, or is one plane");
  constexpr std::int64_t most = 0x7fffffff;
  if (s.width < 0 || s.height < 0 || s.width > most || s.height > most || s.channels < 1 || s.channels > CV_CN_MAX)
    throw InvalidArgument("view: " + std::to_string(s.width) + "x" + std::to_string(s.height) + ", " +
                          std::to_string(s.channels) + " channels do not fit a cv::Mat");
  const int type = CV_MAKETYPE(detail::depth_of_type(view.type), static_cast<int>(s.channels));
  return cv::Mat(static_cast<int>(s.height), static_cast<int>(s.width), type, view.data,
                 s.height > 1 ? static_cast<std::size_t>(view.row_pitch) : std::size_t{cv::Mat::AUTO_STEP});
}

}  // namespace areal::interop
