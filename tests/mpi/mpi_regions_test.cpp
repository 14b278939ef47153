// Answers about regions over 1 to 4 ranks, and tensors of strips: against sums pixel by pixel, and against the tensor
// of one rank; what is refused; and that the checks can fail.
#include <areal/histogram.hpp>
#include <areal/region.hpp>
#include <areal/region_histogram.hpp>
#include <cmath>
#include <cstring>
#include "random_regions.hpp"
#include "ranks.hpp"

namespace areal::test {
namespace {

constexpr std::uint64_t seed = 20261122;
constexpr std::int64_t width = 37, height = 29;
const mpi::Options on_cpu{.execution = {.backend = Backend::cpu, .threads = 1}, .message_bytes = 200};

template <class T>
std::vector<T> random_pixels(std::mt19937_64& random) {
  std::vector<T> pixels(width * height);
  for (T& pixel : pixels)
    pixel = static_cast<T>(static_cast<std::int64_t>(random() % 200) - (std::is_signed_v<T> ? 100 : 0));
  return pixels;
}

std::vector<Region> random_regions(std::mt19937_64& random, std::int64_t within_width, std::int64_t within_height) {
  std::vector<Region> regions{
      {0, 0, within_width, within_height}, {3, 0, 0, within_height}, {within_width, within_height, 0, 0}};
  for (int i = 0; i < 60; ++i) regions.push_back(random_region(random, within_width, within_height));
  return regions;
}

/// Pixel by pixel.
template <class T, class Sum>
Sum naive_sum(const std::vector<T>& pixels, const Region& r) {
  Sum sum = 0;
  for (std::int64_t y = r.y; y < r.y + r.height; ++y)
    for (std::int64_t x = r.x; x < r.x + r.width; ++x)
      sum += static_cast<Sum>(pixels[static_cast<std::size_t>(y * width + x)]);
  return sum;
}

struct Split {
  std::int64_t first, count;
};
Split part_of(const FirstRanks& ranks, std::mt19937_64& random) {
  const auto cuts = random_split(random, height, ranks.size());
  const auto rank = static_cast<std::size_t>(ranks.rank());
  return {cuts[rank], cuts[rank + 1] - cuts[rank]};
}

template <class F>
void on_one_to_all_ranks(const F& f) {
  for (int size = 1; size <= world_size(); ++size)
    if (const FirstRanks ranks(size); ranks) f(ranks);
}

/// The answers that differ from those by pixels.
template <class T, class Sum>
int wrong_sums(const FirstRanks& ranks, std::uint64_t number, const char* types, Border border, bool spoil = false) {
  std::mt19937_64 random(seed + number);
  const std::vector<T> pixels = random_pixels<T>(random);
  const Split part = part_of(ranks, random);
  mpi::Table table = mpi::sat(ranks.get(), ConstView(pixels.data() + part.first * width, width, part.count),
                              {.border = border, .types = type_pair(types)}, on_cpu);
  const std::int64_t less = border == Border::exclusive ? 1 : 0;
  const std::vector<Region> regions = random_regions(random, width - less, height - less);
  if (spoil && part.first + part.count == height && part.count > 0) {
    const View sum = table.strip.sum();
    static_cast<std::uint8_t*>(
        sum.row(sum.shape.height - 1))[(sum.shape.width - 1) * static_cast<std::int64_t>(size_of(sum.type))] ^= 1;
  }
  std::vector<Sum> sums(regions.size());
  mpi::region_sums(ranks.get(), table, regions, Span<Sum>(sums), on_cpu);
  int wrong = 0;
  for (std::size_t i = 0; i < regions.size(); ++i) wrong += sums[i] != naive_sum<T, Sum>(pixels, regions[i]);
  return wrong;
}

TEST(MpiRegions, AreThePixelsSums) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    for (const Border border : {Border::zero, Border::none, Border::exclusive})
      for (std::uint64_t i = 0; i < 4; ++i) {
        const std::uint64_t n = i + 10 * static_cast<std::uint64_t>(ranks.size());
        EXPECT_EQ((wrong_sums<std::uint8_t, std::uint64_t>(ranks, n, "8u32u", border)), 0) << n;
        EXPECT_EQ((wrong_sums<std::int16_t, std::int64_t>(ranks, n, "16s32s", border)), 0) << n;
        EXPECT_EQ((wrong_sums<std::uint8_t, double>(ranks, n, "8u64u", border)), 0) << n;
        EXPECT_EQ((wrong_sums<float, double>(ranks, n, "32f64f", border)), 0) << n;  // whole numbers: no order rounds
      }
  });
}

TEST(MpiRegionsProof, AFlippedEntryIsFoundOnEveryRank) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    EXPECT_GT((wrong_sums<std::uint8_t, std::uint64_t>(ranks, 1, "8u32u", Border::none, true)), 0);
    EXPECT_GT((wrong_sums<float, double>(ranks, 1, "32f64f", Border::none, true)), 0);
  });
}

// Floats that round: the bits of areal::region_sums of the whole table.
TEST(MpiRegions, FloatsHaveTheBitsOfOneRank) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    std::mt19937_64 random(seed);
    std::vector<float> pixels(width * height);
    for (float& p : pixels) p = std::ldexp(static_cast<float>(random() % 9999), static_cast<int>(random() % 30) - 20);
    const Split part = part_of(ranks, random);
    const SatOptions options{.types = type_pair("32f32f")};
    const mpi::Table table =
        mpi::sat(ranks.get(), ConstView(pixels.data() + part.first * width, width, part.count), options, on_cpu);
    const std::vector<Region> regions = random_regions(random, width, height);
    std::vector<double> sums(regions.size());
    mpi::region_sums(ranks.get(), table, regions, Span<double>(sums), on_cpu);
    const SatTable whole = sat(ConstView(pixels.data(), width, height), options, {.backend = Backend::cpu});
    const std::vector<double> right = region_sums<double>(whole, regions);
    EXPECT_EQ(std::memcmp(sums.data(), right.data(), sums.size() * 8), 0);
  });
}

TEST(MpiRegions, PlanesLieSideBySide) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    std::mt19937_64 random(seed);
    const std::int64_t mine = ranks.rank() + 1;
    Array strip({5, mine, 2, 2}, Type::u8);
    for (std::size_t i = 0; i < strip.bytes(); ++i) strip.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(1 + i % 2);
    const mpi::Table table = mpi::sat(ranks.get(), std::as_const(strip).view(), {}, on_cpu);
    const std::vector<Region> regions{{0, 0, 5, table.rows.of}, {1, 0, 2, 1}};
    std::vector<std::uint64_t> sums(8);
    mpi::region_sums(ranks.get(), table, regions, Span<std::uint64_t>(sums), on_cpu);
    const auto all = static_cast<std::uint64_t>(5 * table.rows.of);
    EXPECT_EQ(sums, (std::vector<std::uint64_t>{all, 2 * all, all, 2 * all, 2, 4, 2, 4}));
  });
}

// ---- squares, means, variances

struct StatisticsCase {
  const char* types;
  Squares squares = Squares::automatic;
  bool mask = false, ignore_nan = false;
  Border border = Border::zero;
  Shape image = {21, 26};
};

/// Pixels whose sums and squares round where they are floats.
Array rounding_pixels(const Shape& shape, Type type, bool holes, std::mt19937_64& random) {
  Array image(shape, type);
  for (std::size_t i = 0; i < image.bytes(); ++i)
    static_cast<std::uint8_t*>(image.data())[i] = static_cast<std::uint8_t>(random());
  const auto value = [&] {
    if (holes && random() % 5 == 0) return std::nan("");
    return std::ldexp(static_cast<double>(random() % 19999) - 9999, static_cast<int>(random() % 30) - 25);
  };
  const std::size_t count = image.bytes() / size_of(type);
  for (std::size_t i = 0; i < count && type == Type::f32; ++i) image.as<float>()[i] = static_cast<float>(value());
  for (std::size_t i = 0; i < count && type == Type::f64; ++i) image.as<double>()[i] = value();
  return image;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// What differs in a bit from the answers of the whole image's table on one rank; "" where nothing does.
std::string differing_statistic(const FirstRanks& ranks, const StatisticsCase& c, std::uint64_t number,
                                bool spoil = false) {
  std::mt19937_64 random(seed + number);
  const TypePair types = type_pair(c.types);
  const Array image = rounding_pixels(c.image, types.input, c.ignore_nan, random);
  Array mask({c.image.width, c.image.height, 1, c.image.batch}, Type::u8);
  for (std::size_t i = 0; i < mask.bytes(); ++i) mask.as<std::uint8_t>()[i] = random() % 3 != 0;
  const SatOptions options{
      .border = c.border, .types = types, .squares = c.squares, .mask = c.mask, .ignore_nan = c.ignore_nan};
  const auto cuts = random_split(random, c.image.height, ranks.size());
  const auto rank = static_cast<std::size_t>(ranks.rank());
  const auto rows_of = [&](ConstView view) {
    view.data = view.row(cuts[rank]), view.shape.height = cuts[rank + 1] - cuts[rank];
    return view;
  };
  mpi::Table table =
      mpi::sat(ranks.get(), rows_of(image.view()), options, on_cpu, c.mask ? rows_of(mask.view()) : ConstView());
  const View last = c.squares == Squares::no ? table.strip.sum() : table.strip.squares();
  if (spoil && last.shape.height > 1)
    static_cast<std::uint8_t*>(last.row(last.shape.height - 1))[last.shape.width * last.column_pitch() - 1] ^= 1;
  const SatTable whole =
      sat(image.view(), options, {.backend = Backend::cpu}, c.mask ? ConstView(mask.view()) : ConstView());
  const std::int64_t less = c.border == Border::exclusive ? 1 : 0;
  const std::vector<Region> regions = random_regions(random, c.image.width - less, c.image.height - less);
  // The whole table's views of all planes, region by region: only one channel and image is a SatView.
  const auto planes = static_cast<std::size_t>(c.image.channels * c.image.batch);
  const auto right = [&](auto&& ask) {
    std::vector<double> all(regions.size() * planes);
    for (std::size_t p = 0; p < planes; ++p) {
      const auto channels = static_cast<std::size_t>(c.image.channels);
      const std::vector<double> of =
          ask(whole.view(static_cast<std::int64_t>(p % channels), static_cast<std::int64_t>(p / channels)));
      for (std::size_t i = 0; i < of.size(); ++i) all[i * planes + p] = of[i];
    }
    return all;
  };
  const auto over_ranks = [&](auto&& ask) {
    std::vector<double> all(regions.size() * planes);
    ask(Span<double>(all));
    return all;
  };
  std::string found;
  const auto compare = [&](const char* name, const std::vector<double>& is, const std::vector<double>& wanted) {
    if (found.empty() && !same_bits(is, wanted)) found = name;
  };
  compare("sums", over_ranks([&](Span<double> to) { mpi::region_sums(ranks.get(), table, regions, to, on_cpu); }),
          right([&](const SatView& of) { return region_sums<double>(of, regions); }));
  compare("means", over_ranks([&](Span<double> to) { mpi::region_means(ranks.get(), table, regions, to, on_cpu); }),
          right([&](const SatView& of) { return region_means(of, regions); }));
  if (c.squares == Squares::no) return found;
  compare("squares", over_ranks([&](Span<double> to) { mpi::region_squares(ranks.get(), table, regions, to, on_cpu); }),
          right([&](const SatView& of) { return region_sums<double>(*of.squares, regions); }));
  compare("variances",
          over_ranks([&](Span<double> to) { mpi::region_variances(ranks.get(), table, regions, to, on_cpu); }),
          right([&](const SatView& of) { return region_variances(of, regions); }));
  compare("standard deviations", over_ranks([&](Span<double> to) {
            mpi::region_standard_deviations(ranks.get(), table, regions, to, on_cpu);
          }),
          right([&](const SatView& of) { return region_standard_deviations(of, regions); }));
  return found;
}

TEST(MpiStatistics, HaveTheBitsOfOneRank) {
  const std::vector<StatisticsCase> cases{
      {"8u32u"},
      {"8u32u", Squares::u32, false, false, Border::none},
      {"8u64u", Squares::f64, false, false, Border::exclusive},
      {"8u32f", Squares::f32},
      {"16s64s", Squares::automatic, true},
      {"8u32u", Squares::automatic, true, false, Border::none, {9, 12, 2, 3, Layout::planar}},
      {"32f32f"},
      {"32f32f", Squares::automatic, false, true, Border::none},
      {"32f64f", Squares::f32, true, false, Border::exclusive},
      {"64f64f", Squares::automatic, false, true},
      {"32f32f", Squares::automatic, false, false, Border::zero, {7, 11, 3, 2, Layout::planar}},
      {"32f32f", Squares::no, false, false, Border::none, {150, 2}},  // more ranks than rows
      {"16u64u", Squares::automatic, false, false, Border::zero, {70, 1}},
      {"32f32f", Squares::automatic, true, false, Border::none, {40, 3}}};
  on_one_to_all_ranks([&](const FirstRanks& ranks) {
    for (std::size_t i = 0; i < cases.size(); ++i)
      for (std::uint64_t turn = 0; turn < 3; ++turn)
        EXPECT_EQ(differing_statistic(ranks, cases[i], 100 * i + turn), "")
            << cases[i].types << ", case " << i << ", " << ranks.size() << " ranks, seed " << seed << " + "
            << 100 * i + turn;
  });
}

TEST(MpiStatisticsProof, AFlippedEntryIsFoundOnEveryRank) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    EXPECT_EQ(differing_statistic(ranks, {"8u32u"}, 1, true), "squares");
    EXPECT_EQ(differing_statistic(ranks, {"32f32f", Squares::automatic, true}, 2, true), "squares");
    EXPECT_EQ(differing_statistic(ranks, {"32f32f", Squares::no}, 3, true), "sums");
  });
}

// By the pixels, with no code of the library.
TEST(MpiStatistics, SquaresAndVariancesAreThePixels) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    std::mt19937_64 random(seed);
    const std::vector<std::int16_t> pixels = random_pixels<std::int16_t>(random);
    const Split part = part_of(ranks, random);
    const mpi::Table table = mpi::sat(ranks.get(), ConstView(pixels.data() + part.first * width, width, part.count),
                                      {.types = type_pair("16s64s"), .squares = Squares::automatic}, on_cpu);
    const std::vector<Region> regions = random_regions(random, width, height);
    std::vector<std::uint64_t> squares(regions.size());
    std::vector<double> variances(regions.size());
    mpi::region_squares(ranks.get(), table, regions, Span<std::uint64_t>(squares), on_cpu);
    mpi::region_variances(ranks.get(), table, regions, Span<double>(variances), on_cpu);
    for (std::size_t i = 0; i < regions.size(); ++i) {
      const Region& r = regions[i];
      std::int64_t s1 = 0, s2 = 0;
      for (std::int64_t y = r.y; y < r.y + r.height; ++y)
        for (std::int64_t x = r.x; x < r.x + r.width; ++x) {
          const std::int64_t pixel = pixels[static_cast<std::size_t>(y * width + x)];
          s1 += pixel, s2 += pixel * pixel;
        }
      EXPECT_EQ(squares[i], static_cast<std::uint64_t>(s2)) << i << ", seed " << seed;
      const std::int64_t n = r.width * r.height;
      if (n == 0)
        EXPECT_TRUE(std::isnan(variances[i])) << i;
      else  // below 2^53, so that one division rounds
        EXPECT_EQ(variances[i], static_cast<double>(n * s2 - s1 * s1) / static_cast<double>(n * n)) << i;
    }
  });
}

TEST(MpiStatisticsErrors, OneSentenceOnEveryRank) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    const std::vector<std::uint8_t> pixels(40, 1);
    mpi::Table table = mpi::sat(ranks.get(), ConstView(pixels.data(), 8, 5), {}, on_cpu);
    std::vector<double> out(1);
    EXPECT_EQ(sentence_on_rank<InvalidArgument>(
                  [&] { mpi::region_variances(ranks.get(), table, {Region{}}, Span<double>(out), on_cpu); }),
              "table: it has no squares; make it with squares");
    EXPECT_EQ(sentence_on_rank<InvalidArgument>(
                  [&] { mpi::region_squares(ranks.get(), table, {Region{}}, Span<double>(out), on_cpu); }),
              "table: it has no squares; make it with squares");
    mpi::Table floats = mpi::sat(ranks.get(), ConstView(pixels.data(), 8, 5),
                                 {.types = type_pair("8u32u"), .squares = Squares::f64}, on_cpu);
    std::vector<std::uint64_t> integers(1);
    EXPECT_EQ(sentence_on_rank<InvalidArgument>(
                  [&] { mpi::region_squares(ranks.get(), floats, {Region{}}, Span<std::uint64_t>(integers), on_cpu); }),
              "out: the table has sums of 64f, which double takes");
    if (ranks.size() > 1) {  // One rank asks something else, or of a table with other squares, or with none.
      const mpi::Table whole =
          mpi::sat(ranks.get(), ConstView(pixels.data(), 8, 5), {.squares = Squares::automatic}, on_cpu);
      const bool other = ranks.rank() == 1;
      const auto words = [&](const std::function<void()>& call) { return sentence_on_rank<InvalidArgument>(call); };
      const auto ask = [&](auto&& question, const mpi::Table& of) {
        question(ranks.get(), of, Span<const Region>({Region{}}), Span<double>(out), on_cpu);
      };
      const auto sums = [](auto&&... of) { mpi::region_sums(of...); };
      const auto squares = [](auto&&... of) { mpi::region_squares(of...); };
      const auto variances = [](auto&&... of) { mpi::region_variances(of...); };
      EXPECT_EQ(words([&] { other ? ask(squares, whole) : ask(sums, whole); }),
                "rank 1: this is not the call of the first rank: all ranks make the same calls, in the same order");
      EXPECT_EQ(words([&] { ask(variances, other ? floats : whole); }),
                "rank 1: type of the table 64f: all ranks must have the same, and the first has another");
      EXPECT_EQ(words([&] { ask(variances, other ? table : whole); }),
                "rank 1: table: it has no squares; make it with squares");
      EXPECT_EQ(words([&] { ask(variances, whole); }), "");
    }
    // A strip that is not what its rows say, on one rank: nobody reads beyond it.
    const bool liar = ranks.rank() == ranks.size() - 1;
    if (liar) table.rows.count += 1000, table.rows.first -= 1000;
    const std::string words = sentence_on_rank<InvalidArgument>(
        [&] { mpi::region_means(ranks.get(), table, {Region{}}, Span<double>(out), on_cpu); });
    EXPECT_NE(words.find("are not those of its strip"), std::string::npos) << words;
  });
}

// ---- tensors

struct TensorCase {
  const char* words;
  Binning binning;
  HistogramOptions options;
};

/// What is wrong with a strip's tensor and its answers.
template <class T>
std::string fault_of(const FirstRanks& ranks, const TensorCase& c, std::size_t carry_bytes, bool spoil = false) {
  std::mt19937_64 random(seed);
  const std::vector<T> pixels = random_pixels<T>(random);
  std::vector<std::uint8_t> weights(pixels.size());
  for (auto& w : weights) w = static_cast<std::uint8_t>(random() % 100);
  const Split part = part_of(ranks, random);
  mpi::Options how = on_cpu;
  how.carry_bytes = carry_bytes;
  const auto weights_of = [&](std::int64_t first, std::int64_t count) {
    return c.options.weighted ? ConstView(weights.data() + first * width, width, count) : ConstView();
  };
  mpi::Tensor tensor =
      mpi::integral_histogram(ranks.get(), ConstView(pixels.data() + part.first * width, width, part.count), c.binning,
                              c.options, how, weights_of(part.first, part.count));
  if (spoil && part.count > 0) static_cast<std::uint8_t*>(tensor.strip.tensor().row(0, 1))[8] ^= 1;
  const HistogramTensor whole = integral_histogram(ConstView(pixels.data(), width, height), c.binning, c.options,
                                                   {.backend = Backend::cpu}, weights_of(0, height));
  const ConstView is = std::as_const(tensor.strip).tensor(), right = whole.tensor();
  std::string found;  // all ranks go on to the regions
  const auto row_bytes = static_cast<std::size_t>(is.shape.width * is.column_pitch());
  for (std::int64_t b = 0; b < is.shape.channels; ++b)
    for (std::int64_t y = 0; y < is.shape.height; ++y)
      if (std::memcmp(is.row(y, b), right.row(part.first + y, b), row_bytes) != 0)
        found = "bin " + std::to_string(b) + ", row " + std::to_string(y);
  const std::int64_t less = c.options.border == Border::exclusive ? 1 : 0;
  const std::vector<Region> regions = random_regions(random, width - less, height - less);
  const auto bins = static_cast<std::size_t>(c.binning.bins());
  std::vector<double> counts(regions.size() * bins);
  mpi::region_histograms(ranks.get(), tensor, regions, Span<double>(counts), how);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    std::vector<double> naive(bins);
    const Region& r = regions[i];
    for (std::int64_t y = r.y; y < r.y + r.height; ++y)
      for (std::int64_t x = r.x; x < r.x + r.width; ++x) {
        const auto at = static_cast<std::size_t>(y * width + x);
        const std::int64_t bin = c.binning.bin_of(static_cast<double>(pixels[at]));
        if (bin >= 0) naive[static_cast<std::size_t>(bin)] += c.options.weighted ? weights[at] : 1;
      }
    if (!std::equal(naive.begin(), naive.end(), counts.begin() + static_cast<std::ptrdiff_t>(i * bins)))
      return "region " + std::to_string(i);
  }
  return found;
}

std::vector<TensorCase> tensor_cases() {
  return {{"7 bins", Binning::uniform(7, 0, 150), {}},
          {"clamped, 64u, border zero",
           Binning::uniform(5, 20, 90).clamped(),
           {.border = Border::zero, .counter = Type::u64}},
          {"labels, exclusive", Binning::labels(9, 4), {.border = Border::exclusive}},
          {"edges", Binning::edges({-50, 0, 1, 77, 300}), {}},
          {"whole weights", Binning::uniform(4, 0, 200), {.counter = Type::f64, .weighted = true}}};
}

TEST(MpiHistogram, EqualsOneRankAndThePixels) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    for (const TensorCase& c : tensor_cases())
      for (const std::size_t carry_bytes : {std::size_t{1}, std::size_t{1500}, std::size_t{1} << 20}) {
        EXPECT_EQ(fault_of<std::uint8_t>(ranks, c, carry_bytes), "") << c.words;
        EXPECT_EQ(fault_of<std::int16_t>(ranks, c, carry_bytes), "") << c.words;
        if (c.binning.kind() != Binning::Kind::labels) {
          EXPECT_EQ(fault_of<float>(ranks, c, carry_bytes), "") << c.words;
        }
      }
  });
}

TEST(MpiHistogramProof, AFlippedCountIsFound) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    std::string found = fault_of<std::uint8_t>(ranks, tensor_cases()[0], 1 << 20, true);
    int any = !found.empty(), on_some = 0;
    MPI_Allreduce(&any, &on_some, 1, MPI_INT, MPI_MAX, ranks.get());
    EXPECT_EQ(on_some, 1);
  });
}

TEST(MpiHistogram, JointBinsGoInWholePlanes) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    std::mt19937_64 random(seed);
    Array image({width, height, 2}, Type::u8);
    for (std::size_t i = 0; i < image.bytes(); ++i) image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(random());
    const Binning binning = Binning::joint({Binning::uniform(3, 0, 256), Binning::uniform(4, 0, 256)});
    const Split part = part_of(ranks, random);
    ConstView strip = std::as_const(image).view();
    strip.data = strip.row(part.first), strip.shape.height = part.count;
    mpi::Options how = on_cpu;
    how.carry_bytes = 1;
    const mpi::Tensor tensor = mpi::integral_histogram(ranks.get(), strip, binning, {}, how);
    const HistogramTensor whole = integral_histogram(image.view(), binning, {}, {.backend = Backend::cpu});
    const ConstView is = tensor.strip.tensor(), right = whole.tensor();
    for (std::int64_t b = 0; b < 12; ++b)
      for (std::int64_t y = 0; y < part.count; ++y)
        EXPECT_EQ(std::memcmp(is.row(y, b), right.row(part.first + y, b), width * 4), 0) << b << ", " << y;
  });
}

// ---- what is refused

TEST(MpiRegionsErrors, OneSentenceOnEveryRank) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    const std::vector<std::uint8_t> pixels(40, 1);
    mpi::Table table = mpi::sat(ranks.get(), ConstView(pixels.data(), 8, 5), {}, on_cpu);
    const std::int64_t rows = 5 * ranks.size();
    std::vector<std::uint64_t> sums(1);
    const auto words = [&](const Region& region) {
      return sentence_on_rank<InvalidArgument>(
          [&] { mpi::region_sums(ranks.get(), table, {region}, Span<std::uint64_t>(sums), on_cpu); });
    };
    const std::string image = "8x" + std::to_string(rows);
    EXPECT_EQ(words({1, 0, 8, 1}), "region 0 (x 1, y 0, width 8, height 1) reaches outside the image of " + image);
    EXPECT_NE(words({0, rows, 1, 1}), "");
    EXPECT_NE(words({0, 0, -1, 1}), "");
    EXPECT_NE(words({-1, 0, 1, 1}), "");
    EXPECT_NE(words({INT64_MAX, 0, INT64_MAX, 1}), "");
    EXPECT_EQ(words({0, 0, 8, rows}), "");
    EXPECT_EQ(sums[0], static_cast<std::uint64_t>(8 * rows));
    std::vector<std::int64_t> of_signed(1);
    EXPECT_NE(sentence_on_rank<InvalidArgument>([&] {
                mpi::region_sums(ranks.get(), table, {Region{}}, Span<std::int64_t>(of_signed), on_cpu);
              }).find("out: the table has sums of 32u"),
              std::string::npos);
    if (ranks.size() > 1) {
      EXPECT_EQ(words({ranks.rank(), 0, 1, 1}).find("regions that differ: all ranks"), std::string("rank 1: ").size());
    }
    std::vector<std::uint64_t> too_many(ranks.rank() == 0 ? 2 : 1);
    EXPECT_NE(sentence_on_rank<InvalidArgument>(
                  [&] { mpi::region_sums(ranks.get(), table, {Region{}}, Span<std::uint64_t>(too_many), on_cpu); }),
              "");
  });
}

TEST(MpiHistogramErrors, OneSentenceOnEveryRank) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    const std::vector<std::uint8_t> pixels(40, 1);
    const auto words = [&](std::int64_t bins, const HistogramOptions& options) {
      return sentence_on_rank<InvalidArgument>([&] {
        mpi::integral_histogram(ranks.get(), ConstView(pixels.data(), 8, 5), Binning::uniform(bins, 0, 256), options,
                                on_cpu);
      });
    };
    if (ranks.size() > 1) {
      EXPECT_EQ(words(ranks.rank() == 1 ? 8 : 9, {}),
                "rank 1: bins 8: all ranks must have the same, and the first has another");
    }
    EXPECT_NE(words(4, {.algorithm = "serial"}).find("carries"), std::string::npos);
    EXPECT_NE(words(4, {.counter = Type::s8}), "");
    EXPECT_NE(words(4, {.weighted = true}), "");
  });
}

}  // namespace
}  // namespace areal::test
