// Differential: the bytes determine shape, type pair, border, pitches and options; every row of the catalogue that
// accepts them must give the table of the definition. Integers modulo 2^k; floats are small integers, which sum
// exactly.
#include <algorithm>
#include <areal/catalog.hpp>
#include <areal/error.hpp>
#include <areal/sat.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace areal;

/// Reads numbers from the front of the input; 0 when it is exhausted.
struct Bytes {
  const std::uint8_t* data;
  std::size_t size;
  std::uint8_t next() {
    if (size == 0) return 0;
    --size;
    return *data++;
  }
  std::int64_t below(std::int64_t n) { return (next() | next() << 8) % n; }
};

/// Every pixel is a small integer that each input type holds (8u: 0 .. 127, signed and floats from -64).
std::int64_t pixel_of(std::uint8_t byte, Type type) {
  return is_float(type) || is_signed_integer(type) ? byte % 128 - 64 : byte % 128;
}

template <class T, class V>
void put(void* at, V value) {
  const T stored = static_cast<T>(value);
  std::memcpy(at, &stored, sizeof stored);
}
void put_number(void* at, Type type, std::int64_t value) {
  switch (size_of(type)) {
    case 1:
      return put<std::uint8_t>(at, value);
    case 2:
      return type == Type::f16 ? put<Half>(at, to_half(static_cast<float>(value))) : put<std::uint16_t>(at, value);
    case 4:
      return type == Type::f32 ? put<float>(at, value) : put<std::uint32_t>(at, value);
    default:
      return type == Type::f64 ? put<double>(at, value) : put<std::uint64_t>(at, value);
  }
}

/// A view with gaps of `gap` bytes after rows, planes and images, at an address `gap` bytes past an aligned one. The
/// memory ends with the view, for the address sanitizer.
View placed(std::vector<std::uint8_t>& memory, const Shape& shape, Type type, std::int64_t gap) {
  const bool planar = shape.layout == Layout::planar;
  const std::int64_t row = shape.width * (planar ? 1 : shape.channels) * static_cast<std::int64_t>(size_of(type)) + gap;
  const std::int64_t plane = planar ? row * shape.height + gap : 0;
  const std::int64_t image = (planar ? plane * shape.channels : row * shape.height) + gap;
  memory.assign(static_cast<std::size_t>(image * shape.batch + gap), 0xCD);
  memory.shrink_to_fit();
  return View(memory.data() + gap, type, shape, row, plane, image);
}

struct Request {
  Shape image;
  TypePair types;
  SatOptions options;  // its types are `types`
  Execution execution{.backend = Backend::cpu};
  std::vector<std::int64_t> pixels;  // [image][row][column][channel]
  std::vector<std::uint8_t> valid;   // [image][row][column]
  std::int64_t in_gap, out_gap;

  std::size_t at(std::int64_t n, std::int64_t y, std::int64_t x) const {
    return static_cast<std::size_t>((n * image.height + y) * image.width + x);
  }
};

[[noreturn]] void fail(const Request& r, const char* what, const std::string& id) {
  std::fprintf(stderr, "%s: %s %s border %d %lldx%lldx%lld batch %lld gaps %lld %lld\n", what, id.c_str(),
               name_of(r.types).c_str(), static_cast<int>(r.options.border), static_cast<long long>(r.image.width),
               static_cast<long long>(r.image.height), static_cast<long long>(r.image.channels),
               static_cast<long long>(r.image.batch), static_cast<long long>(r.in_gap),
               static_cast<long long>(r.out_gap));
  std::abort();
}

/// Compares a table with term(n, y, x, c) summed by the definition: one row's running sum added to the row above.
template <class Term>
void check(const Request& r, const std::string& id, const char* name, const View& table, Term term) {
  const Shape& s = table.shape;
  const std::int64_t more = r.options.border == Border::none ? 1 : 0;
  std::vector<std::int64_t> sums(static_cast<std::size_t>(s.width * s.height * s.channels * s.batch));
  const auto index = [&](std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t c) {
    return static_cast<std::size_t>(((n * s.height + y) * s.width + x) * s.channels + c);
  };
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t c = 0; c < s.channels; ++c)
      for (std::int64_t y = 0; y < s.height; ++y) {
        std::int64_t row = 0;
        for (std::int64_t x = 0; x < s.width; ++x) {
          const std::int64_t column = x + more - 1, line = y + more - 1, slice = r.options.volume ? n + more - 1 : n;
          if (column >= 0 && line >= 0)
            for (std::int64_t z = r.options.volume ? 0 : slice; z <= slice; ++z) row += term(z, line, column, c);
          const std::int64_t sum = row + (y > 0 ? sums[index(n, y - 1, x, c)] : 0);
          sums[index(n, y, x, c)] = sum;
          std::uint8_t expected[8] = {};
          put_number(expected, table.type, sum);
          const auto* got = static_cast<const std::uint8_t*>(table.row(y, c, n)) + x * table.column_pitch();
          if (std::memcmp(got, expected, size_of(table.type)) != 0) fail(r, name, id);
        }
      }
}

void run(const Request& r, const std::string& id) {
  SatOptions options = r.options;
  options.algorithm = id;
  const SatPlan plan(r.image, r.types.input, options, r.execution);
  std::vector<std::uint8_t> in, mask, sum, squares, count;
  const View image = placed(in, r.image, r.types.input, r.in_gap);
  for (std::int64_t n = 0; n < r.image.batch; ++n)
    for (std::int64_t y = 0; y < r.image.height; ++y)
      for (std::int64_t x = 0; x < r.image.width; ++x)
        for (std::int64_t c = 0; c < r.image.channels; ++c)
          put_number(
              static_cast<char*>(image.row(y, c, n)) + x * image.column_pitch(), r.types.input,
              r.pixels[r.at(n, y, x) * static_cast<std::size_t>(r.image.channels) + static_cast<std::size_t>(c)]);
  SatArguments arguments{image, placed(sum, plan.table_shape(), r.types.table, r.out_gap)};
  if (options.mask) {
    const View view = placed(mask, {r.image.width, r.image.height, 1, r.image.batch}, Type::u8, r.in_gap);
    for (std::int64_t n = 0; n < r.image.batch; ++n)
      for (std::int64_t y = 0; y < r.image.height; ++y)
        for (std::int64_t x = 0; x < r.image.width; ++x)
          static_cast<std::uint8_t*>(view.row(y, 0, n))[x] = r.valid[r.at(n, y, x)];
    arguments.mask = view;
    arguments.count = placed(count, plan.count_shape(), Type::u32, r.out_gap);
  }
  if (plan.squares_type()) arguments.squares = placed(squares, plan.table_shape(), *plan.squares_type(), r.out_gap);
  std::vector<std::uint8_t> workspace(plan.workspace_bytes() + 1, 0xA5);
  Workspace ready(plan, {reinterpret_cast<std::byte*>(workspace.data() + 1), plan.workspace_bytes()}, Stream::host());
  plan.execute(arguments, ready);

  const auto valid = [&](std::int64_t n, std::int64_t y, std::int64_t x) {
    return !options.mask || r.valid[r.at(n, y, x)] != 0;
  };
  const auto pixel = [&](std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t c) -> std::int64_t {
    const std::size_t i = r.at(n, y, x) * static_cast<std::size_t>(r.image.channels) + static_cast<std::size_t>(c);
    return valid(n, y, x) ? r.pixels[i] : 0;
  };
  check(r, id, "sum", arguments.sum, pixel);
  if (plan.squares_type())
    check(r, id, "squares", arguments.squares, [&](auto n, auto y, auto x, auto c) {
      const std::int64_t v = pixel(n, y, x, c);
      return v * v;
    });
  if (options.mask)
    check(r, id, "count", arguments.count,
          [&](auto n, auto y, auto x, auto) -> std::int64_t { return valid(n, y, x); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes{data, size};
  Request r;
  r.types = type_pairs()[static_cast<std::size_t>(bytes.next()) % type_pairs().size()];
  r.options.types = r.types;
  r.options.border = static_cast<Border>(bytes.next() % 3);
  r.execution.threads = bytes.next() % 3;
  const std::uint8_t extras = bytes.next();
  r.options.volume = (extras & 1) != 0;
  r.options.mask = (extras & 2) != 0;
  if (extras & 4) r.options.squares = Squares::f64;
  if (extras & 8) r.options.tables = Layout::interleaved;
  if (extras & 16) r.image.layout = Layout::planar;
  r.in_gap = bytes.next() % 20;
  r.out_gap = bytes.next() % 20;
  r.image.channels = (extras & 32) ? 1 + bytes.next() % 4 : 1;
  r.image.batch = (extras & 64) ? bytes.next() % 4 : 1;
  r.image.width = bytes.below(1200);
  // At most 2^17 values of at most 64: their sums, and the differences of such sums, are exact in 32f.
  const std::int64_t planes = std::max<std::int64_t>(1, r.image.channels * r.image.batch);
  r.image.height = bytes.below(std::min<std::int64_t>(700, 16384 / (planes * (r.image.width + 1)) + 2));
  // The rest of the bytes, repeated, with a step so that rows differ.
  const auto pixels = static_cast<std::size_t>(r.image.width * r.image.height * r.image.batch);
  const std::size_t left = std::max<std::size_t>(1, bytes.size);
  r.pixels.resize(pixels * static_cast<std::size_t>(r.image.channels));
  r.valid.resize(pixels);
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint8_t>((bytes.size ? bytes.data[i % left] : 0) + i / left * 37);
  };
  for (std::size_t i = 0; i < r.pixels.size(); ++i) r.pixels[i] = pixel_of(byte(i), r.types.input);
  for (std::size_t i = 0; i < pixels; ++i) r.valid[i] = byte(i * 7) % 3;

  const bool plain = !r.options.volume && !r.options.mask && r.options.squares == Squares::no &&
                     r.image.channels == 1 && r.image.batch == 1;
  run(r, "auto");
  for (const Algorithm& row : algorithms()) {
    if (row.family != "sat" || !row.cpu) continue;
    if (plain || !row.plain_only) {
      run(r, std::string(row.id));
      continue;
    }
    try {
      SatOptions options = r.options;
      options.algorithm = row.id;
      const SatPlan plan(r.image, r.types.input, options, r.execution);
      // No channels and an empty batch are valid, like an empty image.
      if (r.image.batch > 0) fail(r, "took options that it does not have", std::string(row.id));
    } catch (const InvalidArgument&) {
    }
  }
  return 0;
}
