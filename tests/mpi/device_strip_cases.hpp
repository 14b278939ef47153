#pragma once
// Tables and tensors of strips that lie on the ranks' devices, against one rank on the CPU. Rank k has device k modulo
// their number.

#include <algorithm>
#include <areal/device.hpp>
#include <areal/histogram.hpp>
#include <cstring>
#include <set>
#include "ranks.hpp"

namespace areal::test {

constexpr std::uint64_t device_seed = 20261122;

inline Array random_image(const Shape& shape, Type type, std::mt19937_64& random) {
  Array image(shape, type);
  for (std::size_t i = 0; i < image.bytes() / size_of(type); ++i) {
    const auto value = static_cast<std::int64_t>(random() % 16);  // no sum of floats rounds
    if (type == Type::f32)
      image.as<float>()[i] = static_cast<float>(value);
    else if (type == Type::u16)
      image.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(value << 12);
    else
      image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(random());
  }
  return image;
}

/// The first row of a part that differs from the whole's rows from `first` on; -1 where none does.
inline std::int64_t wrong_row(const ConstView& part, const ConstView& whole, std::int64_t first) {
  for (std::int64_t c = 0; c < part.shape.channels; ++c)
    for (std::int64_t y = 0; y < part.shape.height; ++y)
      if (std::memcmp(part.row(y, c), whole.row(first + y, c),
                      static_cast<std::size_t>(part.shape.width) * size_of(part.type)) != 0)
        return y;
  return -1;
}

/// A rank's strip of the image, in its device's memory.
inline DeviceArray strip_on(const Array& image, std::int64_t first, std::int64_t count, const Execution& on) {
  DeviceArray strip({image.shape().width, count}, image.type(), on);
  if (!strip.shape().empty()) copy_view(ConstView(image.view().row(first), image.type(), strip.shape()), strip.view());
  return strip;
}

struct DeviceCases {
  int devices = 1;
  std::int64_t most_columns = 40, most_rows = 700;
  bool squares = true;    ///< every third table has them; those of queued_gpus cannot
  bool break_it = false;  ///< an entry is changed on each rank, and each must be found
};

/// Of 1 rank to all, with strips of any height, none included.
inline void expect_device_tables(const DeviceCases& cases) {
  std::mt19937_64 random(device_seed);
  int tables = 0, wrong = 0;
  for (const char* const pair : {"8u32u", "16u64u", "32f32f"})
    for (int ranks = 1; ranks <= world_size(); ++ranks)
      for (int turn = 0; turn < 3; ++turn) {
        const auto any = [&](std::int64_t most) {
          return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
        };
        const std::int64_t width = any(cases.most_columns), height = turn == 2 ? any(ranks) : any(cases.most_rows);
        const TypePair types = type_pair(pair);
        const Array image = random_image({width, height}, types.input, random);
        const std::vector<std::int64_t> cuts = random_split(random, height, ranks);
        const FirstRanks some(ranks);
        if (!some) continue;
        const auto rank = static_cast<std::size_t>(some.rank());
        const Execution on{.backend = Backend::cuda, .device = some.rank() % cases.devices};
        const bool squares = cases.squares && turn == 1;
        const DeviceArray strip = strip_on(image, cuts[rank], cuts[rank + 1] - cuts[rank], on);
        const SatOptions options{.types = types, .squares = squares ? Squares::automatic : Squares::no};
        mpi::Costs costs;
        const mpi::Table table =
            mpi::sat(some.get(), strip.view(), options, {.execution = on, .message_bytes = 64, .costs = &costs});
        EXPECT_EQ(table.strip.memory(), (MemoryPlace{MemoryPlace::cuda, on.device}));
        SatTable here = table.strip.copy_to({});
        if (cases.break_it && here.sum().shape.height > 0)
          ++static_cast<std::uint8_t*>(here.sum().row(here.sum().shape.height - 1))[0];
        const SatTable whole = sat(image.view(), options, {.backend = Backend::cpu});
        std::int64_t at = wrong_row(std::as_const(here).sum(), whole.sum(), cuts[rank]);
        if (at < 0 && squares) at = wrong_row(std::as_const(here).squares(), whole.squares(), cuts[rank]);
        ++tables, wrong += at < 0 ? 0 : 1;
        EXPECT_TRUE(at == -1 || cases.break_it) << pair << ", " << width << "x" << height << ", ranks " << ranks
                                                << ", row " << at << ", seed " << device_seed;
      }
  EXPECT_EQ(wrong, cases.break_it ? tables : 0);
}

/// The same of tensors.
inline void expect_device_tensors(Backend backend, int device_count, bool break_it = false) {
  std::mt19937_64 random(device_seed);
  int tensors = 0, wrong = 0;
  for (const std::int64_t bins : {1, 7})
    for (int ranks = 1; ranks <= world_size(); ++ranks) {
      const Shape shape{1 + static_cast<std::int64_t>(random() % 150), 1 + static_cast<std::int64_t>(random() % 250)};
      const Array image = random_image(shape, Type::u8, random);
      const std::vector<std::int64_t> cuts = random_split(random, shape.height, ranks);
      const FirstRanks some(ranks);
      if (!some) continue;
      const auto rank = static_cast<std::size_t>(some.rank());
      const Execution on{.backend = backend, .device = some.rank() % device_count};
      const DeviceArray strip = strip_on(image, cuts[rank], cuts[rank + 1] - cuts[rank], on);
      const Binning binning = Binning::uniform(bins, 0, 200);
      const mpi::Tensor tensor = mpi::integral_histogram(some.get(), strip.view(), binning, {},
                                                         {.execution = on, .message_bytes = 300, .carry_bytes = 5000});
      HistogramTensor here = tensor.strip.copy_to({});
      const HistogramTensor whole = integral_histogram(image.view(), binning, {}, {.backend = Backend::cpu});
      const View own = here.tensor();
      const bool has_rows = own.shape.height > 0;
      if (break_it && has_rows) ++static_cast<std::uint8_t*>(own.row(0, bins - 1))[0];
      const std::int64_t at = wrong_row(std::as_const(here).tensor(), whole.tensor(), cuts[rank]);
      tensors += has_rows ? 1 : 0, wrong += at < 0 ? 0 : 1;
      EXPECT_TRUE(at == -1 || break_it) << bins << " bins, ranks " << ranks << ", row " << at << ", seed "
                                        << device_seed;
    }
  EXPECT_EQ(wrong, break_it ? tensors : 0);
}

}  // namespace areal::test
