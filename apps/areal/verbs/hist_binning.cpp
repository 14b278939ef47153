#include "hist_binning.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <iterator>
#include "io/help.hpp"
#include "io/numbers.hpp"
#include "io/pixels.hpp"
#include "media/media.hpp"

namespace areal::command {
namespace {

constexpr std::int64_t default_bins = 32;

std::int64_t bins_of(const std::string& text) { return text.empty() ? default_bins : whole_number("--bins", text); }

}  // namespace

void BinningOptions::add_to(CLI::App& verb) {
  begin_group(verb, group::what);
  verb.add_option("--bins", bins, "Number of bins of equal width (default 32); with --joint, per channel")
      ->type_name("N");
  verb.add_option("--range", range,
                  "Range of values that the bins cover (default: the range of the type; 0,1 for floats)")
      ->type_name("LO,HI");
  verb.add_option("--edges", edges, "Increasing edges of the bins instead, as in numpy.histogram")->type_name("A,B,..");
  verb.add_option("--lookup", lookup, "A file with the bin of each pixel value 0, 1, ..; -1 skips the value")
      ->type_name("FILE");
  verb.add_flag("--labels", labels, "A label image: pixel value v is bin v");
  verb.add_option("--ignore-label", ignore_label, "With --labels: skip this label")->type_name("L");
  verb.add_flag("--joint", joint, "Joint bins of all 2 or 3 channels");
  verb.add_flag("--clamp", clamp, "Count values outside the range in the first or last bin instead of skipping them");
}

void BinningOptions::check() const {
  const int rules = !edges.empty() + !lookup.empty() + labels;
  if (rules > 1) refuse("--edges, --lookup and --labels: only one of the three");
  if (!edges.empty() && !bins.empty()) refuse("--bins and --edges: only one of the two");
  if (!range.empty() && rules > 0) refuse("--range: only for bins of equal width");
  if (!lookup.empty() && !bins.empty()) refuse("--bins and --lookup: the file determines the number of bins");
  if (!ignore_label.empty() && !labels) refuse("--ignore-label ", ignore_label, ": needs --labels");
  if (clamp && (labels || !lookup.empty())) refuse("--clamp: only for --bins and --edges");
  if (!bins.empty()) whole_number("--bins", bins, 1, 65535);
  if (!ignore_label.empty()) whole_number("--ignore-label", ignore_label);
  // Range and edges are the same for every image: their constructors throw here.
  if (!range.empty()) {
    const auto [lo, hi] = command::range("--range", range);
    Binning::uniform(bins_of(bins), lo, hi);
  }
  if (!edges.empty()) Binning::edges(number_list("--edges", edges));
}

Binning BinningOptions::of_one_channel(const ConstView& image, const std::string& name, bool is_sequence) const {
  if (!edges.empty()) return Binning::edges(number_list("--edges", edges));
  if (!lookup.empty()) {
    std::vector<std::int32_t> table;
    for (const double value : read_numbers(lookup)) {
      constexpr double most = 65534;
      if (!(value >= -1 && value <= most) || value != std::floor(value))
        refuse("--lookup ", lookup, ": entry ", std::to_string(table.size()),
               " may be a whole number from -1 to 65534");
      table.push_back(static_cast<std::int32_t>(value));
    }
    return Binning::lookup(std::move(table));
  }
  if (labels) {
    std::optional<std::int64_t> ignored;
    if (!ignore_label.empty()) ignored = whole_number("--ignore-label", ignore_label);
    if (is_float(image.type)) refuse("--labels: ", name, " has ", name_of(image.type), " pixels; labels are integers");
    if (!bins.empty()) return Binning::labels(bins_of(bins), ignored);
    if (is_sequence) refuse("--labels: needs --bins for more than one image");
    return Binning::labels(std::max<std::int64_t>(1, labels_in(image)), ignored);
  }
  if (range.empty()) return Binning::of_type(image.type, bins_of(bins));
  const auto [lo, hi] = command::range("--range", range);
  return Binning::uniform(bins_of(bins), lo, hi);
}

Binning BinningOptions::for_image(const ConstView& image, const std::string& name, bool is_sequence) const {
  Binning one = of_one_channel(image, name, is_sequence);
  if (clamp) one = one.clamped();
  if (!joint) return one;
  const std::int64_t channels = image.shape.channels;
  if (channels != 2 && channels != 3)
    refuse("--joint: ", name, " has ", std::to_string(channels), channels == 1 ? " channel" : " channels",
           "; it may have 2 or 3");
  return Binning::joint(std::vector<Binning>(static_cast<std::size_t>(channels), one));
}

std::int64_t BinningOptions::labels_in(const ConstView& image) const {
  const std::int64_t ignored = ignore_label.empty() ? -1 : whole_number("--ignore-label", ignore_label);
  double largest = -1;
  std::vector<double> row(static_cast<std::size_t>(image.shape.width));
  for (std::int64_t y = 0; y < image.shape.height; ++y) {
    load_row(image, y, 0, 0, row);
    for (const double label : row)
      if (label > largest && label != static_cast<double>(ignored)) largest = label;
  }
  return static_cast<std::int64_t>(largest) + 1;
}

std::vector<double> read_numbers(const std::string& path) {
  if (path.ends_with(".npy")) {
    const Array array = media::read_npy(path);
    std::vector<double> values, row(static_cast<std::size_t>(array.shape().width));
    for (std::int64_t y = 0; y < array.shape().height; ++y) {
      load_row(array.view(), y, 0, 0, row);
      values.insert(values.end(), row.begin(), row.end());
    }
    return values;
  }
  const std::string text = media::read_text(path, 16 << 20);  // 65536 numbers, however they are spelled
  std::vector<double> values;
  constexpr std::string_view separators = ", \t\r\n;";
  for (std::size_t from = text.find_first_not_of(separators); from != std::string::npos;
       from = text.find_first_not_of(separators, from)) {
    const std::size_t to = std::min(text.find_first_of(separators, from), text.size());
    values.push_back(number(path + ":", std::string_view(text).substr(from, to - from)));
    from = to;
  }
  if (values.empty()) throw IoError(path + ": holds no numbers");
  return values;
}

}  // namespace areal::command
