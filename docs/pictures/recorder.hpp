#pragma once
// Turns the simulated machine's trace into what a picture needs: who handed which words to whom, what each warp touched
// and when, and where in the image and in the table that was.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>
#include "simt/engine/op.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {

/// Memory that a kernel knows by a name.
struct Named {
  std::string name;
  const char* begin = nullptr;
  std::size_t bytes = 0;
  int element = 0;                     ///< bytes
  std::int64_t width = 0, height = 0;  ///< of the image or the table, else 0
  int cell = 0;                        ///< bytes that belong together, where it is kept who touched which
};

class Recorder {
 public:
  void add(Named memory) { memory_.push_back(std::move(memory)); }
  /// An array of the workspace, which ends where the next one begins.
  void add(const char* name, const void* begin, int element, int cell = 0) {
    add({name, static_cast<const char*>(begin), 0, element, 0, 0, cell});
  }
  /// The workspace ends here.
  void close(const void* end);

  void operator()(const Event& event);
  /// On standard output.
  void write(const char* name, const char* lane, const std::vector<LaunchCounts>& launches);

 private:
  /// What a warp did to one array at one line of the source, without long pauses: steps of the scheduler, bytes.
  struct Run {
    int launch;
    std::int64_t block;
    int warp;
    const char* what;
    int array;  ///< -1: shared memory
    Site site;
    std::uint64_t from, to, low, high;
  };
  struct Rectangle {
    std::int64_t x0, x1, y0, y1, z0, z1;
  };
  struct Posted {
    std::int64_t block;
    std::uint64_t step;
  };
  struct Word {
    std::int64_t from;
    std::uint64_t posted, read;
    bool from_the_edge;
  };
  struct HandOver {
    int words = 0;
    std::uint64_t posted = 0, read = 0;
  };
  static constexpr std::uint64_t pause = 64;  // steps

  void note(const Event& event, const char* what, int array, std::uint64_t offset);
  void place(const Event& event, int array, std::uint64_t offset);
  void finish_launch();

  std::vector<Named> memory_;
  std::uint64_t last_step_ = 0;
  int launch_ = 0;
  std::vector<std::pair<int, std::int64_t>> tickets_;
  std::map<const char*, std::vector<Posted>> posted_;
  std::map<std::tuple<std::int64_t, int, int>, std::map<std::int64_t, Word>> peeked_;  // block, thread, array
  std::map<std::tuple<int, std::int64_t, int, std::int64_t, bool>, HandOver> handovers_;
  std::map<std::tuple<int, std::int64_t, int, int>, Rectangle> places_;
  std::map<std::tuple<std::int64_t, int, std::string_view, int, int>, std::size_t> open_;  // block .. array, line
  std::vector<Run> runs_;
  std::map<std::tuple<int, std::int64_t, int, std::string_view, int>, std::set<std::uint64_t>> cells_;
};

}  // namespace areal::simt
