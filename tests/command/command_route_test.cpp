// How the command handles an input: the choice, by rows, and the table of refusals: what it says is refused with that
// sentence and leaves nothing, it is the list of refused.txt, and what it does not say is answered as by the whole
// image.

#include "io/route.hpp"

#include <areal/error.hpp>
#include <array>
#include <cmath>
#include <set>
#include "command_runner.hpp"

namespace areal::test {
namespace {

using command::GivenOption;
using command::InputFacts;
using command::Limits;
using command::Product;
using command::Route;
using command::RouteRequest;
using command::Way;

constexpr std::uint64_t mega = std::uint64_t{1} << 20;
constexpr std::array products{Product::sums,    Product::table,   Product::histograms, Product::tensor,
                              Product::windows, Product::filters, Product::query};
constexpr std::array ways{Way::whole, Way::frames, Way::strips, Way::tiles, Way::chunked};

struct Case {
  const char* why;
  InputFacts input;
  RouteRequest route_request;
  Limits limits;
  Way way;
};

const InputFacts picture{.name = "a.png"}, array{.name = "a.npy", .is_array = true},
    stream{.name = "-", .is_stream = true}, video{.name = "v.mp4", .only_way = Way::frames};
const Limits free_100M{.free = 100 * mega};
const Limits memory_50M{.memory_option = "--memory 210M", .memory = 50 * mega, .free = 100 * mega};
const Limits device_50M{.tiles_option = "--device-memory 50M", .device_memory = 50 * mega, .free = 100 * mega};
const Limits devices{.tiles_option = "--devices cpu", .has_devices = true, .free = 100 * mega};

const std::vector<Case> cases{
    {"what fits goes as a whole", picture, {Product::sums, "", {}, 90 * mega}, free_100M, Way::whole},
    {"so does what may fit", picture, {Product::sums}, free_100M, Way::whole},
    {"what does not goes by strips", picture, {Product::sums, "", {}, 101 * mega}, free_100M, Way::strips},
    {"its tables by tiles", picture, {Product::table, "T.npy", {}, 101 * mega}, free_100M, Way::tiles},
    {"those with a mask, too",
     picture,
     {Product::table, "T.npy", {{"--mask", "m.png"}}, 101 * mega},
     free_100M,
     Way::tiles},
    {"what no other way takes is tried",
     picture,
     {Product::sums, "", {{"--tilted"}}, 101 * mega},
     free_100M,
     Way::whole},
    {"a stream is read once", stream, {Product::sums, "", {}, 101 * mega}, free_100M, Way::whole},
    {"--memory asks for strips", picture, {Product::sums, "", {}, mega}, memory_50M, Way::strips},
    {"unless they do not take an option",
     picture,
     {Product::sums, "", {{"--tilted"}}, 50 * mega},
     memory_50M,
     Way::whole},
    {"or the input", stream, {Product::sums}, memory_50M, Way::whole},
    {"--devices ask for tiles", array, {Product::table, "T.npy", {}, mega}, devices, Way::tiles},
    {"--device-memory for what does not fit", array, {Product::table, "T.npy", {}, 51 * mega}, device_50M, Way::tiles},
    {"and no more", array, {Product::table, "T.npy", {}, 50 * mega}, device_50M, Way::whole},
    {"frames are frames", video, {Product::sums, "", {}, 0}, memory_50M, Way::frames},
    {"a .zarr is chunked", array, {Product::table, "T.zarr", {}, mega}, memory_50M, Way::chunked},
    {"so is what was written so",
     {.name = "T.zarr", .only_way = Way::chunked},
     {Product::query},
     free_100M,
     Way::chunked},
};

TEST(CommandRoute, Choice) {
  for (const Case& row : cases) {
    const Route route = command::route(row.input, row.route_request, row.limits);
    EXPECT_EQ(command::name_of(route.way), command::name_of(row.way)) << row.why << ": " << route.why;
  }
}

TEST(CommandRoute, TheSentence) {
  const auto says = [](const RouteRequest& route_request, const Limits& limits, const std::string& sentence) {
    try {
      command::route(picture, route_request, limits);
      ADD_FAILURE() << sentence;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.what(), sentence);
    }
  };
  says({Product::sums, "", {{"--tilted"}}, 51 * mega}, memory_50M,
       "--tilted: not with --memory 210M; a tilted sum reaches beyond a part of the image, and that takes 51.0M");
  says({Product::table, "T.npy", {{"--tilted"}}}, devices,
       "--tilted: not with --devices cpu; a tilted sum reaches beyond a part of the image");
  says({Product::table, "T.npy", {command::papers_algorithm("2r2w")}}, devices,
       "--algorithm 2r2w: not with --devices cpu; it takes no carries, which parts of an image hand on");
}

TEST(CommandRoute, AValueOrAnExtensionIsMatched) {
  const command::Refusal value{0, 0, "--stat tilted", ""}, extension{0, 0, "-o .tif", ""}, any{0, 0, "--stat", ""};
  EXPECT_TRUE(value.is_of({"--stat", "tilted"}));
  EXPECT_FALSE(value.is_of({"--stat", "sum"}));
  EXPECT_FALSE(value.is_of({"--stats", "tilted"}));
  EXPECT_TRUE(any.is_of({"--stat", "sum"}));
  EXPECT_TRUE(extension.is_of({"-o", "a/T.tif"}));
  EXPECT_FALSE(extension.is_of({"-o", "T.tif.npy"}));
}

// A new line in refused.txt is a capability less: the list may only shrink.
TEST(CommandRoute, RefusedTxtIsTheTable) {
  std::set<std::string> table;
  for (const command::Refusal& row : command::refusals())
    for (const Product product : products)
      for (const Way way : ways)
        if (row.covers(product, way)) {
          const std::string option(row.option.empty() ? "all" : row.option);
          const std::string line = std::string(command::name_of(product)) + " " + std::string(command::name_of(way));
          EXPECT_TRUE(table.insert(line + ": " + option).second) << option;
        }
  std::set<std::string> listed;
  for (const std::string& line : lines(contents(fs::path(AREAL_SOURCE_DIR) / "tests/command/refused.txt")))
    if (!line.empty() && line[0] != '#') listed.insert(line);
  EXPECT_EQ(table, listed);
}

/// The limits that leave only that way for an image of 200M.
Limits only(Way way) {
  if (way == Way::strips) return memory_50M;
  return way == Way::tiles ? devices : Limits{.free = 1000 * mega};
}

TEST(CommandRoute, EveryRowRefuses) {
  for (const command::Refusal& row : command::refusals())
    for (const Product product : products)
      for (const Way way : ways) {
        if (!row.covers(product, way)) continue;
        const std::size_t space = row.option.find(' ');
        GivenOption given{std::string(row.option.substr(0, space))};
        if (space != std::string_view::npos) given.value = row.option.substr(space + 1);
        if (row.option == "a line about the table") given = {std::string(row.option)};
        if (row.option == command::papers_algorithm("").name) given = command::papers_algorithm("2r2w");
        RouteRequest route_request{product, product == Product::table ? "T.npy" : "", {given}, 200 * mega};
        InputFacts input = array;
        if (way == Way::frames || way == Way::chunked) input.only_way = way;
        try {
          command::route(input, route_request, only(way));
          ADD_FAILURE() << command::name_of(product) << " " << command::name_of(way) << " " << row.option;
        } catch (const InvalidArgument& error) {
          const std::string sentence = error.what();
          EXPECT_NE(sentence.find(row.why), std::string::npos) << row.option << ": " << sentence;
          const std::string begin = row.option.empty() ? "" : given.text() + ": not with ";
          EXPECT_EQ(sentence.find(begin), 0u) << sentence;
        }
      }
}

/// What the table does not refuse: the answer, or the file, by parts is that of the whole image.
class CommandWays : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    std::vector<std::uint8_t> colours, mask;
    std::vector<float> floats;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        for (const int c : {0, 1, 2}) colours.push_back(pixel(x + c, y));
        floats.push_back(x == 9 && y % 8 == 0 ? NAN : static_cast<float>(pixel(x, y)));
        mask.push_back((x + y) % 3 > 0);
      }
    write_file(work / "a.npy", npy("|u1", "643, 961", pixels(width, height)));
    write_file(work / "c.npy", npy("|u1", "643, 961, 3", colours));
    write_file(work / "f.npy", npy("<f4", "643, 961", floats));
    write_file(work / "m.npy", npy("|u1", "643, 961", mask));
    const std::vector<std::uint8_t> bytes = pixels(width, height);
    write_file(work / "a.raw", std::string(bytes.begin(), bytes.end()));
  }
  using Words = std::vector<std::string>;
  /// `more` are options that ask for parts.
  void same_answer(Words words, const Words& more, const std::string& way) {
    const std::string at_once = answer(words);
    words.insert(words.end(), more.begin(), more.end());
    words.push_back("-v");
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.out, at_once) << words[1] << " " << words[2] << outcome.err;
    EXPECT_NE(outcome.err.find(way), std::string::npos) << outcome.err;
  }
  /// What is written, with the tables that belong to it.
  std::string written() {
    std::string all;
    for (const char* name : {"T.npy", "T.squares.npy", "T.count.npy"})
      if (fs::exists(work / name)) all += contents(work / name), fs::remove(work / name);
    return all;
  }
  void same_file(Words words, const Words& more, const std::string& way) {
    words.insert(words.end(), {"-o", "T.npy"});
    answer(words);
    const std::string at_once = written();
    words.insert(words.end(), more.begin(), more.end());
    words.push_back("-v");
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find(way), std::string::npos) << outcome.err;
    EXPECT_TRUE(written() == at_once) << words[1] << " " << words[2] << outcome.err;
  }
  static constexpr int width = 961, height = 643;
};

const std::vector<std::string> little{"--memory", "163M"};

TEST_F(CommandWays, SumsByStrips) {
  const Words regions{"--region", "3,4,900,600", "--region", "0,0,1,1", "--stat", "sum,mean,std"};
  for (Words words : std::vector<Words>{{"sat", "a.npy"},
                                        {"sat", "a.npy", "--squares"},
                                        {"sat", "c.npy", "--all-channels"},
                                        {"sat", "c.npy", "--channel", "1"},
                                        {"sat", "a.raw", "--raw", "961x643x8u"},
                                        {"sat", "f.npy"}}) {
    words.insert(words.end(), regions.begin(), regions.end());
    same_answer(words, little, ": by strips: --memory 163M\n");
  }
}

TEST_F(CommandWays, TablesByStripsAndByTiles) {
  for (const Words& words : std::vector<Words>{{"sat", "a.npy", "--squares"},
                                               {"sat", "a.npy", "--types", "16u64u"},
                                               {"sat", "c.npy", "--border", "none"},
                                               {"sat", "c.npy", "--channel", "2", "--border", "exclusive"},
                                               {"sat", "a.raw", "--raw", "961x643x8u"},
                                               {"sat", "synthetic:900x700:3"}}) {
    same_file(words, little, ": by strips: --memory 163M\n");
    same_file(words, {"--devices", "cpu:2"}, ": by tiles: --devices cpu:2\n");
  }
  for (const Words& words : std::vector<Words>{{"sat", "a.npy", "--mask", "m.npy", "--squares"},
                                               {"sat", "f.npy", "--ignore-nan"},
                                               {"sat", "c.npy", "--all-channels"},
                                               {"sat", "c.npy", "--all-channels", "--interleaved", "--squares"}}) {
    same_file(words, {"--memory", "166M"}, ": by strips: --memory 166M\n");
    same_file(words, {"--device-memory", "1M", "--backend", "cpu"}, ": by tiles: --device-memory 1M\n");
  }
  if (has_simt()) same_file({"sat", "synthetic:70x60:1"}, {"--memory", "163M", "--backend", "simt"}, ": by strips: ");
  EXPECT_TRUE(
      others({"a.npy", "c.npy", "f.npy", "m.npy", "a.raw", "T.json", "T.squares.json", "T.count.json"}).empty());
}

TEST_F(CommandWays, TheSidecarSaysWhatRan) {
  answer({"sat", "a.npy", "-o", "T.npy", "--algorithm", "tiles", "--memory", "163M"});
  EXPECT_NE(contents(work / "T.json").find("\"algorithm\": \"tiles by strips\""), std::string::npos);
  answer({"sat", "a.npy", "-o", "T.npy", "--device-memory", "90K"});
  const std::string sidecar = contents(work / "T.json");
  EXPECT_NE(sidecar.find(" by tiles\""), std::string::npos) << sidecar;
  EXPECT_EQ(sidecar.find("\"auto by tiles\""), std::string::npos) << sidecar;
}

// Frames are small; one beyond --memory is refused.
TEST_F(CommandWays, FramesWithinMemory) {
  fs::create_directory(work / "frames");
  for (const char* name : {"frames/1.pgm", "frames/2.pgm"}) write_file(work / name, pgm(width, height));
  same_answer({"sat", "frames", "--region", "1,2,30,40"}, {"--memory", "200M"}, ": frame by frame: ");
  expect_failure({"sat", "frames", "--memory", "161M"}, 1, "--memory 161M: an image of 961x643 with its tables takes ");
}

}  // namespace
}  // namespace areal::test
