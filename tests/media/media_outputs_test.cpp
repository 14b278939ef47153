// Output files: complete or absent, on a full disk, at a limit, at an interrupt. Tables and their sidecars. Drawing.
#include <fcntl.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <areal/error.hpp>
#include <csignal>
#include <cstring>
#include <functional>
#include <random>
#include "deep_json.hpp"
#include "media/media.hpp"
#include "scratch.hpp"

namespace areal::media {
namespace {

using test::bytes_in;
using test::expect_sentence;
using test::Scratch;
using Names = std::vector<std::string>;

// The exit status of a child that runs `body`; a signal is 1000 + its number.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 99;
    try {
      status = body();
    } catch (...) {
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(OutputFile, AppearsOnlyWhenComplete) {
  const Scratch scratch;
  {
    OutputFile file(scratch / "a.bin", 1 << 20);
    EXPECT_EQ(file.temporary().parent_path(), scratch.path());
    file.write("abc", 3);
    EXPECT_FALSE(fs::exists(scratch / "a.bin"));
    file.write("def", 3);
    file.commit();
    EXPECT_EQ(bytes_in(scratch / "a.bin"), "abcdef") << "and nothing of what was reserved";
  }
  EXPECT_EQ(scratch.names(), Names{"a.bin"});
  {
    OutputFile file(scratch / "a.bin");
    file.write("other", 5);
  }
  EXPECT_EQ(bytes_in(scratch / "a.bin"), "abcdef") << "not committed, not replaced";
  EXPECT_EQ(scratch.names(), Names{"a.bin"});
}

TEST(OutputFile, ReplacesAndKeepsPermissionsAndLinks) {
  const Scratch scratch;
  scratch.write("a.bin", "old");
  ::chmod((scratch / "a.bin").c_str(), 0640);
  fs::create_symlink("a.bin", scratch / "link.bin");
  OutputFile file(scratch / "link.bin");
  file.write("new", 3);
  file.commit();
  EXPECT_EQ(bytes_in(scratch / "a.bin"), "new");
  EXPECT_TRUE(fs::is_symlink(scratch / "link.bin"));
  struct stat status {};
  ASSERT_EQ(::stat((scratch / "a.bin").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST(OutputFile, OfAPrivateFileIsPrivateFromTheStart) {
  const Scratch scratch;
  const fs::path path = scratch.write("a.bin", "secret");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  // The mode that open() gives, before any later change: seen by a process of another user who waits for the name.
  const int watch = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  ASSERT_GE(::inotify_add_watch(watch, scratch.path().c_str(), IN_CREATE | IN_ATTRIB), 0);
  OutputFile file(path);
  std::array<char, 4096> events;
  const ssize_t bytes = ::read(watch, events.data(), events.size());
  ::close(watch);
  int created = 0, changed = 0;
  for (ssize_t at = 0; at < bytes;) {
    inotify_event event;
    std::memcpy(&event, events.data() + at, sizeof event);
    created += (event.mask & IN_CREATE) != 0, changed += (event.mask & IN_ATTRIB) != 0;
    at += static_cast<ssize_t>(sizeof event + event.len);
  }
  EXPECT_EQ(created, 1);
  EXPECT_EQ(changed, 0) << "its mode was changed after it had another";
  EXPECT_EQ(fs::status(file.temporary()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(OutputFile, ManyAtOnceLeaveNothing) {
  const Scratch scratch;
  {
    std::vector<std::unique_ptr<OutputFile>> files;
    for (int i = 0; i < 1100; ++i)
      files.push_back(std::make_unique<OutputFile>(scratch / ("a" + std::to_string(i) + ".bin")));
    files[1050]->write("x", 1);
    files[1050]->commit();
  }
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"a1050.bin"});
}

TEST(OutputFile, RefusesWhatCannotBeWritten) {
  const Scratch scratch;
  expect_sentence<IoError>(scratch.path(), "is a folder", [&] { OutputFile file(scratch.path()); });
  expect_sentence<IoError>(scratch / "no/a.bin", "folder does not exist",
                           [&] { OutputFile file(scratch / "no/a.bin"); });
  const fs::path beneath = scratch.write("file", "x") / "a.bin";
  expect_sentence<IoError>(beneath, "Not a directory", [&] { OutputFile file(beneath); });
  EXPECT_EQ(scratch.names(), Names{"file"});
}

TEST(OutputFile, AFileThatMayNotBeWrittenStays) {
  const Scratch scratch;
  ::chmod(scratch.path().c_str(), 0777);  // the folder would permit replacing it
  const fs::path path = scratch.write("a.bin", "precious");
  ::chmod(path.c_str(), 0444);
  const auto attempt = [&] {
    try {
      OutputFile file(path);
      return 1;
    } catch (const IoError& error) {
      return std::string(error.what()) == path.string() + ": exists and may not be written (Permission denied)" ? 0 : 2;
    }
  };
  // Root may write everything: become nobody.
  EXPECT_EQ(in_child([&] { return ::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0 ? 3 : attempt(); }), 0);
  EXPECT_EQ(bytes_in(path), "precious");
}

TEST(OutputFile, AFullDeviceIsOneSentence) {
  expect_sentence<IoError>("/dev/full", "could not be written (No space left on device)", [] {
    OutputFile file("/dev/full");
    file.write("abc", 3);
    file.commit();
  });
  OutputFile null("/dev/null", 1 << 20);  // a device is written directly
  null.write("abc", 3);
  null.commit();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(OutputFile, ReservesBeforeItWrites) {
  const Scratch scratch;
  expect_sentence<IoError>(scratch / "a.bin", "needs 4611686018427387904 bytes, but the disk has",
                           [&] { OutputFile file(scratch / "a.bin", std::uint64_t{1} << 62); });
  EXPECT_TRUE(scratch.names().empty());
}

TEST(OutputFile, LeavesNothingAtALimit) {
  const Scratch scratch;
  Array big(Shape{1024, 256}, Type::u32);
  std::memset(big.data(), 1, big.bytes());
  const auto attempt = [&](std::uint64_t reserve) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{64 << 10, 64 << 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      OutputFile file(scratch / "a.bin", reserve);
      for (int i = 0; i < 4; ++i) file.write(big.data(), big.bytes() / 4);
      file.commit();
      return 1;
    } catch (const IoError& error) {
      const std::string what = (scratch / "a.bin").string() + ": could not be written (File too large)";
      return error.what() == what && scratch.names().empty() ? 0 : 2;
    }
  };
  EXPECT_EQ(in_child([&] { return attempt(0); }), 0);
  EXPECT_EQ(in_child([&] { return attempt(big.bytes()); }), 0);
  EXPECT_TRUE(scratch.names().empty());
}

TEST(OutputFile, LeavesNothingOnAFullDisk) {
  const Scratch scratch;
  // A small tmpfs in its own mount namespace; where that is forbidden, the two tests above must suffice.
  const int status = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0) {
      const std::string user = "0 " + std::to_string(::geteuid()) + " 1";
      const std::string group = "0 " + std::to_string(::getegid()) + " 1";
      const auto say = [](const char* file, const std::string& text) {
        return bool(std::ofstream(file) << text << std::flush);
      };
      if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || !say("/proc/self/setgroups", "deny") ||
          !say("/proc/self/uid_map", user) || !say("/proc/self/gid_map", group))
        return 77;
    }
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (::mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=256k") != 0) return 77;
    Array big(Shape{1024, 256}, Type::u32);
    std::memset(big.data(), 1, big.bytes());
    const std::string path = (scratch / "a.npy").string();
    try {
      write_npy(path, big.view());
      return 1;
    } catch (const IoError& error) {
      if (!std::string(error.what()).starts_with(path + ": needs 1048704 bytes, but the disk has ")) return 2;
    }
    try {
      OutputFile file(path);  // nothing reserved: the disk is full midway
      file.write(big.data(), big.bytes());
      return 3;
    } catch (const IoError& error) {
      if (error.what() != path + ": could not be written (No space left on device)") return 4;
    }
    return scratch.names().empty() ? 0 : 5;
  });
  if (status == 77) GTEST_SKIP() << "no tmpfs can be mounted here";
  EXPECT_EQ(status, 0);
}

TEST(OutputFile, AnInterruptLeavesNothing) {
  const Scratch scratch;
  const int status = in_child([&] {
    const auto handler = [](int number) {
      remove_unfinished_outputs();
      ::signal(number, SIG_DFL);
      ::raise(number);
    };
    ::signal(SIGTERM, handler);
    OutputFile first(scratch / "a.bin", 4096), second(scratch / "b.bin"), done(scratch / "done.bin");
    first.write("abc", 3);
    done.write("abc", 3);
    done.commit();
    if (scratch.names().size() != 3) return 1;
    ::kill(::getpid(), SIGTERM);
    return 2;
  });
  EXPECT_EQ(status, 1000 + SIGTERM);
  EXPECT_EQ(scratch.names(), Names{"done.bin"});
}

TableFile description() {
  TableFile d;
  d.kind = "sum";
  d.border = Border::zero;
  d.types = "8u32u";
  d.algorithm = "serial";
  d.source = "a \"photo\"\n\xff.png";
  d.image_width = 6;
  d.image_height = 4;
  return d;
}

Array random_table(const Shape& shape, Type type, unsigned seed) {
  Array out(shape, type);
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < out.bytes(); ++i) static_cast<unsigned char*>(out.data())[i] = random() & 255;
  return out;
}

// What a failure between the two renames leaves: the sidecar of one run, the table of another.
TEST(TableFile, ASidecarKnowsItsTable) {
  const Scratch scratch;
  for (const char* extension : {".npy", ".tif"})
    for (const bool in_pieces : {false, true}) {
      if (in_pieces && std::string(extension) == ".tif") continue;
      SCOPED_TRACE(std::string(extension) + (in_pieces ? " in pieces" : ""));
      const fs::path path = scratch / (std::string("t") + extension), sidecar = scratch / "t.json";
      const auto write = [&](std::uint32_t value) {
        Array table(Shape{5, 4}, Type::u32);
        for (std::int64_t y = 0; y < 4; ++y)
          for (std::int64_t x = 0; x < 5; ++x)
            static_cast<std::uint32_t*>(table.view().row(y))[x] = value + static_cast<std::uint32_t>(x * y);
        TableFile of;
        of.kind = "sum", of.types = "8u32u", of.image_width = 4, of.image_height = 3;
        if (!in_pieces) return write_table(path, table.view(), of);
        TableWriter writer(path, table.shape(), Type::u32, of);
        writer.write(0, 0, table.view());
        writer.finish();
      };
      write(1);
      const std::string old_table = bytes_in(path), old_sidecar = bytes_in(sidecar);
      write(2);
      const std::string table = bytes_in(path), text = bytes_in(sidecar);
      EXPECT_EQ(read_table(path).table.shape().width, 5);
      const auto refused = [&](const std::string& bytes, const std::string& json, const char* words) {
        scratch.write(path.filename().string(), bytes);
        scratch.write("t.json", json);
        expect_sentence<IoError>(path, words, [&] { read_table(path); });
      };
      refused(old_table, text, "is not the table that its sidecar");
      refused(table, old_sidecar, "is not the table that its sidecar");
      std::string flipped = table;
      flipped[flipped.size() - 3] ^= 1;
      refused(flipped, text, "is not the table that its sidecar");
      refused(table + "x", text, "bytes, and its sidecar");
      // Sidecars of earlier versions have neither length nor checksum.
      const std::size_t at = text.find(",\n  \"file\"");
      ASSERT_NE(at, std::string::npos);
      scratch.write(path.filename().string(), table);
      scratch.write("t.json", text.substr(0, at) + text.substr(text.find('}', at) + 1));
      EXPECT_EQ(read_table(path).table.shape().width, 5);
      fs::remove(path), fs::remove(sidecar);
    }
}

TEST(TableFile, NpyComesBackExactly) {
  const Scratch scratch;
  const Shape shapes[] = {{7, 5},
                          {7, 5, 3},
                          {7, 5, 3, 1, Layout::planar},
                          {7, 5, 1, 2},
                          {7, 5, 1, 1, Layout::planar},
                          {7, 5, 2, 2, Layout::planar}};
  for (const Shape& shape : shapes)
    for (const Type type : {Type::u32, Type::u64, Type::s64, Type::f64}) {
      const Array table = random_table(shape, type, 7);
      write_table(scratch / "T.npy", table.view(), description());
      const TableFile back = read_table(scratch / "T.npy");
      EXPECT_EQ(back.table.shape(), shape);
      ASSERT_EQ(back.table.type(), type);
      EXPECT_EQ(std::memcmp(back.table.data(), table.data(), table.bytes()), 0);
      EXPECT_EQ(back.kind, "sum");
      EXPECT_EQ(back.border, Border::zero);
      EXPECT_EQ(back.types, "8u32u");
      EXPECT_EQ(back.algorithm, "serial");
      EXPECT_EQ(back.source, "a \"photo\"\n\xef\xbf\xbd.png") << "JSON is UTF-8; a stray byte is replaced";
      EXPECT_EQ(back.image_width, 6);
      EXPECT_EQ(back.image_height, 4);
    }
  EXPECT_EQ(scratch.names().size(), 2u);
}

TEST(TableFile, TiffComesBackExactly) {
  const Scratch scratch;
  for (const std::int64_t channels : {1, 2, 3, 4})
    for (const Type type : {Type::u32, Type::s32, Type::f32, Type::f64}) {
      SCOPED_TRACE(std::to_string(channels) + " of " + std::string(name_of(type)));
      Array table = random_table(Shape{7, 5, channels}, type, 8);  // any bits, NaN payloads too
      write_table(scratch / "T.tif", table.view(), description());
      const TableFile back = read_table(scratch / "T.tif");
      EXPECT_EQ(back.table.shape(), table.shape());
      ASSERT_EQ(back.table.type(), type);
      EXPECT_EQ(std::memcmp(back.table.data(), table.data(), table.bytes()), 0);
    }
  EXPECT_EQ(scratch.names().size(), 2u);
  const Array wide = random_table(Shape{7, 5}, Type::u64, 9);
  expect_sentence<InvalidArgument>(scratch / "U.tif", "32u, 32s, 32f or 64f, not 64u",
                                   [&] { write_table(scratch / "U.tif", wide.view(), description()); });
  EXPECT_EQ(scratch.names().size(), 2u);
}

TEST(TableFile, HistogramsKeepTheirEdges) {
  const Scratch scratch;
  TableFile d = description();
  d.kind = "histogram";
  d.border = Border::none;
  d.bin_edges = {-INFINITY, 0.1, 1.0 / 3, INFINITY};
  const Array tensor = random_table(Shape{6, 4, 3, 1, Layout::planar}, Type::u32, 10);
  write_table(scratch / "T.npy", tensor.view(), d);
  EXPECT_EQ(read_table(scratch / "T.npy").bin_edges, d.bin_edges);
}

TEST(TableFile, ASidecarThatLiesIsRefused) {
  const Scratch scratch;
  const fs::path path = scratch / "T.npy", json = scratch / "T.json";
  write_table(path, random_table(Shape{7, 5}, Type::u32, 11).view(), description());
  const std::string good = bytes_in(json);
  const struct {
    const char *from, *to, *words;
    bool of_sidecar;
  } rows[] = {{"\"zero\"", "\"none\"", "does not belong to an image of 6x4", false},
              {"\"zero\"", "\"no\"", "\"border\" must be", true},
              {"\"sum\"", "\"sums\"", "\"kind\" is 'sums'", true},
              {"\"32u\"", "\"32s\"", "but its sidecar says 7x5 of 32s", false},
              {"\"width\": 7", "\"width\": 8", "but its sidecar says 8x5", false},
              {"\"width\": 7", "\"width\": -7", "\"width\" must be a whole number", true},
              {"\"width\": 7", "\"width\": 99999999999999999999", "\"width\" must be a whole number", true},
              {"\"channels\"", "\"chanels\"", "lacks \"channels\"", true},
              {"\"lane\": \"8u32u\"", "\"lane\": 8", "\"lane\" must be a string", true},
              {"{", "[", "is not a sidecar of areal", true}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.words);
    std::string bad = good;
    ASSERT_NE(bad.find(row.from), std::string::npos);
    bad.replace(bad.find(row.from), std::strlen(row.from), row.to);
    scratch.write("T.json", bad);
    expect_sentence<IoError>(row.of_sidecar ? json : path, row.words, [&] { read_table(path); });
  }
  for (const int levels : {33, 100'000})
    for (const std::string& deep : test::deep_json_texts(levels)) {
      scratch.write("T.json", deep);
      expect_sentence<IoError>(json, "is not a sidecar of areal: it nests more than 32 levels",
                               [&] { read_table(path); });
    }
  fs::remove(json);
  expect_sentence<IoError>(path, "its sidecar", [&] { read_table(path); });
  expect_sentence<InvalidArgument>(scratch / "T.bin", "must end in .npy", [&] { read_table(scratch / "T.bin"); });
}

TEST(Drawing, OutlinesRegionsAndDrawsCharts) {
  Array grey(Shape{200, 100}, Type::u8);
  std::memset(grey.data(), 77, grey.bytes());
  const std::vector<NamedRegion> regions{
      {{20, 10, 100, 80}, "a"}, {{-5, 90, 20, INT64_MAX}, ""}, {{500, 500, 3, 3}, ""}};
  const Array plain = draw_regions(grey.view(), {});
  EXPECT_EQ(plain.shape(), (Shape{200, 100, 3}));
  for (std::size_t i = 0; i < plain.bytes(); ++i) ASSERT_EQ(plain.as<std::uint8_t>()[i], 77);
  const auto pixel = [](const Array& a, std::int64_t x, std::int64_t y) {
    const std::uint8_t* p = a.as<std::uint8_t>() + (y * 200 + x) * 3;
    return std::array<int, 3>{p[0], p[1], p[2]};
  };
  const std::array<int, 3> ground{77, 77, 77}, first{230, 159, 0}, second{86, 180, 233};
  const Array outlined = draw_regions(grey.view(), regions);
  EXPECT_EQ(pixel(outlined, 20, 10), first);
  EXPECT_EQ(pixel(outlined, 119, 89), first);
  EXPECT_EQ(pixel(outlined, 70, 50), ground) << "the inside stays";
  EXPECT_EQ(pixel(outlined, 19, 10), ground);
  EXPECT_EQ(pixel(outlined, 120, 89), ground);
  EXPECT_EQ(pixel(outlined, 0, 99), second) << "clipped at the picture's edge";
  const Array charted = draw_regions(grey.view(), regions, {{0, 1, 2, 4, 0, 0, 0, 0}, {}, {1}});
  // Bars of 4 columns, the tallest as high as the chart (10), in the lower left corner.
  EXPECT_EQ(pixel(charted, 24 + 3 * 4, 90 - 4 - 10), first) << "the tallest bar's top";
  EXPECT_NE(pixel(charted, 24 + 2 * 4, 90 - 4 - 10), first) << "half as tall";
  EXPECT_EQ(pixel(charted, 24 + 2 * 4, 90 - 4 - 4), first);
  EXPECT_NE(pixel(charted, 24, 90 - 4 - 1), first) << "an empty bin has no bar";
  // "0  77.5" is 6 characters of 8 columns longer than "0", on black.
  const Array named = draw_regions(grey.view(), regions, {}, {77.5, 1, 1});
  const std::array<int, 3> black{0, 0, 0};
  EXPECT_EQ(pixel(outlined, 22 + 8 * 2 + 1, 12), ground);
  EXPECT_EQ(pixel(named, 22 + 8 * 2 + 1, 12), black);
  EXPECT_EQ(pixel(draw_regions(grey.view(), regions, {}, {NAN, 1, 1}), 22 + 8 * 2 + 1, 12), ground);
  test::sentence_of<InvalidArgument>([&] { draw_regions(grey.view(), regions, {{1}}); });
  test::sentence_of<InvalidArgument>([] { draw_regions(Array(Shape{4, 4}, Type::u16).view(), {}); });
}

TEST(Drawing, HeatMapsAreBrightWhereValuesAreSmall) {
  const float values[] = {3, -1, 1, NAN, INFINITY, 3};
  const Array map = heat_map({values, 3, 2});
  EXPECT_EQ(map.shape(), (Shape{3, 2, 3}));
  const auto lightness = [&](int i) {
    const std::uint8_t* p = map.as<std::uint8_t>() + i * 3;
    return p[0] + p[1] + p[2];
  };
  EXPECT_GT(lightness(1), lightness(2));
  EXPECT_GT(lightness(2), lightness(0));
  EXPECT_EQ(lightness(4), lightness(0)) << "infinity is the darkest colour";
  EXPECT_EQ(lightness(5), lightness(0));
  EXPECT_EQ(lightness(3), 0);
  const float same[] = {2, 2};
  const Array flat = heat_map({same, 2, 1});
  EXPECT_EQ(flat.as<std::uint8_t>()[0], flat.as<std::uint8_t>()[3]);
  EXPECT_TRUE(heat_map(Array(Shape{0, 5}, Type::f32).view()).shape().empty());
  test::sentence_of<InvalidArgument>([] { heat_map(Array(Shape{4, 4}, Type::u8).view()); });
}

}  // namespace
}  // namespace areal::media
