#pragma once
// Pictures made by hand, byte by byte: oracles that share no code with the readers.

#include <cstdint>
#include <string>
#include <vector>

namespace areal::test {

inline std::string little(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 255);
  return out;
}
inline std::string big(std::uint64_t value, int bytes) {
  const std::string out = little(value, bytes);
  return {out.rbegin(), out.rend()};
}

// PNG (ISO/IEC 15948). The coded data is deflate's "stored" form: no compressor needed.
inline std::string png_chunk(const std::string& type, const std::string& data) {
  std::uint32_t crc = 0xffffffffu;
  for (const char c : type + data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return big(data.size(), 4) + type + data + big(crc ^ 0xffffffffu, 4);
}
inline std::string zlib_stored(const std::string& data) {
  std::string out = "\x78\x01";
  for (std::size_t at = 0; at < data.size() || at == 0; at += 65535) {
    const std::string part = data.substr(at, 65535);
    out += static_cast<char>(at + 65535 >= data.size());
    out += little(part.size(), 2) + little(~part.size() & 0xffff, 2) + part;
  }
  std::uint32_t a = 1, b = 0;
  for (const char c : data) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return out + big(b << 16 | a, 4);
}
// `rows`: the bytes of all rows without filter bytes, `pitch` bytes each. `extra`: chunks before the data.
inline std::string png(std::uint32_t width, std::uint32_t height, int bits, int colour_type, const std::string& rows,
                       std::size_t pitch, const std::string& extra = {}) {
  std::string filtered;
  for (std::size_t at = 0; at < rows.size(); at += pitch) filtered += '\0' + rows.substr(at, pitch);
  const std::string header =
      big(width, 4) + big(height, 4) + static_cast<char>(bits) + static_cast<char>(colour_type) + std::string(3, '\0');
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + extra + png_chunk("IDAT", zlib_stored(filtered)) +
         png_chunk("IEND", "");
}

// TIFF 6 and BigTIFF, uncompressed unless its pieces are given, little-endian; strips of `rows_per_strip` rows or tiles
// of tile x tile pixels.
struct Tiff {
  std::uint32_t width = 0, height = 0;
  int bits = 8, samples = 1;
  int photometric = 1;     // 1 grey, 2 RGB, 3 palette, 5 CMYK
  int sample_format = 1;   // 1 unsigned, 2 signed, 3 float
  int extra_samples = -1;  // 2: unassociated alpha
  int compression = 1;
  std::uint32_t tile = 0, rows_per_strip = 0;
  bool bigtiff = false;
  std::string colour_map = {};  // 16-bit values: all red, all green, all blue
  std::string description = {};
  std::uint32_t resolution = 0, resolution_down = 0;  // thousandths of pixels per unit
  int resolution_unit = 0;                            // 1 none, 2 inches, 3 centimetres
  std::vector<std::string> coded = {};                // its tiles or strips, where they are compressed
  std::size_t base = 0;                               // what offsets count from, where it is not the first page
  std::vector<std::uint64_t> sub_ifds = {};
};

inline std::string tiff(const Tiff& t, const std::string& pixels) {
  const std::size_t pixel = static_cast<std::size_t>(t.bits / 8 * t.samples), row = pixel * t.width;
  std::vector<std::string> pieces;
  if (!t.coded.empty()) {
    pieces = t.coded;
  } else if (t.tile) {
    for (std::uint32_t y0 = 0; y0 < t.height; y0 += t.tile)
      for (std::uint32_t x0 = 0; x0 < t.width; x0 += t.tile) {
        std::string piece;
        for (std::uint32_t y = y0; y < y0 + t.tile; ++y)
          for (std::uint32_t x = x0; x < x0 + t.tile; ++x)
            piece += y < t.height && x < t.width ? pixels.substr(y * row + x * pixel, pixel) : std::string(pixel, '?');
        pieces.push_back(piece);
      }
  } else {
    const std::uint32_t rows = t.rows_per_strip ? t.rows_per_strip : t.height;
    for (std::uint64_t y = 0; y < t.height && y * row < pixels.size(); y += rows)
      pieces.push_back(pixels.substr(y * row, rows * row));
  }
  const int word = t.bigtiff ? 8 : 4;
  std::string data, offsets, counts, bits;
  const std::string start = t.bigtiff ? "II\x2b" + little(0, 1) + little(8, 2) + little(0, 2) : "II\x2a" + little(0, 1);
  const std::size_t first = t.base + start.size() + static_cast<std::size_t>(word);
  const auto put = [&](const std::string& bytes) {  // returns its offset
    const std::size_t at = first + data.size();
    data += bytes + (bytes.size() % 2 ? "?" : "");
    return at;
  };
  for (const std::string& piece : pieces) {
    offsets += little(put(piece), word);
    counts += little(piece.size(), word);
  }
  for (int i = 0; i < t.samples; ++i) bits += little(static_cast<std::uint64_t>(t.bits), 2);
  std::vector<std::string> entries;
  // Types: 2 is text, 3 is a 16-bit word, 4 a 32-bit one, 5 two of them, 16 a 64-bit one; 13 and 18 places of
  // directories.
  const auto entry = [&](int tag, int type, const std::string& values) {
    const int size = type == 2 ? 1 : type == 3 ? 2 : type == 4 || type == 13 ? 4 : 8;
    const std::string value = values.size() <= static_cast<std::size_t>(word) ? values : little(put(values), word);
    entries.push_back(little(static_cast<std::uint64_t>(tag), 2) + little(static_cast<std::uint64_t>(type), 2) +
                      little(values.size() / static_cast<std::size_t>(size), word) + value +
                      std::string(static_cast<std::size_t>(word) - value.size(), '\0'));
  };
  const auto number = [](int v) { return little(static_cast<std::uint64_t>(v), 2); };
  std::string formats;
  for (int i = 0; i < t.samples; ++i) formats += number(t.sample_format);
  entry(256, 4, little(t.width, 4));
  entry(257, 4, little(t.height, 4));
  entry(258, 3, bits);
  entry(259, 3, number(t.compression));
  entry(262, 3, number(t.photometric));
  if (!t.description.empty()) entry(270, 2, t.description + std::string(1, '\0'));
  if (!t.tile) entry(273, t.bigtiff ? 16 : 4, offsets);
  entry(277, 3, number(t.samples));
  if (!t.tile) entry(278, 4, little(t.rows_per_strip ? t.rows_per_strip : t.height, 4));
  if (!t.tile) entry(279, t.bigtiff ? 16 : 4, counts);
  if (t.resolution != 0) entry(282, 5, little(t.resolution, 4) + little(1000, 4));
  if (t.resolution_down != 0) entry(283, 5, little(t.resolution_down, 4) + little(1000, 4));
  entry(284, 3, number(1));
  if (t.resolution_unit != 0) entry(296, 3, number(t.resolution_unit));
  if (!t.colour_map.empty()) entry(320, 3, t.colour_map);
  if (t.tile) {
    entry(322, 4, little(t.tile, 4));
    entry(323, 4, little(t.tile, 4));
    entry(324, t.bigtiff ? 16 : 4, offsets);
    entry(325, t.bigtiff ? 16 : 4, counts);
  }
  if (!t.sub_ifds.empty()) {
    std::string places;
    for (const std::uint64_t place : t.sub_ifds) places += little(place, word);
    entry(330, t.bigtiff ? 18 : 13, places);
  }
  if (t.extra_samples >= 0) entry(338, 3, number(t.extra_samples));
  entry(339, 3, formats);
  std::string directory = little(entries.size(), t.bigtiff ? 8 : 2);
  for (const std::string& e : entries) directory += e;
  return start + little(first + data.size(), word) + data + directory + little(0, word);
}

// A page whose other levels are in sub-IFDs behind it.
inline std::string with_levels(Tiff first, const std::string& pixels, std::vector<Tiff> levels,
                               const std::vector<std::string>& pixels_of_levels) {
  const std::size_t word = first.bigtiff ? 8 : 4;
  first.sub_ifds.assign(levels.size(), 0);
  std::string behind;
  const std::size_t begin = (tiff(first, pixels).size() + 1) / 2 * 2;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    levels[i].base = begin + behind.size();
    std::string level = tiff(levels[i], pixels_of_levels[i]);
    first.sub_ifds[i] = 0;
    for (std::size_t b = 0; b < word; ++b)
      first.sub_ifds[i] |= std::uint64_t{static_cast<unsigned char>(level[word + b])} << 8 * b;
    if (level.size() % 2) level += '?';
    behind += level;
  }
  std::string file = tiff(first, pixels);
  file.resize(begin, '?');
  return file + behind;
}

// A file of two pages, 32-bit offsets.
inline std::string two_pages(const Tiff& one, const std::string& pixels_of_one, Tiff two,
                             const std::string& pixels_of_two) {
  std::string file = tiff(one, pixels_of_one);
  if (file.size() % 2) file += '?';
  two.base = file.size();
  const std::string second = tiff(two, pixels_of_two);
  // The first page ends with the offset of the next, a file's header with that of the first.
  const std::size_t link = tiff(one, pixels_of_one).size() - 4;
  return file.replace(link, 4, second.substr(4, 4)) + second;
}

}  // namespace areal::test
