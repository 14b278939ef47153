#pragma once
// Tests of border conversion on any machine: the tables of the new border, and the CPU's bits. See
// device_answers.hpp for a Bed.

#include <areal/table.hpp>
#include <areal/type_pair.hpp>
#include "device_corner_cases.hpp"

namespace areal::device_cases {

/// The image as P, with all but its last row and column poisoned: nothing else may be read.
template <class P, class Q>
Padded last_row_and_column(const Image<Q>& image, bool odd) {
  Padded memory(type_of<P>, {image.width, image.height}, odd ? 5 : 8, odd ? 3 : 0);
  for (std::int64_t y = 0; y < image.height; ++y)
    for (std::int64_t x = 0; x < image.width; ++x) {
      const auto pixel = x + 1 < image.width && y + 1 < image.height ? Q{99} : image.at(x, y);
      if constexpr (std::is_same_v<P, Half>)
        memory.set(to_half(static_cast<float>(pixel)), x, y);
      else
        memory.set(static_cast<P>(pixel), x, y);
    }
  return memory;
}

/// The table that the machine makes of `from`.
template <class T, class Bed>
Padded converted(Padded& from, Border from_border, Border to_border, const Shape& image, Padded& pixels, bool odd) {
  Padded to(type_of<T>, oracle::table_shape(image.width, image.height, to_border), odd ? 11 : 8, odd ? 7 : 0);
  Bed bed;
  convert_border({bed.in(from), from_border}, bed.out(to), to_border, bed.in(pixels), bed.on);
  bed.back();
  return to;
}

/// Sums of integers, exact in T: from each border to each. P is stored; random_image makes Q.
template <class P, class Q, class T, class Bed>
void conversions_of(double lo, double hi) {
  bool odd = false;
  for (const auto& [width, height] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 0}, {0, 3}, {4, 0}, {1, 1}, {1, 2}, {2, 1}, {1, 70}, {67, 1}, {33, 32}, {13, 97}, {71, 45}}) {
    const auto image = oracle::random_image<Q>(width, height, lo, hi, 91);
    for (const Border from : borders)
      for (const Border to : borders) {
        odd = !odd;
        SCOPED_TRACE(testing::Message() << name_of(TypePair{type_of<P>, type_of<T>}) << " " << width << "x" << height
                                        << " " << name_of(from) << " to " << name_of(to) << (odd ? " odd" : "")
                                        << " seed 91");
        Padded pixels = last_row_and_column<P>(image, odd);
        Padded source(type_of<T>, oracle::table_shape(width, height, from), odd ? 5 : 8, odd ? 3 : 0);
        oracle::fill_table<T>(source, 0, image, from, oracle::identity);
        if (to == Border::none && from != to && !source.view().shape.empty()) {  // the zeros are not read, either
          for (std::int64_t x = 0; x < source.view().shape.width; ++x) source.set(T{99}, x, 0);
          for (std::int64_t y = 0; y < source.view().shape.height; ++y) source.set(T{99}, 0, y);
        }
        Table<T> want(image, to);
        const Padded got = converted<T, Bed>(source, from, to, {width, height}, pixels, odd);
        EXPECT_EQ(output_differences<T>(got, want.memory()), 0u);
      }
  }
}

template <class Bed>
void conversions_of_type_pairs_of_integers() {
  conversions_of<std::uint8_t, std::uint8_t, std::uint32_t, Bed>(0, 255);
  conversions_of<std::int8_t, std::int8_t, std::int32_t, Bed>(-128, 127);
  conversions_of<std::uint16_t, std::uint16_t, std::uint64_t, Bed>(0, 65535);
  conversions_of<std::int16_t, std::int16_t, std::int64_t, Bed>(-32768, 32767);
  conversions_of<std::uint32_t, std::uint32_t, std::uint32_t, Bed>(0, 4294967295.0);           // wraps
  conversions_of<std::int32_t, std::int32_t, std::int32_t, Bed>(-2147483648.0, 2147483647.0);  // wraps
  conversions_of<std::int8_t, std::int8_t, std::int64_t, Bed>(-128, 127);
  conversions_of<std::uint64_t, std::uint64_t, std::uint64_t, Bed>(0, 9e15);
  conversions_of<std::int64_t, std::int64_t, std::int64_t, Bed>(-9e15, 9e15);
}
template <class Bed>
void conversions_of_type_pairs_of_floats() {
  conversions_of<std::uint8_t, std::uint8_t, float, Bed>(0, 90);
  conversions_of<std::int16_t, std::int16_t, double, Bed>(-300, 300);
  conversions_of<Half, std::int16_t, float, Bed>(-30, 30);
  conversions_of<Half, std::int16_t, double, Bed>(-300, 300);
  conversions_of<float, float, float, Bed>(-50, 50);
  conversions_of<float, float, double, Bed>(-50, 50);
  conversions_of<double, double, double, Bed>(-50, 50);
}

/// Floats that round, in the CPU's order; infinity and NaN, too.
template <class P, class T, class Bed>
void conversions_round_as_the_cpus() {
  const std::int64_t width = 83, height = 101;
  auto image = oracle::random_image<P>(width, height, -1e7, 1e7, 23);
  for (P& pixel : image.pixels) pixel = pixel / P{7} * (pixel > 9e6 ? P{1e9} : P{1});
  for (const bool wild : {false, true}) {
    if (wild) {
      image.pixels[static_cast<std::size_t>((height - 1) * width + 60)] = std::numeric_limits<P>::infinity();
      image.pixels[static_cast<std::size_t>(70 * width - 1)] = std::numeric_limits<P>::quiet_NaN();
    }
    Padded pixels = last_row_and_column<P>(image, true);
    for (const Border to : {Border::zero, Border::none}) {
      SCOPED_TRACE(testing::Message() << name_of(to) << (wild ? " wild" : "") << " seed 23");
      Table<T> source(image, Border::exclusive);
      Padded want(type_of<T>, oracle::table_shape(width, height, to));
      convert_border(source.view(), want.view(), to, pixels.view());
      const Padded got = converted<T, Bed>(source.memory(), Border::exclusive, to, {width, height}, pixels, true);
      EXPECT_EQ(output_differences<T>(got, want), 0u);
    }
  }
}

template <class Bed>
void a_flipped_element_is_carried_over() {
  const auto image = small_image<std::uint32_t>(40, 35);
  Padded pixels = last_row_and_column<std::uint32_t>(image, true);
  Table<std::uint32_t> source(image, Border::exclusive), want(image, Border::none);
  const auto wrong = [&] {
    const Padded got =
        converted<std::uint32_t, Bed>(source.memory(), Border::exclusive, Border::none, {40, 35}, pixels, true);
    return output_differences<std::uint32_t>(got, want.memory());
  };
  EXPECT_EQ(wrong(), 0u);
  source.memory().set(source.memory().get<std::uint32_t>(20, 11) + 1, 20, 11);
  EXPECT_EQ(wrong(), 1u);
  pixels.set(pixels.get<std::uint32_t>(39, 30) + 1, 39, 30);  // and the elements of the last column from there on
  EXPECT_EQ(wrong(), 1u + 5u);
}

}  // namespace areal::device_cases
