#include "chart.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <vector>

namespace areal::command {
namespace {

// A bar of full blocks, and a last block with eighths of a cell.
std::string bar(double cells) {
  static constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string text;
  const auto units = static_cast<std::int64_t>(std::lround(cells * 8));
  for (std::int64_t i = 0; i < units / 8; ++i) text += "█";
  return text + eighths[units % 8];
}

}  // namespace

std::string chart(const std::string& title, std::span<const double> histogram, std::span<const double> edges,
                  int columns) {
  std::vector<std::string> names, counts;
  std::size_t name_width = 0, count_width = 0;
  double most = 0;
  for (std::size_t i = 0; i < histogram.size(); ++i) {
    // Bins of labels, look-up tables and joint histograms have no edges: show their numbers.
    names.push_back(edges.size() == histogram.size() + 1 ? fmt::format("{:g} .. {:g}", edges[i], edges[i + 1])
                                                         : std::to_string(i));
    counts.push_back(fmt::format("{:.6g}", histogram[i]));
    if (histogram[i] == std::floor(histogram[i]) && std::abs(histogram[i]) < 1e15)
      counts.back() = fmt::format("{:.0f}", histogram[i]);
    name_width = std::max(name_width, names.back().size());
    count_width = std::max(count_width, counts.back().size());
    if (histogram[i] > most) most = histogram[i];
  }
  const double bar_width =
      std::max(8.0, static_cast<double>(columns) - static_cast<double>(name_width + count_width + 4));
  std::string text = title + "\n";
  for (std::size_t i = 0; i < histogram.size(); ++i)
    text += fmt::format("{:>{}}  {:>{}}  {}\n", names[i], name_width, counts[i], count_width,
                        most > 0 && histogram[i] > 0 ? bar(bar_width * histogram[i] / most) : "");
  return text;
}

int terminal_columns() {
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 20) return window.ws_col;
  return 80;
}

}  // namespace areal::command
