#pragma once
// The options of `areal hist` that define the bins.

#include <areal/binning.hpp>
#include <areal/view.hpp>
#include <string>

namespace CLI {
class App;
}

namespace areal::command {

struct BinningOptions {
  std::string bins, range, edges, lookup, ignore_label;
  bool labels = false, joint = false, clamp = false;

  void add_to(CLI::App& verb);
  /// Checks what does not depend on an image. Throws InvalidArgument.
  void check() const;
  /// The binning for an image. Labels without --bins are scanned for the largest label, which only a single image
  /// allows. Throws InvalidArgument.
  Binning for_image(const ConstView& image, const std::string& name, bool is_sequence) const;
  /// Does the number of bins depend on the largest label?
  bool counts_labels() const noexcept { return labels && bins.empty(); }
  /// One more than the largest label of the image; 0 without a label.
  std::int64_t labels_in(const ConstView& image) const;

 private:
  Binning of_one_channel(const ConstView& image, const std::string& name, bool is_sequence) const;
};

/// The numbers of a text file, separated by commas, spaces or lines; or the elements of an .npy.
std::vector<double> read_numbers(const std::string& path);

}  // namespace areal::command
