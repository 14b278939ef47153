#pragma once
// The regions that a person has drawn, shared by all tabs that show the picture.

#include <areal/region.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace areal::view {

struct DrawnRegion {
  std::int64_t id = 0;  // from 1 on, never given twice
  std::string name;     // may be empty
  Region box;
  friend bool operator==(const DrawnRegion&, const DrawnRegion&) = default;
};

class Regions {
 public:
  static constexpr std::size_t most = 10'000, longest_name = 64;

  /// Of a picture of that size.
  Regions(std::int64_t width, std::int64_t height) : width_(width), height_(height) {}

  /// Adds a region with a new id if `id` is 0, else changes that region; returns its id. Throws InvalidArgument for an
  /// unknown id, an empty box or one that reaches outside the picture, one region too many, and a name of more than 64
  /// characters or with control characters.
  std::int64_t set(std::int64_t id, std::string_view name, const Region& box);
  /// Throws InvalidArgument for an unknown id.
  void remove(std::int64_t id);
  const Region& box(std::int64_t id) { return find(id)->box; }
  /// Moves a region where its tracker found it; nothing for an unknown id.
  void follow(std::int64_t id, const Region& box);

  const std::vector<DrawnRegion>& all() const noexcept { return regions_; }
  /// One more with each change.
  std::int64_t revision() const noexcept { return revision_; }

 private:
  std::vector<DrawnRegion>::iterator find(std::int64_t id);

  std::int64_t width_, height_, next_id_ = 1, revision_ = 0;
  std::vector<DrawnRegion> regions_;  // by id
};

}  // namespace areal::view
