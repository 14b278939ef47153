// Writing a chunked table that is interrupted: killed, cancelled, failing, on a full disk; and gone on with.

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>
#include "chunked_cases.hpp"

namespace areal::test {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

constexpr std::int64_t usual_tile = 256;

void write(const fs::path& path, const TestImage& image, ChunkedWriteOptions options = {}) {
  if (options.tile == 0) options.tile = usual_tile;
  options.sync = false;  // command_durable_test has that; here it would only take time
  write_chunked_table(path, image.shape(), image.type, image.reader(), options);
}

/// Calls `body` in a child process; returns what waitpid says. Where `body` throws, the child exits with 99.
template <class Body>
int in_child(const Body& body, const std::function<void(pid_t)>& meanwhile = {}) {
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 99;
    try {
      code = body();
    } catch (...) {
    }
    ::_exit(code);
  }
  if (meanwhile) meanwhile(child);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

void expect_refused(const fs::path& path) {
  const std::string what = sentence_of<IoError>([&] { ChunkedTable table(path); });
  EXPECT_TRUE(what.starts_with(path.string())) << what;
  EXPECT_TRUE(what.find("the table is not complete") != std::string::npos ||
              what.find("is missing") != std::string::npos)
      << what;
}

// Kills at twenty seeded moments, half of them by time and half at the read of a block; each process goes on where the
// one before was killed.
TEST(ChunkedResume, KilledTwentyTimes) {
  const unsigned seed = 100;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const TestImage image = random_image(seed, 520, 5 * 4096 + 70);
  const Scratch scratch;
  write(scratch / "whole", image);
  const Files expected = files_in(scratch / "whole");
  std::mt19937 random(seed);
  const fs::path path = scratch / "table";
  int kills = 0;
  std::vector<std::int64_t> first_rows;
  for (int moment = 0; moment < 20; ++moment) {
    const bool by_time = moment % 2 == 0;
    const auto pause = std::chrono::microseconds(random() % 12000);
    const auto block = static_cast<std::uint32_t>(1 + random() % 8);
    const int status = in_child(
        [&] {
          std::uint32_t blocks = 0;
          const ImageReader plain = image.reader();
          write_chunked_table(path, image.shape(), image.type,
                              [&](std::int64_t x, std::int64_t y, const View& view) {
                                if (!by_time && ++blocks == block) ::raise(SIGKILL);
                                return plain(x, y, view);
                              },
                              {.tile = usual_tile, .threads = 1, .resume = true});
          return 0;
        },
        [&](pid_t child) {
          if (!by_time) return;
          std::this_thread::sleep_for(pause);
          ::kill(child, SIGKILL);
        });
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    kills += killed;
    if (killed && fs::exists(path / "zarr.json") &&
        whole_file(path / "zarr.json").find("complete") == std::string::npos) {
      expect_refused(path);
    } else {
      ASSERT_TRUE(killed || status == 0) << status;
    }
    if (!killed) fs::remove_all(path);  // it was done: begin again
  }
  EXPECT_GE(kills, 10);
  write(path, image, {.resume = true});
  EXPECT_EQ(files_in(path), expected);
}

/// The names of a table's objects in the order in which they appear, as docs/chunked-tables.md has it.
std::vector<std::string> ordered_names(const TestImage& image, std::int64_t tile) {
  std::vector<std::string> names{"local/zarr.json", "top/zarr.json", "left/zarr.json", "corner/zarr.json", "top/c/0/0"};
  const std::int64_t rows = (image.height + tile - 1) / tile, n = 4096 / tile;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; i % n == 0 && j * 4096 < image.width; ++j)
      names.push_back("local/c/" + std::to_string(i / n) + "/" + std::to_string(j));
    // Of a row of shards, the shards come before the carries of its first row of tiles.
    names.push_back("left/c/0/" + std::to_string(i));
    names.push_back("corner/c/" + std::to_string(i) + "/0");
    if (i + 1 < rows) names.push_back("top/c/" + std::to_string(i + 1) + "/0");
  }
  return names;
}

// Damage that no missing file shows: each object of the finished rows, in each way. All of them are read on resume.
TEST(ChunkedResume, DamagedObjectsAreWrittenAgain) {
  const unsigned seed = 101;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const TestImage image = random_image(seed, 300, 2 * 4096 + 70);
  const Scratch scratch;
  write(scratch / "whole", image);
  const Files expected = files_in(scratch / "whole");
  const std::string complete = expected.at("zarr.json");
  const std::string begun =
      complete.substr(0, complete.find(",\n  \"complete\"")) + complete.substr(complete.rfind("\n }"));
  std::vector<std::string> names{"local/c/0/0", "local/c/1/0", "top/c/0/0", "top/c/32/0"};
  for (const int row : {0, 15, 16, 31}) {
    names.push_back("left/c/0/" + std::to_string(row));
    names.push_back("corner/c/" + std::to_string(row) + "/0");
    if (row > 0) names.push_back("top/c/" + std::to_string(row) + "/0");
  }
  const std::pair<const char*, std::function<void(std::string&)>> faults[] = {
      {"zeros", [](std::string& bytes) { bytes.assign(bytes.size(), '\0'); }},
      {"50 bytes", [](std::string& bytes) { bytes.resize(50); }},
      {"one byte", [](std::string& bytes) { bytes.resize(1); }},
      {"cut by a byte", [](std::string& bytes) { bytes.pop_back(); }},
      {"a byte too many", [](std::string& bytes) { bytes += 'x'; }},
      {"a flipped bit in the middle", [](std::string& bytes) { bytes[bytes.size() / 2] ^= 4; }},
      {"a flipped bit at the end", [](std::string& bytes) { bytes.back() ^= 1; }}};
  const fs::path path = scratch / "table";
  const auto resumed = [&](std::vector<std::string>& notes) {
    std::int64_t first_row = -1;
    const ImageReader plain = image.reader();
    write_chunked_table(path, image.shape(), image.type,
                        [&](std::int64_t x, std::int64_t y, const View& block) {
                          if (first_row < 0) first_row = y;
                          return plain(x, y, block);
                        },
                        {.resume = true, .note = [&](std::string words) { notes.push_back(std::move(words)); }});
    EXPECT_EQ(files_in(path), expected);
    return first_row;
  };
  fs::copy(scratch / "whole", path, fs::copy_options::recursive);
  scratch.write("table/zarr.json", begun);
  std::vector<std::string> notes;
  EXPECT_EQ(resumed(notes), 2 * 4096);  // the last row only
  EXPECT_TRUE(notes.empty());
  std::size_t number = 0;
  for (const std::string& name : names)
    for (const auto& [words, fault] : faults) {
      if (std::getenv("AREAL_TEST_SHORT") != nullptr && ++number % 5 != 0) continue;
      SCOPED_TRACE(name + ": " + words);
      std::string bytes = expected.at(name);
      fault(bytes);
      scratch.write("table/" + name, bytes);
      scratch.write("table/zarr.json", begun);
      notes.clear();
      const std::int64_t first_row = resumed(notes);
      const bool is_second = name == "local/c/1/0" || name.find("/31") != std::string::npos || name == "top/c/32/0" ||
                             (name.find("/16") != std::string::npos && !name.starts_with("top"));
      EXPECT_EQ(first_row, name == "top/c/0/0" ? 2 * 4096 : is_second ? 4096 : 0);
      ASSERT_EQ(notes.size(), 1u);
      EXPECT_TRUE(notes[0].starts_with((path / name).string() + ": ")) << notes[0];
    }
}

// All states that a kill can leave, as far as objects under their names go: each beginning of the order.
void resume_from(const TestImage& image, std::int64_t tile,
                 const std::function<bool(const std::string& next)>& is_wanted) {
  const Scratch scratch;
  write(scratch / "whole", image, {.tile = tile});
  const Files expected = files_in(scratch / "whole");
  const std::vector<std::string> names = ordered_names(image, tile);
  EXPECT_EQ(names.size() + 1, expected.size());
  const std::string complete = expected.at("zarr.json");
  const std::string begun =
      complete.substr(0, complete.find(",\n  \"complete\"")) + complete.substr(complete.rfind("\n }"));
  const fs::path path = scratch / "table";
  const std::string second_top = "top/c/" + std::to_string(4096 / tile) + "/0";
  for (std::size_t count = 0; count <= names.size(); ++count) {
    if (!is_wanted(count < names.size() ? names[count] : "")) continue;
    fs::remove_all(path);
    fs::create_directory(path);
    scratch.write("table/zarr.json", begun);
    for (std::size_t i = 0; i < count; ++i) {
      fs::create_directories((path / names[i]).parent_path());
      fs::copy_file(scratch / "whole" / names[i], path / names[i]);
    }
    if (count < names.size()) {  // the one that was being written
      fs::create_directories((path / names[count]).parent_path());
      scratch.write("table/" + names[count] + ".partial", "half");
    }
    expect_refused(path);
    std::int64_t first_row = -1;
    const ImageReader plain = image.reader();
    write_chunked_table(path, image.shape(), image.type,
                        [&](std::int64_t x, std::int64_t y, const View& block) {
                          if (first_row < 0) first_row = y;
                          return plain(x, y, block);
                        },
                        {.tile = tile, .resume = true});
    // Where the `top` of the second row of shards is there, the first is not written again.
    const bool has_top = std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count), second_top) !=
                         names.begin() + static_cast<std::ptrdiff_t>(count);
    EXPECT_EQ(first_row, has_top ? 4096 : 0) << count;
    ASSERT_EQ(files_in(path), expected) << count;
  }
}

TEST(ChunkedResume, FromEveryObject) {
  int states = 0;
  resume_from(random_image(101, 70, 4096 + 300), 1024, [&](const std::string&) { return ++states > 0; });
  EXPECT_EQ(states, 22);
}

// All states of a replacement, as far as objects go: the group says that it is replaced, and of the old table's objects
// some have gone, in the order of their names or against it.
TEST(ChunkedResume, FromEveryObjectOfATableThatIsReplaced) {
  const TestImage image = random_image(110, 70, 4096 + 300), old = random_image(111, 70, 4096 + 300);
  const Scratch scratch;
  write(scratch / "whole", image, {.tile = 1024});
  write(scratch / "old", old, {.tile = 1024});
  const Files expected = files_in(scratch / "whole");
  std::string group = expected.at("zarr.json");
  group.replace(group.find("\"complete\""), 10, "\"replacing\"");
  std::vector<std::string> names;
  for (const auto& [name, bytes] : files_in(scratch / "old"))
    if (name != "zarr.json") names.push_back(name);
  for (const bool backward : {false, true}) {
    if (backward) std::reverse(names.begin(), names.end());
    for (std::size_t gone = 0; gone <= names.size(); ++gone) {
      const fs::path path = scratch / "table";
      fs::remove_all(path);
      fs::copy(scratch / "old", path, fs::copy_options::recursive);
      scratch.write("table/zarr.json", group);
      for (std::size_t i = 0; i < gone; ++i) fs::remove(path / names[i]);
      expect_refused(path);
      expect_sentence<IoError>(path, "the option resume (--resume) goes on with it",
                               [&] { write(path, image, {.tile = 1024}); });
      write(path, image, {.tile = 1024, .resume = true});
      ASSERT_TRUE(files_in(path) == expected) << gone;
    }
  }
  // Of another image or type, too: what is there is nobody's table any more.
  scratch.write("table/zarr.json", group);
  const TestImage other = random_image(112, 50, 60, Type::u16);
  write(scratch / "other", other, {.tile = 64});
  write(scratch / "table", other, {.tile = 64, .resume = true});
  EXPECT_EQ(files_in(scratch / "table"), files_in(scratch / "other"));
}

TEST(ChunkedResume, FromTheMiddleOfARowOfShards) {
  resume_from(random_image(102, 4100, 4096 + 10), 256,
              [](const std::string& next) { return next.starts_with("local/c/") && next.ends_with("/1"); });
}

TEST(ChunkedResume, ALostObjectIsWrittenAgain) {
  const TestImage image = random_image(102, 100, 3 * 4096);
  const Scratch scratch;
  write(scratch / "t", image);
  const Files expected = files_in(scratch / "t");
  for (const char* name : {"local/c/1/0", "left/c/0/20", "corner/c/17/0"}) {
    std::string metadata = expected.at("zarr.json");
    metadata.replace(metadata.find("\"complete\""), 10, "\"finished\"");
    scratch.write("t/zarr.json", metadata);
    fs::remove(scratch / "t" / name);
    std::int64_t first_row = -1;
    write_chunked_table(scratch / "t", image.shape(), image.type,
                        [&](std::int64_t x, std::int64_t y, const View& block) {
                          if (first_row < 0) first_row = y;
                          return image.reader()(x, y, block);
                        },
                        {.tile = usual_tile, .resume = true});
    EXPECT_EQ(first_row, 4096) << name;
    EXPECT_EQ(files_in(scratch / "t"), expected) << name;
  }
}

TEST(ChunkedResume, WhatIsThereIsNotReplacedUnasked) {
  const TestImage image = random_image(103, 300, 200);
  const Scratch scratch;
  write(scratch / "t", image);
  const Files expected = files_in(scratch / "t");
  expect_sentence<IoError>(scratch / "t", "a chunked table is there; the option overwrite (--overwrite) replaces it",
                           [&] { write(scratch / "t", image); });
  EXPECT_EQ(files_in(scratch / "t"), expected);
  // A complete table is done; no pixel is read.
  write_chunked_table(scratch / "t", image.shape(), image.type,
                      [](std::int64_t, std::int64_t, const View&) -> ConstView { throw std::logic_error("read"); },
                      {.tile = usual_tile, .resume = true});
  EXPECT_EQ(files_in(scratch / "t"), expected);
  EXPECT_THROW(write(scratch / "t", image, {.resume = true, .overwrite = true}), InvalidArgument);

  const TestImage other = random_image(104, 100, 5000);
  write(scratch / "other", other);
  write(scratch / "t", other, {.overwrite = true});
  EXPECT_EQ(files_in(scratch / "t"), files_in(scratch / "other"));

  fs::create_directory(scratch / "mine");
  scratch.write("mine/letter.txt", "precious");
  scratch.write("file", "precious");
  for (const bool overwrite : {false, true}) {
    expect_sentence<IoError>(scratch / "mine", "holds something else than a chunked table",
                             [&] { write(scratch / "mine", image, {.overwrite = overwrite}); });
    expect_sentence<IoError>(scratch / "file", "is a file",
                             [&] { write(scratch / "file", image, {.overwrite = overwrite}); });
  }
  EXPECT_EQ(files_in(scratch / "mine"), (Files{{"letter.txt", "precious"}}));
  scratch.write("mine/zarr.json", R"({"zarr_format": 3, "node_type": "group", "attributes": {}})");
  expect_sentence<IoError>(scratch / "mine", "it is not a chunked table",
                           [&] { write(scratch / "mine", image, {.overwrite = true}); });
  expect_sentence<IoError>(scratch / "nowhere" / "t", "the folder could not be made (No such file or directory)",
                           [&] { write(scratch / "nowhere" / "t", image); });
}

TEST(ChunkedResume, OnlyTheSameTable) {
  const TestImage image = random_image(105, 300, 200);
  const Scratch scratch;
  const auto interrupted = [&](int blocks) {
    fs::remove_all(scratch / "t");
    EXPECT_THROW(write_chunked_table(
                     scratch / "t", image.shape(), image.type, image.reader(),
                     {.tile = usual_tile, .progress = [&](std::int64_t done, std::int64_t) { return done < blocks; }}),
                 Cancelled);
  };
  interrupted(1);
  expect_sentence<IoError>(scratch / "t", "the option resume (--resume) goes on with it",
                           [&] { write(scratch / "t", image); });
  const std::string was = "is the table of 300x200 pixels of uint8 in tiles of 256, not of ";
  expect_sentence<IoError>(scratch / "t", was + "299x200 pixels of uint8 in tiles of 256",
                           [&] { write(scratch / "t", random_image(1, 299, 200), {.resume = true}); });
  expect_sentence<IoError>(scratch / "t", was + "300x200 pixels of uint16 in tiles of 256",
                           [&] { write(scratch / "t", random_image(1, 300, 200, Type::u16), {.resume = true}); });
  expect_sentence<IoError>(scratch / "t", was + "300x200 pixels of uint8 in tiles of 64",
                           [&] { write(scratch / "t", image, {.tile = 64, .resume = true}); });
  // Without a tile, that of before counts.
  write_chunked_table(scratch / "t", image.shape(), image.type, image.reader(), {.resume = true});
  EXPECT_EQ(ChunkedTable(scratch / "t").tile(), usual_tile);
  interrupted(1);
  scratch.write("t/local/zarr.json", "{}");
  expect_sentence<IoError>(scratch / "t", "local has no shape", [&] { write(scratch / "t", image, {.resume = true}); });
  write(scratch / "u", image);
  fs::remove_all(scratch / "t");
  write(scratch / "t", image, {.resume = true});  // where there is none, it begins
  EXPECT_EQ(files_in(scratch / "t"), files_in(scratch / "u"));
}

TEST(ChunkedResume, AReaderThatThrows) {
  const TestImage image = random_image(107, 5000, 1500);
  const Scratch scratch;
  for (const int threads : {1, 0}) {
    int left = 5;
    const auto failing = [&](std::int64_t x, std::int64_t y, const View& block) {
      if (left-- == 0) throw std::runtime_error("no more pixels");
      return image.reader()(x, y, block);
    };
    try {
      write_chunked_table(scratch / "t", image.shape(), image.type, failing, {.tile = usual_tile, .threads = threads});
      ADD_FAILURE();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "no more pixels");
    }
    expect_refused(scratch / "t");
    for (const auto& [name, bytes] : files_in(scratch / "t")) EXPECT_FALSE(name.ends_with(".partial")) << name;
    write(scratch / "t", image, {.resume = true});
    EXPECT_EQ(differences(scratch / "t", usual_tile, image), 0u);
    fs::remove_all(scratch / "t");
  }
}

TEST(ChunkedResume, OneProcessAtATime) {
  const TestImage image = random_image(108, 100, 100);
  const Scratch scratch;
  fs::create_directory(scratch / "t");
  const int folder = ::open((scratch / "t").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(folder, LOCK_EX), 0);
  expect_sentence<IoError>(scratch / "t", "another process is writing this table",
                           [&] { write(scratch / "t", image); });
  ::close(folder);
  write(scratch / "t", image);
}

// A write that fails as on a full disk, at each of the sizes that an object can have.
TEST(ChunkedResume, AFileThatGrowsTooLarge) {
  const TestImage image = random_image(109, 700, 4200);
  const Scratch scratch;
  write(scratch / "whole", image);
  const fs::path path = scratch / "t";
  for (const rlim_t bytes : {50, 300, 1000, 5000, 100000, 3000000}) {
    const int status = in_child([&] {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{bytes, bytes};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      try {
        write(path, image, {.threads = 1, .resume = true});
        return 1;
      } catch (const IoError& error) {
        const std::string what = error.what();
        return what.starts_with(path.string()) && what.ends_with(": could not be written (File too large)") ? 0 : 2;
      }
    });
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << bytes << ": " << status;
    if (bytes > 100) expect_refused(path);
    for (const auto& [name, content] : files_in(path)) EXPECT_FALSE(name.ends_with(".partial")) << name;
  }
  write(path, image, {.resume = true});
  EXPECT_EQ(files_in(path), files_in(scratch / "whole"));
}

}  // namespace
}  // namespace areal::test
