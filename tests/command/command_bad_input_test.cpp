// Bad input: each has one sentence on standard error, the right exit code, nothing on standard output, no file left.

#include <sys/stat.h>
#include <areal/info.hpp>
#include "command_runner.hpp"

namespace areal::test {
namespace {

// A PNG of one IHDR chunk that claims a size, with right checksums, and no pixels.
std::string png_claiming(std::uint32_t width, std::uint32_t height) {
  auto big = [](std::uint32_t v) {
    return std::string{static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8),
                       static_cast<char>(v)};
  };
  auto crc = [](const std::string& bytes) {
    std::uint32_t c = 0xffffffffu;
    for (const char byte : bytes) {
      c ^= static_cast<std::uint8_t>(byte);
      for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    }
    return c ^ 0xffffffffu;
  };
  auto chunk = [&](const std::string& type, const std::string& data) {
    return big(static_cast<std::uint32_t>(data.size())) + type + data + big(crc(type + data));
  };
  return std::string("\x89PNG\r\n\x1a\n") +
         chunk("IHDR", big(width) + big(height) + std::string("\x08\x00\x00\x00\x00", 5)) + chunk("IDAT", "") +
         chunk("IEND", "");
}

// A baseline TIFF of 2x2 pixels, uncompressed: CMYK (photometric 5, 4 samples) or palette (3, 1 sample).
std::string tiff(bool cmyk) {
  std::string bytes("II*\0", 4), entries, after;
  auto put = [](std::string& to, std::uint32_t value, int count) {
    for (int i = 0; i < count; ++i) to += static_cast<char>(value >> (8 * i));
  };
  const std::uint16_t samples = cmyk ? 4 : 1;
  const std::uint16_t count = cmyk ? 10 : 11;
  const std::uint32_t after_at = 8 + 2 + 12u * count + 4;
  auto entry = [&](std::uint16_t tag, std::uint16_t type, std::uint32_t n, std::uint32_t value) {
    put(entries, tag, 2), put(entries, type, 2), put(entries, n, 4), put(entries, value, 4);
  };
  const std::uint32_t bits_at = after_at;
  if (cmyk)
    for (int i = 0; i < 4; ++i) put(after, 8, 2);
  const std::uint32_t map_at = after_at + static_cast<std::uint32_t>(after.size());
  if (!cmyk)
    for (std::uint32_t i = 0; i < 768; ++i) put(after, (i % 256) * 257, 2);
  const std::uint32_t data_at = after_at + static_cast<std::uint32_t>(after.size());
  for (std::uint32_t i = 0; i < 4u * samples; ++i) after += static_cast<char>(10 + 20 * i);
  entry(256, 3, 1, 2), entry(257, 3, 1, 2);
  if (cmyk)
    entry(258, 3, 4, bits_at);
  else
    entry(258, 3, 1, 8);
  entry(259, 3, 1, 1), entry(262, 3, 1, cmyk ? 5 : 3), entry(273, 4, 1, data_at), entry(277, 3, 1, samples);
  entry(278, 3, 1, 2), entry(279, 4, 1, 4u * samples), entry(284, 3, 1, 1);
  if (!cmyk) entry(320, 3, 768, map_at);
  put(bytes, 8, 4), put(bytes, count, 2);
  return bytes + entries + std::string(4, '\0') + after;
}

struct Case {
  std::vector<std::string> arguments;
  int code;
  std::string sentence;  // all of the line after "areal: ", or a part of it
};

class CommandBadInput : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write_file(work / "a.npy", npy("|u1", "43, 61", pixels(61, 43)));
  }
  void check(const Case& c, const std::string& input = {}) {
    std::string all = "areal";
    for (const std::string& argument : c.arguments) all += " " + argument;
    SCOPED_TRACE(all);
    std::vector<std::string> before;
    for (const auto& entry : fs::directory_iterator(work)) before.push_back(entry.path().filename().string());
    const Outcome outcome = run(c.arguments, input);
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_EQ(outcome.code, c.code);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(c.sentence), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.rfind("areal: ", 0), 0u) << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << "not one line: " << outcome.err;
    EXPECT_EQ(others(before), std::vector<std::string>());
  }
};

TEST_F(CommandBadInput, WrongUse) {
  const std::string where = "r.csv: line ";
  const Case cases[] = {
      {{}, 2, "no verb given; areal --help lists them"},
      {{"frobnicate"}, 2, "frobnicate is not a verb; areal --help lists them"},
      {{"frobnicate", "--help"}, 2, "frobnicate is not a verb; areal --help lists them"},
      {{"--help", "frobnicate"}, 2, "frobnicate is not a verb; areal --help lists them"},
      {{"--threads", "2", "frobnicate", "-h"}, 2, "frobnicate is not a verb; areal --help lists them"},
      {{"frobnicate", "--version"}, 2, "frobnicate is not a verb; areal --help lists them"},
      {{"sat"}, 2, "INPUT is required"},
      {{"sat", "a.npy", "--frob"}, 2, "--frob"},
      {{"sat", "a.npy", "--threads", "-1"}, 2, "--threads -1: may not be less than 0"},
      {{"sat", "a.npy", "--threads", "two"}, 2, "--threads two: not a whole number"},
      {{"sat", "a.npy", "--backend", "tpu"}, 2, "--backend tpu: may be auto, cpu, cuda or simt"},
      {{"sat", "a.npy", "--count", "--backend", "cpu"}, 2, "--count: backend cpu does not count"},
      {{"hist", "a.npy", "--count"}, 2, "--count: backend auto does not count; it needs --backend simt"},
      {{"hist", "a.npy", "--counter", "8u"}, 2, "--counter 8u: may be 16u, 32u or 64u"},
      {{"sat", "a.npy", "--border", "wide"}, 2, "--border wide: may be zero, none or exclusive"},
      {{"sat", "a.npy", "--algorithm", "best"}, 2, "best"},
      {{"sat", "a.npy", "--scan", "brent-kung"}, 2, "--scan brent-kung: may be kogge-stone or ladner-fischer"},
      {{"sat", "a.npy", "--r", "1"}, 2, "--r 1: may lie between 0 and 1, or be best"},
      {{"sat", "a.npy", "--r", "nan"}, 2, "--r nan: may lie between 0 and 1, or be best"},
      {{"sat", "a.npy", "--r", "half"}, 2, "--r half: not a number"},
      {{"sat", "a.npy", "--r", "best"}, 2, "--r best: only hybrid-1r1w has it"},
      {{"hist", "a.npy", "--tile", "48"}, 2, "--tile 48: may be 16, 32 or 64"},
      {{"hist", "a.npy", "--tile", "8"}, 2, "--tile 8: may not be less than 16"},
      {{"hist", "a.npy", "--tile-threads", "96"}, 2, "--tile-threads 96: may be 128, 256, 512 or 1024 on tiles of 32"},
      {{"hist", "a.npy", "--tile", "16", "--tile-threads", "512"},
       2,
       "--tile-threads 512: may be 64, 128 or 256 on tiles of 16"},
      {{"hist", "a.npy", "--tile-threads", "all"}, 2, "--tile-threads all: not a whole number"},
      {{"sat", "a.npy", "--channel", "1"}, 2, "channel 1"},
      {{"sat", "a.npy", "--channel", "0", "--all-channels"}, 2, "--channel and --all-channels: only one of the two"},
      {{"sat", "a.npy", "--stat", "modus"}, 2, "--stat modus: modus is no statistic; it may be sum, mean"},
      {{"sat", "a.npy", "--squares=16u"}, 2, "--squares=16u: may be 32u, 64u, 32f or 64f"},
      {{"sat", "a.npy", "-o", "T.txt"}, 2, "T.txt"},
      {{"sat", "a.npy", "--csv", "--json"}, 2, "--csv and --json: only one of the two"},
      {{"hist", "a.npy", "--bins", "0"}, 2, "--bins 0: may not be less than 1"},
      {{"hist", "a.npy", "--bins", "-4"}, 2, "--bins -4: may not be less than 1"},
      {{"hist", "a.npy", "--bins", "70000"}, 2, "--bins 70000: may not be more than 65535"},
      {{"hist", "a.npy", "--edges", "0,2,2"}, 2, "edge"},
      {{"hist", "a.npy", "--edges", "0,5,2"}, 2, "edge"},
      {{"hist", "a.npy", "--edges", "0,nan,2"}, 2, "edge"},
      {{"hist", "a.npy", "--edges", "7"}, 2, "edge"},
      {{"hist", "a.npy", "--range", "5,5"}, 2, "range"},
      {{"hist", "a.npy", "--range", "0,inf"}, 2, "range"},
      {{"hist", "a.npy", "--percentile", "101"}, 2, "--percentile 101: may be 0 to 100"},
      {{"hist", "a.npy", "--distance", "l1"}, 2, "--distance: needs --template"},
      {{"hist", "a.npy", "--template", "0,0,9,9", "--distance", "far"}, 2, "--distance far: may be l1, l2, chi-square"},
      {{"hist", "a.npy", "--joint"}, 2, "--joint: a.npy has 1 channel; it may have 2 or 3"},
      {{"window", "a.npy", "-o", "w.png", "--mean"}, 2, "--size is required"},
      {{"window", "a.npy", "-o", "w.png", "--size", "3x3"}, 2, "one of --sum, --mean, --std and --threshold is needed"},
      {{"window", "a.npy", "-o", "w.png", "--size", "3x3", "--mean", "--edge", "mirror"},
       2,
       "--edge mirror: may be valid, shrink, zero, replicate, reflect, symmetric, wrap or constant"},
      {{"window", "a.npy", "-o", "w.png", "--size", "3x3", "--mean", "--edge", "zero", "--value", "3"},
       2,
       "--value 3: needs --edge constant"},
      {{"window", "a.npy", "-o", "w.png", "--size", "3x3", "--mean", "--edge", "constant", "--value", "0.5"},
       2,
       "window: value 0.5 for a table of 32u: it may be a whole number from 0 to 4294967295"},
      {{"window", "a.npy", "-o", "w.png", "--size", "0x3", "--mean"}, 2, "--size 0: may not be less than 1"},
      {{"window", "a.npy", "-o", "w.png", "--size", "99x3", "--mean", "--edge", "valid"},
       2,
       "with --edge valid it may not exceed the image, 61x43"},
      {{"window", "a.npy", "-o", "w.png", "--size", "3x3", "--sum"}, 2, "sums do not fit this format"},
      {{"completion", "powershell"}, 2, "completion powershell: may be bash, zsh or fish"},
  };
  for (const Case& c : cases) check(c);
  for (const BackendInfo& row : backends())
    if (row.backend == Backend::simt && row.available)
      check({{"hist", "a.npy", "--algorithm", "wf-tis", "--backend", "simt", "--counter", "64u", "--tile-threads",
              "1024"},
             2,
             "tile_threads 1024 with counter 64u: it may be 512 on tiles of 32"});
}

TEST_F(CommandBadInput, BackendsThatAreNotHere) {
  for (const BackendInfo& row : backends())
    if (!row.available) {
      const std::string name(name_of(row.backend));
      for (const char* verb : {"sat", "hist"})
        check({{verb, "a.npy", "--backend", name}, 1, "--backend " + name + ": " + row.why_not});
    } else if (row.backend != Backend::cpu) {
      check(
          {{"sat", "a.npy", "--backend", std::string(name_of(row.backend)), "--device", "4096"}, 1, "--device 4096: "});
    }
  if (devices().empty()) check({{"sat", "a.npy", "--device", "0"}, 1, "--device 0: no such device"});
  check({{"sat", "a.npy", "--device", "0", "--backend", "cpu"}, 2, "--device 0: the cpu backend has no devices"});
}

TEST_F(CommandBadInput, Files) {
  write_file(work / "empty.png", "");
  write_file(work / "words.png", "this is no picture, whatever its name says\n");
  write_file(work / "huge.png", png_claiming(0x7fffffffu, 0x7fffffffu));
  write_file(work / "huge31.png", png_claiming(0x80000000u, 0x80000000u));
  const std::string half = pgm(61, 43);
  write_file(work / "half.pgm", half.substr(0, half.size() / 2));
  const std::string picture = contents(work / "data" / "home.jpg");
  write_file(work / "half.jpg", picture.substr(0, picture.size() / 2));
  fs::create_directory(work / "void");
  check({{"sat", "missing.png"}, 1, "missing.png: no such file"});
  check({{"sat", "empty.png"}, 1, "empty.png: the file is empty"});
  check({{"sat", "words.png"}, 1, "words.png: "});
  check({{"sat", "half.pgm"}, 1, "half.pgm: "});
  check({{"sat", "half.jpg"}, 1, "half.jpg: "});
  check({{"sat", "huge.png"}, 1, "huge.png: "});
  check({{"sat", "huge31.png"}, 1, "huge31.png: "});
  check({{"sat", "void"}, 1, "void: the folder holds no picture"});
  check({{"sat", "a.npy", "--mask", "void"}, 2, "void: is a folder; one picture or .npy is needed here"});
  check({{"query", "void"}, 1, "void/zarr.json: the metadata is missing"});
  check({{"sat", "void", "--raw", "4x4x8u"}, 2, "void: is a folder; --raw takes one file"});
  check({{"sat", "a.npy", "--raw", "4x4x8u"}, 1, "a.npy"});
}

TEST_F(CommandBadInput, PalettesAndCmykAreReadAndNeverSummedSilently) {
  write_file(work / "palette.tif", tiff(false));
  write_file(work / "cmyk.tif", tiff(true));
  // The palette's entry i is the grey i: 10 + 30 + 50 + 70.
  const Outcome palette = run({"sat", "palette.tif", "--region", "0,0,2,2"});
  EXPECT_EQ(palette.code, 0) << palette.err;
  EXPECT_EQ(palette.out, "region,x,y,width,height,sum\n0,0,0,2,2,160\n");
  const Outcome cmyk = run({"sat", "cmyk.tif"});
  EXPECT_NE(cmyk.err.find("CMYK"), std::string::npos) << "code " << cmyk.code << ": " << cmyk.err;
}

TEST_F(CommandBadInput, Npy) {
  const std::string values(24, '\1');
  auto dictionary = [](const char* descr, const char* order, const char* shape) {
    return std::string("{'descr': '") + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  };
  write_file(work / "complex.npy", npy_with(dictionary("<c8", "False", "(1, 3)"), values));
  write_file(work / "big.npy", npy_with(dictionary(">u2", "False", "(3, 4)"), values));
  write_file(work / "order.npy", npy_with(dictionary("<u2", "True", "(3, 4)"), values));
  write_file(work / "lying.npy", npy_with(dictionary("<u2", "False", "(3000, 4000)"), values));
  write_file(work / "lying2.npy", npy_with(dictionary("<u2", "False", "(9223372036854775807, 4000)"), values));
  write_file(work / "flat.npy", npy_with(dictionary("<u2", "False", "(12,)"), values));
  write_file(work / "broken.npy", npy_with("{'descr': 'oops", values));
  write_file(work / "long.npy", npy_with(dictionary("<i8", "False", "(1, 3)"), values));
  write_file(work / "many.npy", npy_with(dictionary("|u1", "False", "(2, 2, 6)"), values));
  for (const char* name : {"complex.npy", "big.npy", "order.npy", "lying.npy", "lying2.npy", "flat.npy", "broken.npy"})
    check({{"sat", name}, 1, std::string(name) + ": "});
  check({{"sat", "lying.npy"}, 1, "is truncated: its header declares 24000000 bytes of data, 24 are there"});
  check({{"sat", "long.npy", "--types", "64u64u"}, 2, "--types 64u64u: cannot hold the 64s pixels of long.npy"});
  check({{"sat", "many.npy"}, 2, "many.npy: has 6 channels, which is not a colour"});
  check({{"sat", "-"}, 1, "standard input: holds no .npy array"});
  check({{"sat", "-"}, 1, "standard input"}, "no array at all");
}

TEST_F(CommandBadInput, RowsOfNoElementsAreNotCountedForYears) {
  for (const char* shape : {"(4611686018427387904, 0)", "(4611686018427387904, 0, 3)", "(0, 4611686018427387904)",
                            "(4294967296, 4294967296, 0)", "(16777217, 0)"}) {
    write_file(work / "tall.npy",
               npy_with("{'descr': '|u1', 'fortran_order': False, 'shape': " + std::string(shape) + ", }", ""));
    for (const char* verb : {"sat", "hist", "info", "query"}) {
      std::vector<std::string> words{verb, "tall.npy"};
      if (words[0] == "query") words.push_back("--picture");
      check({words, 1, "tall.npy: declares a shape without elements whose other extents exceed 16777216"});
    }
  }
  write_file(work / "tall.npy", npy_with("{'descr': '|u1', 'fortran_order': False, 'shape': (16777216, 0), }", ""));
  EXPECT_EQ(run({"hist", "tall.npy", "--bins", "4"}).code, 0);
}

TEST_F(CommandBadInput, Videos) {
  write_file(work / "none.avi", std::string("RIFF\x24\0\0\0AVI LIST", 16));
  check({{"hist", "none.avi"}, 1, "none.avi"});
  write_file(work / "words.mp4", "no video either");
  check({{"hist", "words.mp4"}, 1, "words.mp4"});
}

TEST_F(CommandBadInput, Regions) {
  const std::string most = "9223372036854775807";
  check({{"sat", "a.npy", "--region", "1,2,3"}, 2, "1,2,3"});
  check({{"sat", "a.npy", "--region", "a,2,3,4"}, 2, "whole number"});
  check({{"sat", "a.npy", "--region", "1,2,-3,4"}, 2, "negative"});
  check({{"sat", "a.npy", "--region", "1,2," + most + ",4"}, 2, "64 bits"});
  check({{"sat", "a.npy", "--region", "1,2,3," + most + "0"}, 2, "64 bits"});
  check({{"sat", "a.npy", "--region", "0,0,62,1"}, 2, "61x43"});
  check({{"sat", "a.npy", "--region", "-1,0,3,1"}, 2, "61x43"});
  check({{"hist", "a.npy", "--region", "0,0,1,44"}, 2, "61x43"});
  check({{"sat", "a.npy", "--region", "0,0,1,1", "--outside", "ignore"}, 2, "--outside ignore: may be error or clip"});
  check({{"sat", "a.npy", "--regions", "none.csv"}, 1, "none.csv"});
  write_file(work / "r.csv", "x,y,width,height\n1,2,3,4\n\n# a comment\n1,2,three,4\n");
  check({{"sat", "a.npy", "--regions", "r.csv"}, 2, "r.csv: line 5: "});
  check({{"hist", "a.npy", "--regions", "r.csv"}, 2, "r.csv: line 5: "});
  write_file(work / "header.csv", "x,y,width,height\n");
  for (const char* verb : {"sat", "hist"})
    check({{verb, "a.npy", "--regions", "header.csv"}, 2, "--regions header.csv: holds no region"});
  // An empty region is no error: its sum is 0. Clipped on request, and the row shows the part inside.
  EXPECT_EQ(answer({"sat", "a.npy", "--region", "5,5,0,3"}), "region,x,y,width,height,sum\n0,5,5,0,3,0\n");
  EXPECT_EQ(answer({"sat", "a.npy", "--region", "-4,0,8,1", "--outside", "clip"}),
            "region,x,y,width,height,sum\n0,0,0,4,1," + std::to_string(direct_sum(0, 0, 4, 1)) + "\n");
}

TEST_F(CommandBadInput, TypePairsThatCannotHoldTheImage) {
  write_file(work / "w.npy", npy("<u2", "1, 2", std::vector<std::uint16_t>{1, 2}));
  write_file(work / "f.npy", npy("<f4", "1, 2", std::vector<float>{1, 2}));
  check({{"sat", "w.npy", "--types", "8u32u"},
         2,
         "--types 8u32u: cannot hold the 16u pixels of w.npy; it may be 16u32u, 16u64u, 16u64f"});
  check({{"sat", "f.npy", "--types", "32u64u"},
         2,
         "--types 32u64u: cannot hold the 32f pixels of f.npy; it may be 32f32f"});
  check({{"sat", "a.npy", "--types", "8s32s"}, 2, "--types 8s32s: cannot hold the 8u pixels of a.npy"});
  check({{"sat", "a.npy", "--types", "8u16u"}, 2, "--types 8u16u: may be 8u32u"});
}

TEST_F(CommandBadInput, SavedTables) {
  ASSERT_EQ(run({"sat", "a.npy", "-o", "T.npy"}).code, 0);
  check({{"query", "T.npy", "--region", "0,0,62,1"}, 2, "61x43"});
  check({{"query", "T.npy", "--stat", "std"}, 2, "need the table of squares, which was not written with T.npy"});
  check({{"query", "T.npy", "--squares", "T.npy", "--stat", "std"},
         2,
         "is a table of sum; a table of squares is needed here"});
  check({{"query", "missing.npy"}, 1, "missing.npy"});
  fs::remove(work / "T.json");
  check({{"query", "T.npy"}, 1, "its sidecar T.json is missing"});
  ASSERT_EQ(run({"sat", "a.npy", "-o", "T.npy"}).code, 0);
  fs::resize_file(work / "T.npy", 1000);
  check({{"query", "T.npy"}, 1, "T.npy: is truncated"});
}

// What files and names hold gets into messages, and a terminal must not obey it.
TEST_F(CommandBadInput, MessagesAreOneLineOfCharacters) {
  const std::string evil = "\x1b]0;x\x07\x1b[31m\xc2\x9b\r\x7f\xff\xe2\x80\xae";
  const auto expect_printable = [&](const std::vector<std::string>& words) {
    const Outcome outcome = run(words);
    EXPECT_NE(outcome.code, 0);
    const std::string text = outcome.out + outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    for (const char* bad : {"\x1b", "\x07", "\xc2\x9b", "\r", "\x7f", "\xff", "\xe2\x80\xae"})
      EXPECT_EQ(text.find(bad), std::string::npos) << outcome.err;
    EXPECT_NE(text.find("\\x1b"), std::string::npos) << outcome.err;
  };
  expect_printable({"sat", evil + ".png"});
  expect_printable({"query", evil + ".npy"});
  expect_printable({"sat", "a.npy", "--" + evil});
  expect_printable({evil});
  write_file(work / (evil + ".png"), "no picture");
  expect_printable({"sat", evil + ".png"});
  write_file(work / "r.csv", "1,2," + evil + ",4\n");
  expect_printable({"sat", "a.npy", "--regions", "r.csv"});
  write_file(work / "t.npy", npy_with("{'descr': '" + evil + "', 'fortran_order': False, 'shape': (1, 1), }", "x"));
  expect_printable({"sat", "t.npy"});
  ASSERT_EQ(run({"sat", "a.npy", "-o", "T.npy"}).code, 0);
  write_file(work / "T.json", "{\"areal\": \"1\", \"kind\": \"\\u001b[31m\"}");
  expect_printable({"query", "T.npy"});
  // Names in any language stay as they are.
  EXPECT_NE(run({"sat", "b\xc3\xbc\xe6\x96\x87.png"}).err.find("b\xc3\xbc\xe6\x96\x87.png: no such file"),
            std::string::npos);
}

TEST_F(CommandBadInput, NoLibrarysOwnWords) {
  const std::string longest(300, 'n');
  fs::create_directory(work / "void");
  write_file(work / "file", "x");
  const std::vector<std::vector<std::string>> all = {
      {"sat", longest},
      {"sat", longest + ".npy"},
      {"hist", longest + ".avi"},
      {"query", longest},
      {"query", longest + ".npy"},
      {"info", longest},
      {"sat", "file/a.npy"},
      {"query", "file/a.npy"},
      {"sat", "a.npy", "-o", longest + ".npy"},
      {"sat", "a.npy", "-o", longest + ".zarr"},
      {"sat", "a.npy", "-o", "file/t.zarr"},
      {"sat", "a.npy", "-o", "file/t.npy"},
      {"sat", "a.npy", "--regions", longest},
      {"sat", "a.npy", "--regions", "void"},
      {"hist", "a.npy", "--lookup", "void"},
      {"hist", "a.npy", "--lookup", longest},
      {"track", "--score", "void", "--truth", "void"},
      {"window", "a.npy", "--size", "3x3", "--mean", "-o", longest + ".png"}};
  for (const auto& words : all) {
    const Outcome outcome = run(words);
    SCOPED_TRACE(words[0] + " " + words.back().substr(0, 20) + ": " + outcome.err);
    EXPECT_TRUE(outcome.code == 1 || outcome.code == 2);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
    for (const char* word : {"filesystem error", "basic_", "std::", "iostream"})
      EXPECT_EQ(outcome.err.find(word), std::string::npos);
  }
}

// `check` sees that no picture, table or sidecar of the first half appears.
TEST_F(CommandBadInput, NothingIsWrittenBeforeAllIsChecked) {
  check({{"sat", "a.npy", "--region", "0,0,62,1", "--draw", "d.png"}, 2, "61x43"});
  check(
      {{"sat", "a.npy", "--region", "0,0,1,1", "--region", "60,42,2,2", "--draw", "d.png", "-o", "T.npy"}, 2, "61x43"});
  check({{"sat", "a.npy", "--stat", "tilted", "--tilted", "--region", "0,0,90,90", "--draw", "d.png"}, 2, "region 0"});
  check({{"hist", "a.npy", "--region", "0,0,62,1", "--draw", "d.png", "-o", "H.npy"}, 2, "61x43"});
  // JSON that is no sidecar is never replaced: of the table, and of what comes with it.
  const std::string boxes = "{\"boxes\": [1, 2, 3, 4]}";
  for (const char* kind : {"", ".squares", ".tilted", ".count"}) {
    const fs::path other = work / (std::string("boxes") + kind + ".json");
    write_file(other, boxes);
    check({{"sat", "a.npy", "--squares", "--tilted", "--mask", "a.npy", "-o", "boxes.npy"},
           2,
           "which areal has not written"});
    if (*kind == '\0') check({{"hist", "a.npy", "-o", "boxes.npy"}, 2, "which areal has not written"});
    EXPECT_EQ(contents(other), boxes);
    fs::remove(other);
  }
}

// A file that never ends, and a pipe that nobody writes to.
TEST_F(CommandBadInput, TextsHaveALimitAndPipesDoNotHang) {
  check({{"hist", "a.npy", "--lookup", "/dev/zero"}, 1, "/dev/zero: has more than 16777216 bytes"});
  write_file(work / "large.csv", "");
  fs::resize_file(work / "large.csv", (std::uint64_t{1} << 30) + 1);  // of holes
  check({{"sat", "a.npy", "--regions", "large.csv"}, 1, "large.csv: has more than 1073741824 bytes"});
  check({{"track", "--score", "large.csv", "--truth", "large.csv"}, 1, "large.csv: has more than 1073741824 bytes"});
  ASSERT_EQ(run({"sat", "a.npy", "-o", "T.npy"}).code, 0);
  fs::remove(work / "T.json");
  ASSERT_EQ(::mkfifo((work / "T.json").c_str(), 0600), 0);
  check({{"query", "T.npy"}, 1, "T.json: is not a regular file, as a sidecar is"});
  check({{"sat", "a.npy", "-o", "T.npy"}, 2, "its sidecar would replace T.json, which areal has not written"});
  // A pipe of regions is read, as the shell's <(..) gives one.
  EXPECT_EQ(shell("areal sat a.npy --regions <(echo 0,0,1,1)").code, 0);
}

TEST_F(CommandBadInput, OneTableForManyFramesIsRefused) {
  fs::create_directory(work / "folder");
  write_file(work / "folder" / "p1.pgm", pgm(61, 43));
  check({{"sat", "folder", "-o", "T.npy"}, 2, "folder: it has a table per frame"});
  check({{"hist", "folder", "-o", "T.npy"}, 2, "folder: it has a tensor or store per frame"});
  check({{"window", "folder", "--size", "3x3", "--mean", "-o", "w.png"}, 2, "folder: window takes one picture"});
  check({{"hist", "a.npy", "--bins", "65535", "-o", "/proc/T.npy"}, 1, "T.npy"});
}

}  // namespace
}  // namespace areal::test
