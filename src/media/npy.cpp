// .npy files: versions 1 to 3, little-endian, C order.
#include "media/npy.hpp"
#include <algorithm>
#include <areal/array.hpp>
#include <array>
#include <bit>
#include "media/file_error.hpp"
#include "media/input_file.hpp"
#include "media/media.hpp"
#include "media/npy_header.hpp"
#include "media/rows.hpp"

namespace areal::media {
namespace {

static_assert(std::endian::native == std::endian::little, "rows are written as they lie in memory");

// numpy itself refuses more than 10,000 by default; no plain array needs even 300.
constexpr std::uint32_t largest_dictionary = 65535;

// The file's size bounds the rows of an array with elements. Rows of no elements are free, and are visited all the
// same.
constexpr std::int64_t most_without_elements = 1 << 24;

bool has_too_many_empty_rows(const std::vector<std::int64_t>& extents) {
  if (std::find(extents.begin(), extents.end(), 0) == extents.end()) return false;
  std::int64_t all = 1;
  for (const std::int64_t extent : extents)
    if (extent > 0 && (__builtin_mul_overflow(all, extent, &all) || all > most_without_elements)) return true;
  return false;
}

Shape shape_along(const std::vector<std::int64_t>& s, Axes axes, const std::string& name) {
  if (axes == Axes::line) {
    if (s.size() != 1) fail(name, "holds an array of ", s.size(), " dimensions; a line has 1");
    return {s[0], 1};
  }
  switch (s.size()) {
    case 2:
      return {s[1], s[0]};
    case 3:
      if (axes == Axes::hwc) return {s[1], s[0], s[2]};
      if (axes == Axes::chw) return {s[2], s[1], s[0], 1, Layout::planar};
      return {s[2], s[1], 1, s[0]};
    case 4:
      if (axes == Axes::chw) return {s[3], s[2], s[1], s[0], Layout::planar};
      return {s[2], s[1], s[3], s[0]};
    default:
      fail(name, "holds an array of ", s.size(), " dimensions; areal reads 2 (height, width), 3 or 4");
  }
}

std::vector<std::int64_t> numpy_shape(const Shape& s) {
  std::vector<std::int64_t> out{s.height, s.width};
  if (s.layout == Layout::planar)
    out.insert(out.begin(), s.channels);
  else if (s.channels != 1)
    out.push_back(s.channels);
  if (s.batch != 1) out.insert(out.begin(), s.batch);
  return out;
}

Array read_after_magic(InputFile& file, Axes axes, std::uint64_t memory_limit) {
  const NpyLayout layout = read_npy_layout(file, axes);
  require_memory(file.name(), layout.bytes, memory_limit);
  Array array(layout.shape, layout.type);
  file.read_exactly(array.data(), array.bytes(), "data");
  return array;
}

constexpr std::string_view magic("\x93NUMPY", 6);

bool begins_with_magic(InputFile& file) {
  std::array<char, magic.size()> start{};
  return file.read(start.data(), start.size()) == start.size() && std::string_view(start.data(), start.size()) == magic;
}

}  // namespace

NpyLayout read_npy_layout(InputFile& file, Axes axes) {
  std::array<unsigned char, 2> version{};
  file.read_exactly(version.data(), version.size(), "header");
  if (version[0] < 1 || version[0] > 3 || version[1] != 0)
    fail(file.name(), "is .npy version ", int{version[0]}, ".", int{version[1]}, "; areal reads 1.0, 2.0 and 3.0");
  std::array<unsigned char, 4> length{};
  file.read_exactly(length.data(), version[0] == 1 ? 2 : 4, "header");
  const std::uint32_t bytes =
      length[0] | std::uint32_t{length[1]} << 8 | std::uint32_t{length[2]} << 16 | std::uint32_t{length[3]} << 24;
  if (bytes > largest_dictionary)
    fail(file.name(), "declares a header of ", bytes, " bytes; at most ", largest_dictionary, " are read");
  std::string dictionary(bytes, '\0');
  file.read_exactly(dictionary.data(), bytes, "header");
  const NpyHeader header = parse_npy_dictionary(dictionary, file.name());
  if (has_too_many_empty_rows(header.shape))
    fail(file.name(), "declares a shape without elements whose other extents exceed ", most_without_elements);
  NpyLayout layout;
  layout.type = header.type;
  layout.shape = shape_along(header.shape, axes, file.name());
  layout.begin = 8u + (version[0] == 1 ? 2u : 4u) + bytes;
  try {
    layout.bytes = bytes_of(layout.shape, header.type);
  } catch (const InvalidArgument&) {
    fail(file.name(), "declares a shape whose bytes do not fit 63 bits");
  }
  if (const auto size = file.size()) {
    const std::uint64_t there = *size - layout.begin;
    if (there < layout.bytes)
      fail(file.name(), "is truncated: its header declares ", layout.bytes, " bytes of data, ", there, " are there");
    if (there > layout.bytes)
      fail(file.name(), "has ", there - layout.bytes, " bytes after the ", layout.bytes, " that its header declares");
  }
  return layout;
}

void require_npy_magic(InputFile& file) {
  if (!begins_with_magic(file)) fail(file.name(), "is not a .npy file (it does not begin with \\x93NUMPY)");
}

bool is_npy(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  InputFile file(path);
  return begins_with_magic(file);
}

Array read_npy(const fs::path& path, Axes axes, std::uint64_t memory_limit) {
  InputFile file(path);
  require_npy_magic(file);
  Array array = read_after_magic(file, axes, memory_limit);
  file.require_end();
  return array;
}

Array read_npy(std::FILE* stream, const std::string& name, Axes axes, std::uint64_t memory_limit) {
  InputFile file(stream, name);
  std::array<char, magic.size()> start{};
  const std::size_t got = file.read(start.data(), start.size());
  if (got == 0) return {};
  if (got < start.size() || std::string_view(start.data(), start.size()) != magic)
    fail(name, "does not continue with a .npy array (\\x93NUMPY)");
  return read_after_magic(file, axes, memory_limit);
}

std::string npy_preamble_of(const ConstView& array) { return npy_preamble({array.type, numpy_shape(array.shape)}); }

std::uint64_t npy_file_bytes(const ConstView& array) {
  return npy_preamble_of(array).size() + bytes_of(array.shape, array.type);
}

void write_npy_into(OutputFile& file, const ConstView& array) {
  const std::string preamble = npy_preamble_of(array);
  file.write(preamble.data(), preamble.size());
  for_each_run(array, [&](const void* data, std::size_t bytes) { file.write(data, bytes); });
}

void write_npy(const fs::path& path, const ConstView& array) {
  OutputFile file(path, npy_file_bytes(array));
  write_npy_into(file, array);
  file.commit();
}

std::uint64_t npy_line_bytes(const ConstView& line) {
  return npy_preamble({line.type, {line.shape.width}}).size() + bytes_of(line.shape, line.type);
}

void write_npy_line_into(OutputFile& file, const ConstView& line) {
  const std::string preamble = npy_preamble({line.type, {line.shape.width}});
  file.write(preamble.data(), preamble.size());
  for_each_run(line, [&](const void* data, std::size_t bytes) { file.write(data, bytes); });
}

void write_npy_line(const fs::path& path, const ConstView& line) {
  OutputFile file(path, npy_line_bytes(line));
  write_npy_line_into(file, line);
  file.commit();
}

void require_raw_size(const InputFile& file, const Shape& shape, Type type) {
  const std::uint64_t bytes = bytes_of(shape, type);
  if (file.size() && *file.size() != bytes)
    fail(file.name(), "has ", *file.size(), " bytes, but ", shape.width, "x", shape.height, "x", name_of(type), " are ",
         bytes);
}

Array read_raw(const fs::path& path, const Shape& shape, Type type, std::uint64_t memory_limit) {
  InputFile file(path);
  require_raw_size(file, shape, type);
  require_memory(file.name(), bytes_of(shape, type), memory_limit);
  Array array(shape, type);
  file.read_exactly(array.data(), array.bytes(), "data");
  file.require_end();
  return array;
}

}  // namespace areal::media
