#pragma once
// What the warps of a launch ask of the memories, request by request, as JSON for draw.py: for pictures of small
// inputs, in which each element is seen.

#include <cstdint>
#include <map>
#include <string>
#include <vector>
#include "simt/checks/requests.hpp"
#include "simt/launcher.hpp"

namespace areal::simt {

class WarpLog final : public Witness {
 public:
  /// Memory that is known by a name: so many rows of `width` elements. What nobody named is left out.
  void name(const char* name, const void* first, std::int64_t width, std::int64_t rows, int element = 4);
  /// For a launcher that tells this log. Nothing is registered, so that addresses stay what they are: the tests are
  /// where accesses are checked.
  Options options();
  /// On standard output.
  void write(const std::string& name) const;

  void requested(std::int64_t block, int warp, const Request& request, const Sites::Entry& site) override;
  void barrier(std::int64_t block) override { ++met_[block]; }
  void launch_ended(const LaunchCounts& launch) override;

 private:
  struct Array {
    std::string name;
    std::uint64_t first;
    std::int64_t width, rows;
    int element;  ///< bytes
  };
  struct Asked {
    std::size_t launch;
    std::int64_t block;
    int warp, met;  ///< how often the block had met
    Op op;
    int array;  ///< -1: shared memory
    std::uint32_t lanes;
    std::vector<std::uint64_t> elements;  ///< of the array, or of shared memory
  };

  std::vector<Array> arrays_;
  std::vector<Asked> asked_;
  std::vector<LaunchCounts> launches_;
  std::map<std::int64_t, int> met_;
};

/// Writes several logs as one case.
class Logs {
 public:
  explicit Logs(const char* name);
  ~Logs();
  Logs(const Logs&) = delete;
  Logs& operator=(const Logs&) = delete;

  void add(const WarpLog& log, const std::string& name);

 private:
  bool first_ = true;
};

}  // namespace areal::simt
