// Tables of strips on 1 to 4 ranks: integers against the definition, floats against the bits of areal::sat; what is
// refused, on all ranks with one sentence; and that each check can fail.
#include <algorithm>
#include <areal/histogram.hpp>
#include <areal/info.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <cstring>
#include "mpi/communicator.hpp"
#include "ranks.hpp"

namespace areal::test {
namespace {
int bytes_kept_back = 0;
}
}  // namespace areal::test

// Before MPI's own.
extern "C" int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  return PMPI_Isend(from, count - areal::test::bytes_kept_back, type, to, tag, comm, request);
}

namespace areal::test {
namespace {

constexpr std::uint64_t seed = 20261122;

/// A whole image, its mask, and how it is spread over ranks.
struct Case {
  Shape image{17, 23};
  TypePair types = type_pair("8u32u");
  SatOptions options = {};
  std::uint64_t number = 0;
  std::string words() const {
    return name_of(types) + " " + std::to_string(image.width) + "x" + std::to_string(image.height) + "x" +
           std::to_string(image.channels) + (image.layout == Layout::planar ? " planar" : "") + ", batch " +
           std::to_string(image.batch) + ", border " + std::string(name_of(options.border)) + ", squares " +
           std::to_string(static_cast<int>(options.squares)) + (options.mask ? ", mask" : "") +
           (options.ignore_nan ? ", NaN left out" : "") + (options.reverse ? ", reversed" : "") + ", tables " +
           (options.tables == Layout::planar ? "planar" : "interleaved") + ", seed " + std::to_string(seed) + " + " +
           std::to_string(number);
  }
};

/// Any bytes for integers; floats of magnitudes so far apart that every order of additions rounds differently.
Array random_image(const Shape& shape, Type type, std::mt19937_64& random, bool holes = false) {
  Array image(shape, type);
  auto* const bytes = static_cast<std::uint8_t*>(image.data());
  for (std::size_t i = 0; i < image.bytes(); ++i) bytes[i] = static_cast<std::uint8_t>(random());
  const auto value = [&] {
    if (holes && random() % 5 == 0) return std::nan("");
    return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 24) - 76);
  };
  const std::size_t count = image.bytes() / size_of(type);
  if (type == Type::f32)
    for (std::size_t i = 0; i < count; ++i) image.as<float>()[i] = static_cast<float>(value());
  if (type == Type::f64)
    for (std::size_t i = 0; i < count; ++i) image.as<double>()[i] = value();
  if (type == Type::f16)
    for (std::size_t i = 0; i < count; ++i) image.as<Half>()[i] = to_half(static_cast<float>(value()));
  return image;
}

/// The same rows of every image of the batch.
template <class V>
V rows_of(V view, std::int64_t first, std::int64_t count) {
  if (view.data != nullptr) view.data = view.row(first);
  view.shape.height = count;
  return view;
}

/// The first entry of the strip's table that differs in a bit from those of the whole table; "" where there is none.
std::string difference(const ConstView& part, const ConstView& whole, std::int64_t first_row) {
  if (part.shape.width != whole.shape.width || part.shape.channels != whole.shape.channels ||
      part.shape.batch != whole.shape.batch || part.type != whole.type)
    return "another shape or type";
  const std::int64_t planes = part.shape.layout == Layout::planar ? part.shape.channels : 1;
  const auto bytes = static_cast<std::size_t>(part.shape.width * part.column_pitch());
  if (bytes == 0) return "";
  for (std::int64_t n = 0; n < part.shape.batch; ++n)
    for (std::int64_t c = 0; c < planes; ++c)
      for (std::int64_t y = 0; y < part.shape.height; ++y)
        if (std::memcmp(part.row(y, c, n), whole.row(first_row + y, c, n), bytes) != 0)
          return "row " + std::to_string(y) + " of the strip, plane " + std::to_string(c) + ", image " +
                 std::to_string(n);
  return "";
}

/// Entry (x, y) of a plane of the table by the definition, modulo 2^64.
template <class In>
std::uint64_t naive(const Case& c, const ConstView& image, const ConstView& mask, std::int64_t x, std::int64_t y,
                    std::int64_t channel, std::int64_t n, int power) {
  const Border border = c.options.border;
  std::uint64_t sum = 0;
  for (std::int64_t v = 0; v < c.image.height; ++v)
    for (std::int64_t u = 0; u < c.image.width; ++u) {
      bool in = border == Border::none ? u <= x && v <= y : u < x && v < y;
      if (c.options.reverse) in = border == Border::exclusive ? u > x && v > y : u >= x && v >= y;
      if (!in || (mask.data != nullptr && static_cast<const std::uint8_t*>(mask.row(v, 0, n))[u] == 0)) continue;
      const bool planar = c.image.layout == Layout::planar;
      In pixel;
      std::memcpy(&pixel,
                  static_cast<const char*>(image.row(v, planar ? channel : 0, n)) +
                      (planar ? u : u * c.image.channels + channel) * static_cast<std::int64_t>(sizeof(In)),
                  sizeof(In));
      const auto term = static_cast<std::uint64_t>(pixel);
      sum += power == 0 ? 1 : power == 1 ? term : term * term;
    }
  return sum;
}

template <class In>
std::string fault_of_integers(const Case& c, const ConstView& table, const ConstView& image, const ConstView& mask,
                              std::int64_t first_row, int power, std::mt19937_64& random) {
  const Shape& s = table.shape;
  if (s.empty()) return "";
  for (int i = 0; i < 40; ++i) {
    const auto any = [&](std::int64_t extent) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent));
    };
    const std::int64_t x = any(s.width), y = any(s.height), channel = any(s.channels), n = any(s.batch);
    const bool planar = s.layout == Layout::planar;
    const std::uint64_t right = naive<In>(c, image, mask, x, first_row + y, channel, n, power);
    std::uint64_t is = 0;
    std::memcpy(&is,
                static_cast<const char*>(table.row(y, planar ? channel : 0, n)) +
                    (planar ? x : x * s.channels + channel) * static_cast<std::int64_t>(size_of(table.type)),
                size_of(table.type));
    const std::uint64_t bits = size_of(table.type) == 8 ? ~std::uint64_t{0} : 0xFFFFFFFFu;
    if (is != (right & bits))
      return "entry " + std::to_string(x) + "," + std::to_string(y) + " is " + std::to_string(is) + ", not " +
             std::to_string(right & bits);
  }
  return "";
}

/// What is wrong with this rank's tables of the case; "" where nothing is. `spoil` may damage a table first.
std::string fault(const Case& c, const FirstRanks& ranks, const mpi::Options& how = {},
                  const std::function<void(mpi::Table&)>& spoil = {}) {
  std::mt19937_64 random(seed + c.number);
  const Array image = random_image(c.image, c.types.input, random, c.options.ignore_nan);
  Array mask({c.image.width, c.image.height, 1, c.image.batch}, Type::u8);
  for (std::size_t i = 0; i < mask.bytes(); ++i) mask.as<std::uint8_t>()[i] = random() % 4 != 0;
  const std::vector<std::int64_t> cuts = random_split(random, c.image.height, ranks.size());
  const auto rank = static_cast<std::size_t>(ranks.rank());
  const std::int64_t first = cuts[rank], count = cuts[rank + 1] - first;
  SatOptions options = c.options;
  options.types = c.types;
  const ConstView whole_mask = options.mask ? std::as_const(mask).view() : ConstView();
  mpi::Table table = mpi::sat(ranks.get(), rows_of(image.view(), first, count), options, how,
                              options.mask ? rows_of(whole_mask, first, count) : ConstView());
  if (spoil) spoil(table);
  if (table.rows.first != first || table.rows.count != count || table.rows.of != c.image.height)
    return "its rows are " + std::to_string(table.rows.first) + ", " + std::to_string(table.rows.count) + " of " +
           std::to_string(table.rows.of);
  const SatTable whole = sat(image.view(), options, {.backend = Backend::cpu}, whole_mask);
  const auto& part = std::as_const(table.strip);
  std::string found = difference(part.sum(), whole.sum(), first);
  if (found.empty() && part.squares().data) found = difference(part.squares(), whole.squares(), first);
  if (found.empty() && part.count().data) found = difference(part.count(), whole.count(), first);
  if (!found.empty() || is_float(c.types.input)) return found;
  const auto by_definition = [&](const ConstView& of, int power) -> std::string {
    if (of.data == nullptr || is_float(of.type)) return "";
    switch (c.types.input) {
      case Type::u8:
        return fault_of_integers<std::uint8_t>(c, of, image.view(), whole_mask, first, power, random);
      case Type::s8:
        return fault_of_integers<std::int8_t>(c, of, image.view(), whole_mask, first, power, random);
      case Type::u16:
        return fault_of_integers<std::uint16_t>(c, of, image.view(), whole_mask, first, power, random);
      case Type::s16:
        return fault_of_integers<std::int16_t>(c, of, image.view(), whole_mask, first, power, random);
      case Type::u32:
        return fault_of_integers<std::uint32_t>(c, of, image.view(), whole_mask, first, power, random);
      case Type::s32:
        return fault_of_integers<std::int32_t>(c, of, image.view(), whole_mask, first, power, random);
      case Type::u64:
        return fault_of_integers<std::uint64_t>(c, of, image.view(), whole_mask, first, power, random);
      default:
        return fault_of_integers<std::int64_t>(c, of, image.view(), whole_mask, first, power, random);
    }
  };
  found = by_definition(part.sum(), 1);
  if (found.empty()) found = by_definition(part.squares(), 2);
  if (found.empty()) found = by_definition(part.count(), 0);
  return found;
}

const mpi::Options on_cpu{.execution = {.backend = Backend::cpu, .threads = 1}};

template <class F>
void on_one_to_all_ranks(const F& f) {
  for (int size = 1; size <= world_size(); ++size)
    if (const FirstRanks ranks(size); ranks) f(ranks);
}

Case random_case(std::uint64_t number) {
  std::mt19937_64 random(seed + number);
  const auto one_of = [&](std::uint64_t n) { return static_cast<int>(random() % n); };
  Case c;
  c.number = number;
  c.types = type_pairs()[number % type_pairs().size()];
  // 70 columns are more than one vector, 2,100 more than one block of sums; 3 rows are fewer than ranks, 150 more than
  // one group of rows.
  constexpr std::int64_t widths[] = {1, 70, 33, 0, 2100}, heights[] = {3, 23, 40, 7, 0, 1, 150};
  c.image = {widths[one_of(5)], heights[one_of(7)], 1 + one_of(3), 1 + one_of(2)};
  if (c.image.width > 2000) c.image.height = std::min<std::int64_t>(c.image.height, 7);
  c.image.layout = one_of(2) ? Layout::planar : Layout::interleaved;
  c.options.tables = one_of(2) ? Layout::planar : Layout::interleaved;
  constexpr Border borders[] = {Border::zero, Border::none, Border::exclusive};
  c.options.border = borders[one_of(3)];
  c.options.squares = one_of(2) ? Squares::automatic : Squares::no;
  if (!is_float(c.types.input) && one_of(3) == 0) c.options.squares = Squares::f64;
  c.options.mask = one_of(3) == 0;
  c.options.ignore_nan = is_float(c.types.input) && one_of(3) == 0;
  c.options.reverse = one_of(3) == 0;
  return c;
}

TEST(MpiSat, EqualsOneRankAndTheDefinition) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    for (std::uint64_t i = 0; i < 120; ++i) {
      const Case c = random_case(1000 * static_cast<std::uint64_t>(ranks.size()) + i);
      EXPECT_EQ(fault(c, ranks, on_cpu), "") << c.words();
    }
  });
}

TEST(MpiSat, MessagesOfAnySizeAndThreadsChangeNoBit) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{24}, std::size_t{1000}})
      for (const char* const types : {"8u32u", "16u64u", "32f32f", "32f64f"}) {
        Case c;
        c.types = type_pair(types);
        c.image = {70, 12, 2};
        c.options.squares = Squares::automatic;
        mpi::Options how = on_cpu;
        how.message_bytes = bytes, how.execution.threads = 2;
        EXPECT_EQ(fault(c, ranks, how), "") << c.words() << ", messages of " << bytes;
      }
  });
}

// More than 256 rows of bytes, whose partial sums are of 16 bits, all of them at the limit.
TEST(MpiSat, TallStripsOfTheLargestBytes) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    for (const Type type : {Type::u8, Type::s8}) {
      Array strip({5, 1100}, type);
      std::memset(strip.data(), type == Type::u8 ? 255 : 128, strip.bytes());
      const SatOptions options{.border = Border::none,
                               .types = TypePair{type, type == Type::u8 ? Type::u32 : Type::s32}};
      const mpi::Table table = mpi::sat(ranks.get(), strip.view(), options, on_cpu);
      const std::int64_t rows = 1100 * (ranks.rank() + 1), pixel = type == Type::u8 ? 255 : -128;
      std::int32_t last = 0;
      std::memcpy(&last, static_cast<const char*>(table.strip.sum().row(1099)) + 16, 4);
      EXPECT_EQ(last, rows * 5 * pixel);
    }
  });
}

bool has_simulated_machine() {
  for (const BackendInfo& b : backends())
    if (b.backend == Backend::simt) return b.available;
  return false;
}

TEST(MpiSat, OnTheSimulatedMachine) {
  if (!has_simulated_machine()) GTEST_SKIP() << "no simulated machine in this build";
  const mpi::Options how{.execution = {.backend = Backend::simt}};
  if (const FirstRanks ranks(std::min(2, world_size())); ranks)
    for (const bool reverse : {false, true}) {
      Case c;
      c.image = {33, 9, 2};
      c.options.squares = Squares::automatic, c.options.mask = true, c.options.reverse = reverse;
      EXPECT_EQ(fault(c, ranks, how), "") << c.words();
    }
}

// Elsewhere than on the CPU the sums of strips are added in the order of the ranks: the same bits every time, and
// close.
TEST(MpiSat, FloatsOnTheSimulatedMachineRepeat) {
  if (!has_simulated_machine()) GTEST_SKIP() << "no simulated machine in this build";
  if (const FirstRanks ranks(std::min(3, world_size())); ranks) {
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(ranks.rank()));
    const Array strip = random_image({33, 7 + ranks.rank()}, Type::f32, random);
    const SatOptions options{.border = Border::none, .types = type_pair("32f32f")};
    const mpi::Options how{.execution = {.backend = Backend::simt}};
    const mpi::Table one = mpi::sat(ranks.get(), strip.view(), options, how),
                     again = mpi::sat(ranks.get(), strip.view(), options, how),
                     near = mpi::sat(ranks.get(), strip.view(), options, on_cpu);
    EXPECT_EQ(difference(one.strip.sum(), again.strip.sum(), 0), "");
    double largest = 0, error = 0;
    for (std::int64_t y = 0; y < one.rows.count; ++y)
      for (std::int64_t x = 0; x < 33; ++x) {
        const auto value = [&](const mpi::Table& of) {
          return double{static_cast<const float*>(of.strip.sum().row(y))[x]};
        };
        largest = std::max(largest, std::abs(value(near)));
        error = std::max(error, std::abs(value(one) - value(near)));
      }
    EXPECT_LT(error, 1e-4 * largest);
  }
}

TEST(MpiSat, TypesByDefaultAreThoseOfTheWholeImage) {
  // A strip of 2^23 pixels alone would be 8u32u; the image, of three, is not.
  if (const FirstRanks ranks(std::min(3, world_size())); ranks && ranks.size() == 3) {
    const Array strip({std::int64_t{1} << 23, 1}, Type::u8);
    const std::int64_t height = 1;
    const mpi::Table table =
        mpi::sat(ranks.get(), ConstView(strip.data(), Type::u8, Shape{strip.shape().width, height}),
                 {.border = Border::none}, on_cpu);
    EXPECT_EQ(table.strip.types(), type_pair("8u64u"));
    EXPECT_EQ(default_types(strip.shape(), Type::u8), type_pair("8u32u"));
  }
}

TEST(MpiSat, CostsAreCounted) {
  if (const FirstRanks ranks(world_size()); ranks) {
    const Array strip({1000, 2}, Type::u8);
    std::memset(const_cast<void*>(strip.data()), 1, strip.bytes());
    mpi::Costs costs;
    mpi::Options how = on_cpu;
    how.costs = &costs, how.message_bytes = 1000;
    mpi::sat(ranks.get(), strip.view(), {.types = type_pair("8u32u")}, how);
    EXPECT_EQ(costs.bytes, 4 * 1001u);
    EXPECT_EQ(costs.messages, 5u);  // of 1,001 entries 250 a message
    EXPECT_GT(costs.table_seconds, 0);
  }
}

// ---- the checks can fail

TEST(MpiSatProof, AFlippedEntryIsFound) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    for (const char* const types : {"8u32u", "32f32f"}) {
      Case c;
      c.types = type_pair(types);
      c.options.border = Border::zero;  // a strip without rows has an entry, too
      const std::string found = fault(c, ranks, on_cpu, [](mpi::Table& table) {
        const View sum = table.strip.sum();
        static_cast<std::uint8_t*>(sum.row(sum.shape.height - 1))[3] ^= 1;
      });
      EXPECT_NE(found, "") << c.words();
    }
  });
}

// Sums by the order of the ranks are not those of one rank: the floats of these tests tell them apart.
TEST(MpiSatProof, AnotherOrderOfFloatsIsFound) {
  std::mt19937_64 random(seed);
  for (const char* const types : {"32f32f", "64f64f"}) {
    const Array image = random_image({70, 23}, type_pair(types).input, random);
    const SatOptions options{.border = Border::none, .types = type_pair(types)};
    const SatTable whole = sat(image.view(), options, {.backend = Backend::cpu});
    SatTable below = sat(rows_of(image.view(), 9, 14), options, {.backend = Backend::cpu});
    for (std::int64_t y = 0; y < 14; ++y)
      for (std::int64_t x = 0; x < 70; ++x)
        if (below.types().table == Type::f32)
          static_cast<float*>(below.sum().row(y))[x] += static_cast<const float*>(whole.sum().row(8))[x];
        else
          static_cast<double*>(below.sum().row(y))[x] += static_cast<const double*>(whole.sum().row(8))[x];
    EXPECT_NE(difference(std::as_const(below).sum(), whole.sum(), 9), "") << types;
  }
}

TEST(MpiSatProof, AWrongSumIsFoundByTheDefinition) {
  std::mt19937_64 random(seed);
  Case c;
  const Array image = random_image(c.image, Type::u8, random);
  SatTable table = sat(image.view(), {.types = c.types});
  EXPECT_EQ(fault_of_integers<std::uint8_t>(c, table.sum(), image.view(), {}, 0, 1, random), "");
  const View sum = table.sum();
  for (std::int64_t y = 0; y < sum.shape.height; ++y) ++static_cast<std::uint32_t*>(sum.row(y))[5];
  std::string found;
  for (int i = 0; i < 20 && found.empty(); ++i)
    found = fault_of_integers<std::uint8_t>(c, table.sum(), image.view(), {}, 0, 1, random);
  EXPECT_NE(found, "");
}

// ---- what is refused, on every rank with the same sentence

struct Call {
  Array strip{Shape{6, 4}, Type::u8}, mask{Shape{6, 4}, Type::u8};
  ConstView image = std::as_const(strip).view(), its_mask = {};
  SatOptions options = {};
  mpi::Options how = on_cpu;
};

/// The sentence where `spoil` changes the call of one rank, or of all; every rank must have it.
std::string refusal(const FirstRanks& ranks, int spoiled, const std::function<void(Call&)>& spoil) {
  Call call;
  if (spoiled < 0 || ranks.rank() == spoiled) spoil(call);
  const std::string words = sentence_on_rank<InvalidArgument>(
      [&] { mpi::sat(ranks.get(), call.image, call.options, call.how, call.its_mask); });
  std::string first = words;
  first.resize(400, ' ');
  MPI_Bcast(first.data(), 400, MPI_CHAR, 0, ranks.get());
  std::string mine = words;
  mine.resize(400, ' ');
  EXPECT_EQ(mine, first);
  EXPECT_EQ(words.find('\n'), std::string::npos) << words;
  return words;
}

TEST(MpiSatErrors, RanksThatMakeOtherCallsAreToldSo) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    if (ranks.size() == 1) return;
    const std::vector<std::uint8_t> pixels(40, 1);
    const ConstView strip(pixels.data(), 8, 5);
    const mpi::Table table = mpi::sat(ranks.get(), strip);
    std::vector<double> sum(1);
    const bool other = ranks.rank() == ranks.size() - 1;
    const std::string words =
        "rank " + std::to_string(ranks.size() - 1) +
        ": this is not the call of the first rank: all ranks make the same calls, in the same order";
    for (int call = 0; call < 3; ++call)
      EXPECT_EQ(sentence_on_rank<InvalidArgument>([&] {
                  if (other ? call == 0 : call == 1)
                    mpi::integral_histogram(ranks.get(), strip, Binning::uniform(4, 0, 256));
                  else if (other ? call == 1 : call == 2)
                    mpi::region_sums(ranks.get(), table, {{0, 0, 1, 1}}, Span<double>(sum));
                  else
                    mpi::sat(ranks.get(), strip);
                }),
                words)
          << call;
    EXPECT_EQ(
        sentence_on_rank<InvalidArgument>(
            [&] { mpi::integral_histogram(ranks.get(), strip, Binning::uniform(4, 0, other ? 255 : 256)); }),
        "rank " + std::to_string(ranks.size() - 1) +
            ": binning of other edges, labels or clamping: all ranks must have the same, and the first has another");
    mpi::region_sums(ranks.get(), table, {{0, 0, 8, 5}}, Span<double>(sum));  // and all go on
    EXPECT_EQ(sum[0], 40);
  });
}

// A row of floats that is a message's last element short.
TEST(MpiSatErrors, AMessageThatIsTooShortIsSeen) {
  if (const FirstRanks ranks(2); ranks) {
    const std::vector<float> pixels(40, 1);
    const mpi::Options how{.execution = {.backend = Backend::cpu, .threads = 1}};
    const SatOptions options{.types = type_pair("32f32f")};
    const auto made = [&] { mpi::sat(ranks.get(), ConstView(pixels.data(), 8, 5), options, how); };
    bytes_kept_back = 4;
    const std::string words = sentence_on_rank<mpi::MpiError>(made);
    bytes_kept_back = 0;
    EXPECT_EQ(words, ranks.rank() == 0 ? "" : "MPI_Recv: 28 of 32 bytes came from the rank before");
    EXPECT_EQ(sentence_on_rank<mpi::MpiError>(made), "");
  }
}

TEST(MpiSatErrors, OneRanksErrorIsEveryRanks) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    for (int rank = 1; rank < ranks.size(); ++rank) {
      const std::string who = "rank " + std::to_string(rank) + ": ";
      EXPECT_EQ(refusal(ranks, rank, [](Call& c) { c.image.shape.width = 5; }),
                who + "width 5: all ranks must have the same, and the first has another");
      EXPECT_EQ(refusal(ranks, rank, [](Call& c) { c.image.type = Type::s8; }),
                who + "type 8s: all ranks must have the same, and the first has another");
      EXPECT_EQ(refusal(ranks, rank, [](Call& c) { c.options.border = Border::none; }),
                who + "border none: all ranks must have the same, and the first has another");
      EXPECT_EQ(refusal(ranks, rank, [](Call& c) { c.options.types = type_pair("8u64u"); }),
                who + "types 8u64u: all ranks must have the same, and the first has another");
      EXPECT_EQ(refusal(ranks, rank, [](Call& c) { c.image.data = nullptr; }),
                who + "strip: its memory is a null pointer");
      EXPECT_EQ(refusal(ranks, rank, [](Call& c) { c.image.shape.height = -1; }),
                who + "strip of 6x-1: extents may be 0 or more");
      EXPECT_EQ(refusal(ranks, rank, [](Call& c) { c.image.row_pitch = 3; }).rfind(who, 0), 0u);
      EXPECT_EQ(refusal(ranks, rank, [](Call& c) { c.options.reverse = true; }).substr(0, 5), "rank ");
      EXPECT_NE(refusal(ranks, rank, [](Call& c) { c.how.execution.threads = -1; }).find("threads -1"),
                std::string::npos);
    }
  });
}

TEST(MpiSatErrors, WhatAllAskForIsNoRanksError) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    EXPECT_EQ(refusal(ranks, -1, [](Call& c) { c.options.volume = true; }),
              "volume: the rows of a volume cannot be spread over ranks");
    EXPECT_EQ(refusal(ranks, -1, [](Call& c) { c.options.tilted = true; }),
              "tilted: a tilted table takes no carry, so its rows cannot be spread over ranks");
    EXPECT_NE(refusal(ranks, -1, [](Call& c) { c.options.algorithm = "serial"; }).find("plain sum of one"),
              std::string::npos);
    EXPECT_NE(refusal(ranks, -1, [](Call& c) { c.options.algorithm = "nothing"; }).find("nothing"), std::string::npos);
    EXPECT_NE(refusal(ranks, -1, [](Call& c) { c.options.types = type_pair("16u32u"); }).find("16u32u"),
              std::string::npos);
    EXPECT_NE(refusal(ranks, -1, [](Call& c) { c.options.mask = true; }).find("mask"), std::string::npos);
  });
}

TEST(MpiSatErrors, ACancelledRankCancelsAll) {
  if (const FirstRanks ranks(world_size()); ranks) {
    Call call;
    if (ranks.rank() == ranks.size() - 1) call.options.progress = [](std::int64_t, std::int64_t) { return false; };
    const std::string words =
        sentence_on_rank<Cancelled>([&] { mpi::sat(ranks.get(), call.image, call.options, call.how); });
    EXPECT_NE(words, "");
  }
}

TEST(MpiSatErrors, ANullCommunicatorIsRefused) {
  EXPECT_EQ(sentence_on_rank<InvalidArgument>([&] { mpi::sat(MPI_COMM_NULL, Call().image); }),
            "comm: MPI_COMM_NULL is no communicator");
}

TEST(MpiSatErrors, MpisOwnNameTheCall) {
  mpi::require_mpi(MPI_SUCCESS, "MPI_Exscan");
  const std::string words = sentence_on_rank<mpi::MpiError>([] { mpi::require_mpi(MPI_ERR_COUNT, "MPI_Exscan"); });
  EXPECT_EQ(words.find("MPI_Exscan: "), 0u) << words;
  EXPECT_GT(words.size(), std::string("MPI_Exscan: ").size());
}

TEST(MpiTogether, EveryTypeArrivesEverywhere) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    const int last = ranks.size() - 1;
    const std::string who = ranks.size() == 1 ? "" : "rank " + std::to_string(last) + ": ";
    const auto thrown = [&]<class E>(const E& error) {
      return sentence_on_rank<E>([&] {
        mpi::together(ranks.get(), [&] {
          if (ranks.rank() == last) throw E(error);
        });
      });
    };
    EXPECT_EQ(thrown(IoError("a file")), who + "a file");
    EXPECT_EQ(thrown(OutOfMemory("much", 77)), who + "much");
    EXPECT_EQ(thrown(Unavailable("nowhere")), who + "nowhere");
    EXPECT_EQ(thrown(DeviceError("a device", true)), who + "a device");
    EXPECT_EQ(thrown(Cancelled("stopped")), who + "stopped");
    EXPECT_EQ(thrown(InvalidArgument("")), who);
    mpi::together(ranks.get(), [] {});
  });
}

TEST(MpiRows, AreEven) {
  on_one_to_all_ranks([](const FirstRanks& ranks) {
    for (const std::int64_t height : {0, 1, 3, 4, 101}) {
      const mpi::Rows rows = mpi::even_rows(ranks.get(), height);
      std::int64_t sum = 0, before = 0;
      MPI_Allreduce(&rows.count, &sum, 1, MPI_INT64_T, MPI_SUM, ranks.get());
      MPI_Exscan(&rows.count, &before, 1, MPI_INT64_T, MPI_SUM, ranks.get());
      EXPECT_EQ(sum, height);
      EXPECT_EQ(rows.first, ranks.rank() == 0 ? 0 : before);
      EXPECT_LE(std::abs(rows.count * ranks.size() - height), ranks.size());
      EXPECT_EQ(rows.of, height);
    }
    EXPECT_NE(sentence_on_rank<InvalidArgument>([&] { mpi::even_rows(ranks.get(), -1); }), "");
  });
}

}  // namespace
}  // namespace areal::test
