#include "elements.hpp"

#include <algorithm>
#include <areal/array.hpp>
#include <areal/device.hpp>
#include <array>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string_view>

#include "question.hpp"

namespace doors {
namespace {

using areal::Type;

struct Dtype {
  std::string_view name;
  Type type;
};
constexpr std::array<Dtype, 12> dtypes = {{{"|u1", Type::u8},
                                           {"|i1", Type::s8},
                                           {"<u2", Type::u16},
                                           {"<i2", Type::s16},
                                           {"<u4", Type::u32},
                                           {"<i4", Type::s32},
                                           {"<u8", Type::u64},
                                           {"<i8", Type::s64},
                                           {"<f2", Type::f16},
                                           {"<f4", Type::f32},
                                           {"<f8", Type::f64},
                                           {"|b1", Type::u8}}};

std::string value_of(const std::string& header, const std::string& key, const std::string& path) {
  const auto found = header.find("'" + key + "'");
  if (found == std::string::npos) throw BadQuestion(path + ": its header has no " + key);
  return header.substr(header.find(':', found) + 1);
}

std::vector<std::int64_t> extents_of(const std::string& text) {
  std::vector<std::int64_t> extents;
  const auto end = text.find(')');
  for (std::size_t i = text.find('(') + 1; i < end;) {
    std::size_t used = 0;
    extents.push_back(std::stoll(text.substr(i), &used));
    i = text.find_first_of("0123456789)", i + used);
  }
  return extents;
}

areal::Shape shape_of(const std::vector<std::int64_t>& e, const std::string& path) {
  switch (e.size()) {
    case 2:
      return {e[1], e[0]};
    case 3:
      return {e[2], e[1], 1, e[0]};
    case 4:
      return {e[2], e[1], e[3], e[0]};
    default:
      throw BadQuestion(path + ": an array of " + std::to_string(e.size()) + " dimensions, of 2 to 4 at most");
  }
}

std::size_t count_of(const areal::Shape& s) {
  return static_cast<std::size_t>(s.width * s.height * s.channels * s.batch);
}

}  // namespace

std::size_t Elements::offset(std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t channel) const noexcept {
  return static_cast<std::size_t>(((n * shape.height + y) * shape.width + x) * shape.channels + channel) *
         areal::size_of(type);
}

Elements read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw BadQuestion(path + ": cannot be read");
  std::array<char, 8> magic{};
  file.read(magic.data(), magic.size());
  if (!file || std::memcmp(magic.data(), "\x93NUMPY", 6) != 0) throw BadQuestion(path + ": is no .npy file");
  std::array<unsigned char, 4> length{};
  file.read(reinterpret_cast<char*>(length.data()), magic[6] == 1 ? 2 : 4);
  std::string header(length[0] + 256U * length[1] + 65536U * length[2], ' ');
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  if (value_of(header, "fortran_order", path).find("True") < 6) throw BadQuestion(path + ": is not in C-order");

  Elements elements;
  elements.dtype = value_of(header, "descr", path);
  elements.dtype = elements.dtype.substr(elements.dtype.find('\'') + 1);
  elements.dtype = elements.dtype.substr(0, elements.dtype.find('\''));
  const auto* known = std::ranges::find(dtypes, std::string_view(elements.dtype), &Dtype::name);
  if (known == dtypes.end()) throw BadQuestion(path + ": has elements of " + elements.dtype);
  elements.type = known->type;
  elements.shape = shape_of(extents_of(value_of(header, "shape", path)), path);
  elements.bytes.resize(count_of(elements.shape) * areal::size_of(elements.type));
  file.read(reinterpret_cast<char*>(elements.bytes.data()), static_cast<std::streamsize>(elements.bytes.size()));
  if (!file) throw BadQuestion(path + ": is too short");
  return elements;
}

void write_npy(const std::string& path, const Elements& elements, const std::vector<std::int64_t>& extents) {
  std::string shape;
  for (const std::int64_t extent : extents) shape += std::to_string(extent) + ",";
  std::string header = "{'descr': '" + elements.dtype + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY\x01\x00", 8);
  file.put(static_cast<char>(header.size() % 256)).put(static_cast<char>(header.size() / 256));
  file << header;
  file.write(reinterpret_cast<const char*>(elements.bytes.data()), static_cast<std::streamsize>(elements.bytes.size()));
  file.close();
  if (!file) throw BadQuestion(path + ": cannot be written");
}

void write_npy(const std::string& path, const Elements& elements) {
  const auto& s = elements.shape;
  write_npy(path, elements, {s.batch, s.height, s.width, s.channels});
}

Elements elements_of(const areal::Shape& shape, Type type) {
  Elements elements;
  elements.type = type;
  elements.dtype = std::ranges::find(dtypes, type, &Dtype::type)->name;
  elements.shape = shape;
  elements.bytes.resize(count_of(shape) * areal::size_of(type));
  return elements;
}

Elements turned(const Elements& elements) {
  Elements out = elements;
  const auto& s = elements.shape;
  const auto pixel = static_cast<std::size_t>(s.channels) * areal::size_of(elements.type);
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t y = 0; y < s.height; ++y)
      for (std::int64_t x = 0; x < s.width; ++x)
        std::memcpy(&out.bytes[out.offset(n, s.height - 1 - y, s.width - 1 - x, 0)],
                    &elements.bytes[elements.offset(n, y, x, 0)], pixel);
  return out;
}

Elements image_of(const Elements& elements, std::int64_t n) {
  Elements out = elements;
  out.shape.batch = 1;
  const std::size_t bytes = elements.bytes.size() / static_cast<std::size_t>(elements.shape.batch);
  const auto first = elements.bytes.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(n) * bytes);
  out.bytes.assign(first, first + static_cast<std::ptrdiff_t>(bytes));
  return out;
}

const std::byte* at(const areal::ConstView& view, std::int64_t n, std::int64_t y, std::int64_t x,
                    std::int64_t channel) {
  return static_cast<const std::byte*>(view.data) + n * view.batch_pitch + y * view.row_pitch +
         channel * view.plane_pitch + x * view.column_pitch();
}
std::byte* at(const areal::View& view, std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t channel) {
  return const_cast<std::byte*>(at(areal::ConstView(view), n, y, x, channel));
}

areal::ConstView part(const areal::ConstView& view, std::int64_t x, std::int64_t y, std::int64_t width,
                      std::int64_t height) {
  areal::ConstView of = view;
  of.data = at(view, 0, y, x, 0);
  of.shape.width = width;
  of.shape.height = height;
  return of;
}
areal::View part(const areal::View& view, std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height) {
  areal::View of = view;
  of.data = at(view, 0, y, x, 0);
  of.shape.width = width;
  of.shape.height = height;
  return of;
}

void copy_elements(const areal::ConstView& from, const areal::View& to) {
  const auto& s = to.shape;
  const auto& f = from.shape;
  if (from.type != to.type || f.width != s.width || f.height != s.height || f.channels != s.channels ||
      f.batch != s.batch)
    throw Failed("elements of another shape or type: " + std::to_string(f.width) + "x" + std::to_string(f.height) +
                 " where " + std::to_string(s.width) + "x" + std::to_string(s.height) + " belong");
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t y = 0; y < s.height; ++y)
      for (std::int64_t x = 0; x < s.width; ++x)
        for (std::int64_t c = 0; c < s.channels; ++c)
          std::memcpy(at(to, n, y, x, c), at(from, n, y, x, c), areal::size_of(to.type));
}

Elements gather(const areal::ConstView& view) {
  Elements out = elements_of(view.shape, view.type);
  areal::Shape plain = view.shape;
  plain.layout = areal::Layout::interleaved;
  const areal::View into(out.bytes.data(), view.type, plain);
  if (view.memory.is_host()) {
    copy_elements(view, into);
  } else {
    areal::Array host(view.shape, view.type);
    areal::copy_view(view, host.view());
    copy_elements(areal::ConstView(host.view()), into);
  }
  return out;
}

}  // namespace doors
