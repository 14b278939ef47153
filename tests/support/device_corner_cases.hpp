#pragma once
// Tests of boxes of volumes and rotated rectangles on any machine: the pixels' own sums, and the CPU's bits. See
// device_answers.hpp for a Bed.

#include "corners_oracle.hpp"
#include "device_region_cases.hpp"

namespace areal::device_cases {

/// Regions or boxes at a multiple of 8 bytes that is not one of 16, or at a multiple of both.
template <class R>
class AlignedRows {
 public:
  AlignedRows(const std::vector<R>& rows, bool odd) : rows_(rows), odd_(odd), numbers_(odd ? 1 : 0) {
    const auto* const first = reinterpret_cast<const std::int64_t*>(rows.data());
    numbers_.insert(numbers_.end(), first, first + rows.size() * sizeof(R) / sizeof *first);
  }
  template <class Bed>
  Span<const R> in(Bed& bed) const {
    const Span<const std::int64_t> there = bed.in(numbers_);
    return {reinterpret_cast<const R*>(there.data() + (odd_ ? 1 : 0)), rows_.size(), there.memory()};
  }

 private:
  const std::vector<R>& rows_;
  bool odd_;
  std::vector<std::int64_t> numbers_;
};

/// Answers between guards.
class Guarded {
 public:
  explicit Guarded(std::size_t n) : values_(n + 2 * band, guard) {}
  template <class Bed>
  Span<double> out(Bed& bed) {
    const Span<double> there = bed.out(values_);
    return {there.data() + band, values_.size() - 2 * band, there.memory()};
  }
  std::vector<double> answers() const { return {values_.begin() + band, values_.end() - band}; }
  bool guards_stand() const {
    const auto stands = [](double value) { return value == guard; };
    return std::all_of(values_.begin(), values_.begin() + band, stands) &&
           std::all_of(values_.end() - band, values_.end(), stands);
  }

 private:
  static constexpr std::ptrdiff_t band = 4;
  static constexpr double guard = 77;
  std::vector<double> values_;
};

struct Answers {
  std::vector<double> sums;
  std::int64_t first_invalid = 77;
};

template <class Bed>
Answers box_sums_there(Padded& table, Border border, const std::vector<Box>& boxes, Outside outside = Outside::error,
                       bool odd = false) {
  const AlignedRows<Box> rows(boxes, odd);
  Guarded out(boxes.size());
  std::vector<std::int64_t> first_invalid{77};
  Bed bed;
  box_sums({bed.in(table), border}, rows.in(bed), out.out(bed), {outside, bed.on, bed.out(first_invalid)});
  bed.back();
  EXPECT_TRUE(out.guards_stand());
  return {out.answers(), first_invalid[0]};
}
template <class Bed>
Answers tilted_sums_there(Padded& table, const std::vector<Region>& regions, bool odd = false) {
  const AlignedRows<Region> rows(regions, odd);
  Guarded out(regions.size());
  std::vector<std::int64_t> first_invalid{77};
  Bed bed;
  tilted_sums(bed.in(table), rows.in(bed), out.out(bed), {Outside::error, bed.on, bed.out(first_invalid)});
  bed.back();
  EXPECT_TRUE(out.guards_stand());
  return {out.answers(), first_invalid[0]};
}

/// The number of sums that differ from the volume's.
template <class T, class Bed, class P>
std::size_t wrong_boxes(const oracle::Volume<P>& volume, Padded& table, Border border, const std::vector<Box>& boxes,
                        bool odd = false) {
  const Answers got = box_sums_there<Bed>(table, border, boxes, Outside::error, odd);
  std::size_t wrong = got.first_invalid != -1;
  for (std::size_t i = 0; i < boxes.size(); ++i)
    wrong += !same(got.sums[i], static_cast<double>(oracle::box_sum<T>(volume, boxes[i])));
  return wrong;
}

/// Integers in tables of T, at odd addresses and pitches, or at T's alignment.
template <class T, class Bed>
void boxes_of_every_border_and_shape() {
  for (const Border border : {Border::zero, Border::none})
    for (const auto& [width, height, depth] : std::vector<std::array<std::int64_t, 3>>{
             {0, 0, 0}, {0, 4, 2}, {3, 2, 0}, {1, 1, 1}, {1, 6, 9}, {13, 1, 2}, {17, 11, 5}})
      for (const bool odd : {false, true}) {
        SCOPED_TRACE(testing::Message() << name_of(border) << " " << width << "x" << height << "x" << depth
                                        << (odd ? " odd" : "") << " seeds 3, 4");
        const auto volume = oracle::random_volume<T>(width, height, depth, std::is_unsigned_v<T> ? 0 : -40, 90, 3);
        Padded table = odd ? oracle::volume_table<T>(volume, border) : oracle::volume_table<T>(volume, border, 8, 0);
        const auto boxes = oracle::boxes_inside(width, height, depth, 4);
        EXPECT_EQ((wrong_boxes<T, Bed>(volume, table, border, boxes, odd)), 0u);
        EXPECT_EQ(box_sums_there<Bed>(table, border, {}).first_invalid, -1);
      }
}

template <class T, class Bed>
void a_flipped_element_of_a_volume_is_caught() {
  const auto volume = oracle::random_volume<T>(9, 7, 5, 0, 90, 3);
  for (const Border border : {Border::zero, Border::none}) {
    Padded table = oracle::volume_table<T>(volume, border);
    const Box box{2, 1, 1, 4, 3, 2};
    ASSERT_EQ((wrong_boxes<T, Bed>(volume, table, border, {box})), 0u);
    const std::int64_t none = border == Border::none ? 1 : 0;
    for (int c = 0; c < 8; ++c) {
      const std::int64_t x = (c & 1 ? 6 : 2) - none, y = (c & 2 ? 4 : 1) - none, z = (c & 4 ? 3 : 1) - none;
      const T value = table.template get<T>(x, y, 0, z);
      table.set(static_cast<T>(value + 1), x, y, 0, z);
      EXPECT_EQ((wrong_boxes<T, Bed>(volume, table, border, {box})), 1u) << name_of(border) << " corner " << c;
      table.set(value, x, y, 0, z);
    }
  }
}

/// Exact if the box's own sum fits; and floats that round, as the CPU rounds them.
template <class Bed>
void boxes_of_tables_that_wrap_or_round() {
  const auto volume = oracle::random_volume<std::uint32_t>(12, 10, 8, 4e8, 4.7e8, 21);
  const auto negative = oracle::random_volume<std::int32_t>(12, 10, 8, -2.6e8, -2e8, 22);
  std::vector<Box> boxes;
  for (std::int64_t z = 0; z <= 6; z += 2)
    for (std::int64_t y = 0; y <= 8; y += 2)
      for (std::int64_t x = 0; x <= 10; ++x) boxes.push_back({x, y, z, 2, 2, 2});
  Padded table = oracle::volume_table<std::uint32_t>(volume, Border::zero);
  Padded negative_table = oracle::volume_table<std::int32_t>(negative, Border::none);
  EXPECT_EQ((wrong_boxes<std::uint32_t, Bed>(volume, table, Border::zero, boxes)), 0u);
  EXPECT_EQ((wrong_boxes<std::int32_t, Bed>(negative, negative_table, Border::none, boxes)), 0u);

  const auto rounded = [&]<class T>(T) {
    auto fractions = oracle::random_volume<T>(12, 10, 8, -1e7, 1e7, 23);
    for (auto& slice : fractions.slices)
      for (T& pixel : slice.pixels) pixel = pixel / T{7} * (pixel > 9e6 ? T{1e9} : T{1});
    const auto some = oracle::boxes_inside(12, 10, 8, 24);
    std::vector<double> want(some.size());
    for (const Border border : {Border::zero, Border::none}) {
      Padded sums = oracle::volume_table<T>(fractions, border);
      box_sums({sums.view(), border}, some, want);
      EXPECT_EQ(differences(box_sums_there<Bed>(sums, border, some).sums, want), 0u) << name_of(border) << " seed 23";
    }
  };
  rounded(float{});
  rounded(double{});
}

/// Refused exactly where the CPU throws; the others equal the CPU's.
template <class Bed>
void boxes_outside_are_refused_or_clipped() {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const auto volume = oracle::random_volume<std::int32_t>(9, 7, 5, -40, 90, 3);
  std::vector<Box> boxes = oracle::boxes_inside(9, 7, 5, 5);
  for (const Box& b : {Box{-1, 5, 3, 4, 4, 4}, Box{0, 0, -2, 9, 7, 4}, Box{0, 0, 4, 9, 7, 2}, Box{8, 6, 0, 2, 1, 5},
                       Box{0, 0, 1, 1, 1, most}, Box{most, most, most, most, most, most}, Box{2, 2, 2, 1, 1, -1},
                       Box{-most - 1, 0, 0, most, 7, 5}, Box{1, -most - 1, 1, 1, -most - 1, 1}, Box{9, 7, 6, 0, 0, 0},
                       Box{-4, -4, -4, most, most, most}, Box{2, 2, most, -1, most, 0}}) {
    boxes.push_back(b);
    boxes.push_back({1, 1, 1, 2, 2, 2});
  }
  for (const Border border : {Border::zero, Border::none})
    for (const Outside outside : {Outside::error, Outside::clip}) {
      SCOPED_TRACE(testing::Message() << name_of(border) << (outside == Outside::clip ? " clip" : " error"));
      Padded table = oracle::volume_table<std::int32_t>(volume, border);
      const Answers got = box_sums_there<Bed>(table, border, boxes, outside);
      std::int64_t first = -1, refused = 0;
      for (std::size_t i = 0; i < boxes.size(); ++i) {
        double want = 0;
        try {
          box_sums({table.view(), border}, std::span(&boxes[i], 1), std::span(&want, 1), {.outside = outside});
        } catch (const InvalidArgument&) {
          want = std::nan("");
          ++refused;
          if (first < 0) first = static_cast<std::int64_t>(i);
        }
        EXPECT_TRUE(same(got.sums[i], want)) << "box " << i;
      }
      EXPECT_EQ(got.first_invalid, first);
      EXPECT_EQ(refused, outside == Outside::clip ? 3 : 12);
    }
}

/// Every rotated rectangle inside a small image and every third of those around it, the latter refused.
inline std::vector<Region> rotated_regions(std::int64_t width, std::int64_t height) {
  std::vector<Region> all;
  std::int64_t k = 0;
  for (std::int64_t y = -1; y <= height + 1; ++y)
    for (std::int64_t x = -1; x <= width + 1; ++x)
      for (std::int64_t w = -1; w <= width; ++w)
        for (std::int64_t h = -1; h <= width; ++h)
          if (const Region r{x, y, w, h}; oracle::rotated_inside(r, width, height) || ++k % 3 == 0) all.push_back(r);
  return all;
}

template <class T, class Bed, class P>
std::size_t wrong_rotated(const Image<P>& image, Padded& table, const std::vector<Region>& regions, bool odd = false) {
  const Answers got = tilted_sums_there<Bed>(table, regions, odd);
  std::int64_t first = -1;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const bool inside = oracle::rotated_inside(regions[i], image.width, image.height);
    wrong += inside ? !same(got.sums[i], static_cast<double>(oracle::rotated_sum<T>(image, regions[i])))
                    : !std::isnan(got.sums[i]);
    if (!inside && first < 0) first = static_cast<std::int64_t>(i);
  }
  return wrong + (got.first_invalid != first);
}

template <class T, class Bed>
void rotated_rectangles_of_every_shape() {
  for (const auto& [width, height] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0}, {0, 3}, {4, 0}, {1, 1}, {1, 7}, {7, 2}, {8, 10}})
    for (const bool odd : {false, true}) {
      SCOPED_TRACE(testing::Message() << width << "x" << height << (odd ? " odd" : "") << " seed 11");
      const auto image = small_image<T>(width, height);
      Padded table = odd ? oracle::tilted_table<T>(image) : oracle::tilted_table<T>(image, 8, 0);
      EXPECT_EQ((wrong_rotated<T, Bed>(image, table, rotated_regions(width, height), odd)), 0u);
      EXPECT_EQ(tilted_sums_there<Bed>(table, {}).first_invalid, -1);
    }
}

template <class T, class Bed>
void a_flipped_element_of_a_tilted_table_is_caught() {
  const auto image = small_image<T>(15, 17);
  Padded table = oracle::tilted_table<T>(image);
  const Region region{7, 2, 5, 6};
  ASSERT_EQ((wrong_rotated<T, Bed>(image, table, {region})), 0u);
  for (const auto& [x, y] : std::vector<std::pair<std::int64_t, std::int64_t>>{{7, 2}, {12, 7}, {1, 8}, {6, 13}}) {
    const T value = table.template get<T>(x, y);
    table.set(static_cast<T>(value + 1), x, y);
    EXPECT_EQ((wrong_rotated<T, Bed>(image, table, {region})), 1u) << x << "," << y;
    table.set(value, x, y);
  }
}

/// Tables that wrap, numbers that overflow, floats that round.
template <class Bed>
void rotated_rectangles_that_wrap_round_or_overflow() {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const auto image = oracle::random_image<std::uint32_t>(40, 44, 4e8, 4.7e8, 21);
  Padded table = oracle::tilted_table<std::uint32_t>(image);
  std::vector<Region> regions;
  for (std::int64_t y = 0; y <= 41; ++y)
    for (std::int64_t x = 1; x <= 38; ++x) regions.push_back({x, y, 2, 1});
  EXPECT_EQ((wrong_rotated<std::uint32_t, Bed>(image, table, regions)), 0u);

  const Answers wild = tilted_sums_there<Bed>(table, {{9, 3, 2, 2},
                                                      {3, -1, 1, 1},
                                                      {3, 3, -1, 1},
                                                      {3, 3, 1, most},
                                                      {3, most, 1, 1},
                                                      {most, 3, 1, 1},
                                                      {3, 3, most, most},
                                                      {-most - 1, 3, 1, 1},
                                                      {3, 3, -most - 1, -most - 1},
                                                      {3, 3, 0, most},
                                                      {3, 3, most, 0}});
  EXPECT_EQ(wild.first_invalid, 1);
  EXPECT_FALSE(std::isnan(wild.sums[0]));
  for (std::size_t i = 1; i < wild.sums.size(); ++i) EXPECT_TRUE(std::isnan(wild.sums[i])) << i;

  const auto rounded = [&]<class T>(T) {
    auto fractions = oracle::random_image<T>(20, 22, -1e7, 1e7, 23);
    for (T& pixel : fractions.pixels) pixel = pixel / T{7} * (pixel > 9e6 ? T{1e9} : T{1});
    Padded sums = oracle::tilted_table<T>(fractions);
    std::vector<Region> inside;
    for (const Region& r : rotated_regions(20, 22))
      if (oracle::rotated_inside(r, 20, 22)) inside.push_back(r);
    std::vector<double> want(inside.size());
    tilted_sums(sums.view(), inside, want);
    EXPECT_EQ(differences(tilted_sums_there<Bed>(sums, inside).sums, want), 0u) << "seed 23";
  };
  rounded(float{});
  rounded(double{});
}

/// The error of a call with wrong use; "" if it throws nothing.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

/// Regions and answers of the host; the exceptions equal the CPU's, word for word.
template <class Bed>
void the_host_asks_for_boxes_and_rotated_rectangles() {
  const auto volume = oracle::random_volume<std::int32_t>(9, 7, 5, -40, 90, 3);
  const auto image = small_image<float>(15, 17);
  Padded table = oracle::volume_table<std::int32_t>(volume, Border::none);
  Padded tilted = oracle::tilted_table<float>(image);
  std::vector<Box> boxes = oracle::boxes_inside(9, 7, 5, 5);
  std::vector<Region> regions{{7, 2, 5, 6}, {1, 0, 1, 1}, {15, 17, 0, 0}, {3, 3, 4, 2}};
  Bed bed;
  const SatView table_there(bed.in(table), Border::none), table_here(table.view(), Border::none);
  const ConstView tilted_there = bed.in(tilted);
  const QueryOptions there{.execution = bed.on};
  EXPECT_EQ(differences(box_sums(table_there, boxes, there), box_sums(table_here, boxes)), 0u);
  EXPECT_EQ(differences(tilted_sums(tilted_there, regions, there), tilted_sums(tilted.view(), regions)), 0u);
  EXPECT_TRUE(box_sums(table_there, {}, there).empty());
  EXPECT_TRUE(tilted_sums(tilted_there, {}, there).empty());

  const auto expect_same_sentence = [](const std::string& got, const std::string& want) {
    EXPECT_NE(want, "");
    EXPECT_EQ(got, want);
  };
  for (const Box& wrong : {Box{8, 0, 0, 2, 1, 1}, Box{0, 0, 0, 1, 1, -1}}) {
    boxes[7] = wrong;
    expect_same_sentence(refusal([&] { box_sums(table_there, boxes, there); }),
                         refusal([&] { box_sums(table_here, boxes); }));
  }
  boxes[7] = {8, 0, 0, 2, 1, 1};
  const auto sums = box_sums(table_there, boxes, {.outside = Outside::clip, .execution = bed.on});
  EXPECT_EQ(sums[7], oracle::box_sum<std::int32_t>(volume, {8, 0, 0, 1, 1, 1}));
  for (const Region& wrong : {Region{2, 0, 1, 3}, Region{3, 3, 1, -1}}) {
    regions[2] = wrong;
    expect_same_sentence(refusal([&] { tilted_sums(tilted_there, regions, there); }),
                         refusal([&] { tilted_sums(tilted.view(), regions); }));
    std::int64_t first = 77;  // the host's, like the regions
    const auto some =
        tilted_sums(tilted_there, regions, {.execution = bed.on, .first_invalid = Span<std::int64_t>(&first, 1)});
    EXPECT_EQ(first, 2);
    EXPECT_TRUE(std::isnan(some[2]) && !std::isnan(some[3]));
  }
}

}  // namespace areal::device_cases
