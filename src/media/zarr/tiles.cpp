// Tiles of a Zarr array: its chunks in the chosen plane.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include "media/file_error.hpp"
#include "media/zarr/zarr.hpp"

namespace areal::media {
namespace {

constexpr int most_workers = 64;

class StoredFile {
 public:
  // `name` begins the sentence of an error. A missing file is no error.
  StoredFile(const fs::path& path, std::string name) : name_(std::move(name)) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0 && errno != ENOENT && errno != ENOTDIR)
      fail(name_, "could not be opened (", std::strerror(errno), ")");
    struct stat status {};
    if (descriptor_ < 0) return;
    if (::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
      size_ = static_cast<std::uint64_t>(status.st_size);
      return;
    }
    ::close(descriptor_);
    fail(name_, "is not a regular file");
  }
  ~StoredFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  StoredFile(const StoredFile&) = delete;
  StoredFile& operator=(const StoredFile&) = delete;
  bool is_there() const { return descriptor_ >= 0; }
  std::uint64_t size() const { return size_; }
  void read(std::uint64_t from, char* into, std::size_t bytes) const {
    for (std::size_t done = 0; done < bytes;) {
      const ::ssize_t got = ::pread(descriptor_, into + done, bytes - done, static_cast<::off_t>(from + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail(name_, "could not be read (", std::strerror(errno), ")");
      if (got == 0) fail(name_, "was cut short while it was read");
      done += static_cast<std::size_t>(got);
    }
  }

 private:
  std::string name_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

std::optional<std::string> text_of(const fs::path& folder, const fs::path& file, const std::string& name) {
  const StoredFile stored(folder / file, name);
  if (!stored.is_there()) return {};
  if (stored.size() > most_metadata)
    fail(name, "has ", stored.size(), " bytes; metadata of at most ", most_metadata, " are read");
  std::string text(static_cast<std::size_t>(stored.size()), '\0');
  stored.read(0, text.data(), text.size());
  return text;
}

// The array that a folder holds; nothing for a group.
std::optional<ZarrArray> array_in(const fs::path& root, const fs::path& folder, ZarrLevels& levels) {
  const auto named = [&](const char* file) { return root.string() + ": " + (folder / file).string(); };
  if (const auto text = text_of(root, folder / "zarr.json", named("zarr.json"))) {
    if (auto array = parse_zarr_array_v3(*text, named("zarr.json"))) return array;
    levels = parse_multiscales(*text, named("zarr.json"));
    return {};
  }
  const auto attributes = text_of(root, folder / ".zattrs", named(".zattrs"));
  if (const auto text = text_of(root, folder / ".zarray", named(".zarray"))) {
    ZarrArray array = parse_zarr_array_v2(*text, named(".zarray"));
    if (attributes) array.names = parse_array_dimensions(*attributes, named(".zattrs"));
    return array;
  }
  if (attributes) levels = parse_multiscales(*attributes, named(".zattrs"));
  return {};
}

// The roles of the array's axes; all other axes have one fixed position.
struct Plane {
  std::size_t x = 0, y = 0;
  std::optional<std::size_t> c = {};
  std::vector<std::int64_t> position;  // 0 along x, y and c
};

template <class T>
void take_plane(const char* chunk, std::size_t from, std::array<std::int64_t, 2> strides, std::int64_t width,
                std::int64_t height, bool swap, char* into, std::int64_t channels) {
  for (std::int64_t y = 0; y < height; ++y) {
    const char* in = chunk + (static_cast<std::int64_t>(from) + y * strides[1]) * static_cast<std::int64_t>(sizeof(T));
    char* out = into + y * width * channels * static_cast<std::int64_t>(sizeof(T));
    if (strides[0] == 1 && channels == 1 && !swap) {
      std::memcpy(out, in, static_cast<std::size_t>(width) * sizeof(T));
      continue;
    }
    for (std::int64_t x = 0; x < width; ++x) {
      std::array<char, sizeof(T)> value;
      std::memcpy(value.data(), in + x * strides[0] * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
      if (swap) std::reverse(value.begin(), value.end());
      std::memcpy(out + x * channels * static_cast<std::int64_t>(sizeof(T)), value.data(), sizeof(T));
    }
  }
}

class ZarrTiles final : public TileSource {
 public:
  ZarrTiles(const fs::path& root, const ReadOptions& options) : name_(root.string()) {
    ZarrLevels levels;
    auto array = array_in(root, "", levels);
    if (options.level < 0) refuse(name_, "level ", options.level, " does not exist: levels count from 0");
    if (!array) {
      if (levels.paths.empty())
        fail(name_, "is a Zarr group without a picture of several levels: name an array or a picture inside it");
      if (options.level >= std::ssize(levels.paths))
        refuse(name_, "level ", options.level, " does not exist: the picture has ", levels.paths.size(),
               levels.paths.size() == 1 ? " level" : " levels", ", counted from 0");
      level_ = levels.paths[static_cast<std::size_t>(options.level)];
      ZarrLevels none;
      array = array_in(root, level_, none);
      if (!array) fail(name_, "has no array at its level ", printable(level_.string(), 60));
      if (!levels.axes.empty()) array->names = levels.axes;
    } else if (options.level != 0) {
      refuse(name_, "has one level; level ", options.level, " does not exist");
    }
    array_ = std::move(*array);
    folder_ = root / level_;
    if (array_.big_endian && size_of(array_.type) == 1) array_.big_endian = false;
    require_codecs(array_.codecs, name_);
    choose_plane(options);
    strides_.resize(array_.chunk.size());
    std::int64_t stride = 1;
    for (std::size_t i = array_.chunk.size(); i-- > 0; stride *= array_.chunk[i]) strides_[i] = stride;
    lay_tiles(options);
    const auto length = [&](std::size_t axis) {
      const auto level = static_cast<std::size_t>(options.level);
      if (level >= levels.scales.size() || axis >= levels.scales[level].size()) return 0.0;
      return levels.scales[level][axis] * micrometres_of(levels.units[axis]);
    };
    layout_.pixel_size = pixel_size_of(length(plane_.x), length(plane_.y));
  }

  const TileLayout& layout() const override { return layout_; }

  void decode(int worker, std::int64_t column, std::int64_t row, void* into) override {
    const std::int64_t width = std::min(layout_.tile_width, layout_.width - column * layout_.tile_width);
    const std::int64_t height = std::min(layout_.tile_height, layout_.height - row * layout_.tile_height);
    std::vector<std::int64_t> position = plane_.position;
    std::int64_t from = 0;
    for (std::size_t i = 0; i < position.size(); ++i) {
      from += position[i] % array_.chunk[i] * strides_[i];
      position[i] /= array_.chunk[i];
    }
    position[plane_.x] = column;
    position[plane_.y] = row;
    const char* chunk = nullptr;
    std::int64_t loaded = -1;
    const auto size = static_cast<std::int64_t>(size_of(layout_.type));
    for (std::int64_t k = 0; k < layout_.channels; ++k) {
      const std::int64_t channel = channels_[static_cast<std::size_t>(k)];
      std::int64_t at = from;
      if (plane_.c) {
        position[*plane_.c] = channel / array_.chunk[*plane_.c];
        at += channel % array_.chunk[*plane_.c] * strides_[*plane_.c];
      }
      if (const std::int64_t wanted = plane_.c ? position[*plane_.c] : 0; wanted != loaded) {
        chunk = load(workers_[static_cast<std::size_t>(worker)], position);
        loaded = wanted;
      }
      put_channel(chunk, at, width, height, static_cast<char*>(into) + k * size);
    }
  }

 private:
  struct Worker {
    std::vector<char> coded, decoded, index;
    std::string shard;  // of the cached index
  };

  void choose_plane(const ReadOptions& options) {
    const std::vector<std::int64_t>& shape = array_.shape;
    for (const std::int64_t extent : shape)
      if (extent > INT32_MAX) fail(name_, "has an axis of ", extent, " elements; at most 2^31 - 1 are read");
    std::vector<std::string> names = array_.names;
    const auto count = [&](const char* name) { return std::count(names.begin(), names.end(), name); };
    for (std::string& axis : names) {
      if (axis == "time") axis = "t";
      if (axis == "channel") axis = "c";
    }
    if (names.size() != shape.size() || count("x") != 1 || count("y") != 1) {
      // As in .npy, and in OME-Zarr before axes were named.
      if (shape.size() == 2)
        names = {"y", "x"};
      else if (shape.size() == 3 && shape[2] <= 4)
        names = {"y", "x", "c"};
      else if (shape.size() == 5)
        names = {"t", "c", "z", "y", "x"};
      else
        fail(name_, "has ", shape.size(), " axes, whose names do not say which are y and x");
    }
    plane_.position.assign(shape.size(), 0);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const std::string& axis = names[i];
      if (axis == "x") {
        plane_.x = i;
      } else if (axis == "y") {
        plane_.y = i;
      } else if (axis == "c" && !plane_.c) {
        plane_.c = i;
      } else if (axis == "t" || axis == "z") {
        choose_position(i, axis, axis == "t" ? options.t : options.z);
      } else if (shape[i] != 1) {
        fail(name_, "has an axis '", printable(axis, 20), "' of ", shape[i], " elements; areal reads t, c, z, y and x");
      }
    }
    if (count("t") == 0 && options.t != 0) refuse(name_, "t ", options.t, " does not exist: the picture has no axis t");
    if (count("z") == 0 && options.z != 0) refuse(name_, "z ", options.z, " does not exist: the picture has no axis z");
  }

  void choose_position(std::size_t axis, const std::string& name, std::int64_t chosen) {
    const std::int64_t extent = array_.shape[axis];
    if (chosen < 0 || (chosen >= extent && (chosen > 0 || extent > 0)))
      refuse(name_, name, " ", chosen, " does not exist: the picture has ", extent, ", counted from 0");
    plane_.position[axis] = chosen;
    if (extent > 1)
      layout_.notes.push_back(name + " " + std::to_string(chosen) + " of " + std::to_string(extent) + " was read");
  }

  void lay_tiles(const ReadOptions& options) {
    const std::int64_t channels = plane_.c ? array_.shape[*plane_.c] : 1;
    if (plane_.c && channels == 0) fail(name_, "has no channels");
    const Channels choice = array_channels(channels, array_.type, options, name_, layout_.notes);
    channels_.assign(choice.chosen.begin(), choice.chosen.end());
    layout_.channels = std::ssize(channels_);
    layout_.choice = choice;
    for (int i = 0; i < static_cast<int>(layout_.channels); ++i) layout_.choice.chosen[static_cast<std::size_t>(i)] = i;
    layout_.type = array_.type;
    layout_.width = array_.shape[plane_.x];
    layout_.height = array_.shape[plane_.y];
    layout_.tile_width = array_.chunk[plane_.x];
    layout_.tile_height = array_.chunk[plane_.y];
    layout_.most_workers = most_workers;
    const auto bytes = static_cast<std::uint64_t>(array_.chunk_bytes());
    layout_.decoder_bytes = 2 * bytes + most_coded() + index_bytes();
  }

  std::uint64_t most_coded() const { return 2 * static_cast<std::uint64_t>(array_.chunk_bytes()) + (64 << 10); }
  std::uint64_t index_bytes() const {
    return array_.sharded ? 16 * static_cast<std::uint64_t>(array_.chunks_of_shard()) + (array_.index_checked ? 4 : 0)
                          : 0;
  }

  // The decoded chunk, or null if it was never written.
  const char* load(Worker& worker, const std::vector<std::int64_t>& position) {
    std::vector<std::int64_t> object = position;
    std::int64_t inner = 0;
    for (std::size_t i = 0; i < position.size(); ++i) {
      const std::int64_t per_object = array_.grid[i] / array_.chunk[i];
      inner = inner * per_object + position[i] % per_object;
      object[i] /= per_object;
    }
    const std::string key = array_.key(object);
    const std::string name = name_ + ": chunk " + (level_ / key).string();
    const StoredFile file(folder_ / key, name);
    if (!file.is_there()) return nullptr;
    std::uint64_t from = 0, bytes = file.size();
    if (array_.sharded && !find_in_shard(worker, file, key, name, inner, from, bytes)) return nullptr;
    if (bytes > most_coded()) fail(name, "has ", bytes, " bytes, more than its ", array_.chunk_bytes(), " can take");
    worker.coded.resize(static_cast<std::size_t>(bytes));
    file.read(from, worker.coded.data(), worker.coded.size());
    worker.decoded.resize(static_cast<std::size_t>(array_.chunk_bytes()));
    decode_chunk(array_.codecs, worker.coded, worker.decoded.data(), worker.decoded.size(), name);
    return worker.decoded.data();
  }

  // The index of a shard: offset and length of each chunk, both 2^64 - 1 for one that was never written.
  bool find_in_shard(Worker& worker, const StoredFile& file, const std::string& key, const std::string& name,
                     std::int64_t inner, std::uint64_t& from, std::uint64_t& bytes) {
    const std::uint64_t size = index_bytes();
    if (file.size() < size) fail(name, "is truncated: its index has ", size, " bytes, the shard ", file.size());
    if (worker.shard != key || worker.index.empty()) {
      worker.shard.clear();
      worker.index.resize(static_cast<std::size_t>(size));
      file.read(array_.index_first ? 0 : file.size() - size, worker.index.data(), worker.index.size());
      std::uint32_t stored = 0;
      if (array_.index_checked) std::memcpy(&stored, worker.index.data() + size - 4, 4);
      if (array_.index_checked && stored != crc32c(worker.index.data(), static_cast<std::size_t>(size - 4)))
        fail(name, "is damaged or truncated: the checksum of its index is another one");
      worker.shard = key;
    }
    std::memcpy(&from, worker.index.data() + 16 * inner, 8);
    std::memcpy(&bytes, worker.index.data() + 16 * inner + 8, 8);
    if (from == UINT64_MAX && bytes == UINT64_MAX) return false;
    if (from > file.size() || bytes > file.size() - from)
      fail(name, "is damaged or truncated: a chunk of it ends behind its ", file.size(), " bytes");
    return true;
  }

  // One channel of a tile, from element `at` of the chunk on.
  void put_channel(const char* chunk, std::int64_t at, std::int64_t width, std::int64_t height, char* into) const {
    const std::array<std::int64_t, 2> strides =
        chunk ? std::array<std::int64_t, 2>{strides_[plane_.x], strides_[plane_.y]} : std::array<std::int64_t, 2>{0, 0};
    const char* from = chunk ? chunk : reinterpret_cast<const char*>(array_.fill.data());
    const auto first = static_cast<std::size_t>(chunk ? at : 0);
    const bool swap = chunk && array_.big_endian;
    switch (size_of(array_.type)) {
      case 1:
        return take_plane<std::uint8_t>(from, first, strides, width, height, swap, into, layout_.channels);
      case 2:
        return take_plane<std::uint16_t>(from, first, strides, width, height, swap, into, layout_.channels);
      case 4:
        return take_plane<std::uint32_t>(from, first, strides, width, height, swap, into, layout_.channels);
      default:
        return take_plane<std::uint64_t>(from, first, strides, width, height, swap, into, layout_.channels);
    }
  }

  std::string name_;
  fs::path folder_, level_;
  ZarrArray array_;
  Plane plane_;
  std::vector<std::int64_t> strides_, channels_;
  TileLayout layout_;
  std::array<Worker, most_workers> workers_;
};

}  // namespace

bool is_zarr(const fs::path& folder) {
  std::error_code error;
  for (const char* file : {"zarr.json", ".zarray", ".zgroup", ".zattrs"})
    if (fs::exists(folder / file, error)) return true;
  return false;
}

std::unique_ptr<TileSource> open_zarr(const fs::path& folder, const ReadOptions& options) {
  return std::make_unique<ZarrTiles>(folder, options);
}

}  // namespace areal::media
