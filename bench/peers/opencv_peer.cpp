// OpenCV as a peer of `areal bench`: a separate plug-in, so that the command does not need OpenCV.
#include <opencv2/core.hpp>
#include <opencv2/core/version.hpp>
#include <opencv2/imgproc.hpp>

extern "C" const char* areal_cv_version() { return CV_VERSION; }

// Types are areal::Type: 0 is 8u, 5 is 32s, 9 is 32f, 10 is 64f.
extern "C" bool areal_cv_integral(const void* pixels, int type, std::int64_t width, std::int64_t height, void* table,
                                  int table_type, void* squares, void* tilted, int threads) {
  const auto depth = [](int t) { return t == 0 ? CV_8U : t == 5 ? CV_32S : t == 9 ? CV_32F : t == 10 ? CV_64F : -1; };
  if (depth(type) < 0 || depth(table_type) < 0) return false;
  cv::setNumThreads(threads);
  const int w = static_cast<int>(width), h = static_cast<int>(height);
  try {
    const cv::Mat image(h, w, depth(type), const_cast<void*>(pixels));
    cv::Mat sum(h + 1, w + 1, depth(table_type), table);
    if (squares == nullptr) {
      cv::integral(image, sum, depth(table_type));
    } else {
      cv::Mat square_sum(h + 1, w + 1, CV_64F, squares);
      if (tilted == nullptr) {
        cv::integral(image, sum, square_sum, depth(table_type), CV_64F);
      } else {
        cv::Mat tilted_sum(h + 1, w + 1, depth(table_type), tilted);
        cv::integral(image, sum, square_sum, tilted_sum, depth(table_type), CV_64F);
      }
    }
    return sum.data == table;  // otherwise it computed into its own memory
  } catch (const cv::Exception&) {
    return false;
  }
}

// From 8u: into 8u, or squared into 32f. Borders are OpenCV's default.
extern "C" bool areal_cv_box_filter(const void* pixels, std::int64_t width, std::int64_t height, std::int64_t side,
                                    bool squared, void* out, int threads) {
  cv::setNumThreads(threads);
  const int w = static_cast<int>(width), h = static_cast<int>(height);
  try {
    const cv::Mat image(h, w, CV_8U, const_cast<void*>(pixels));
    const cv::Size window(static_cast<int>(side), static_cast<int>(side));
    cv::Mat filtered(h, w, squared ? CV_32F : CV_8U, out);
    if (squared)
      cv::sqrBoxFilter(image, filtered, CV_32F, window);
    else
      cv::boxFilter(image, filtered, CV_8U, window);
    return filtered.data == out;
  } catch (const cv::Exception&) {
    return false;
  }
}

// cv::calcHist of each box (x, y, width, height) of an 8u image, into bins of equal width over 0 to 256.
extern "C" bool areal_cv_histograms(const void* pixels, std::int64_t width, std::int64_t height,
                                    const std::int64_t* boxes, std::int64_t count, std::int64_t bins,
                                    std::uint64_t* out, int threads) {
  cv::setNumThreads(threads);
  try {
    const cv::Mat image(static_cast<int>(height), static_cast<int>(width), CV_8U, const_cast<void*>(pixels));
    const int channel = 0, sizes = static_cast<int>(bins);
    const float range[] = {0, 256};
    const float* ranges = range;
    cv::Mat histogram;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t* const b = boxes + 4 * i;
      const cv::Mat box = image(
          cv::Rect(static_cast<int>(b[0]), static_cast<int>(b[1]), static_cast<int>(b[2]), static_cast<int>(b[3])));
      cv::calcHist(&box, 1, &channel, cv::Mat(), histogram, 1, &sizes, &ranges);
      for (int k = 0; k < sizes; ++k) *out++ = static_cast<std::uint64_t>(histogram.at<float>(k));
    }
    return true;
  } catch (const cv::Exception&) {
    return false;
  }
}
