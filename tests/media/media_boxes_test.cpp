// Boxes that move, as CSV: with a header, and as the MOT challenge writes them.
#include <algorithm>
#include "media/media.hpp"
#include "scratch.hpp"

namespace areal::media {
namespace {

using test::Scratch;
using test::sentence_of;

std::string text_of(const std::vector<Box>& boxes) {
  std::string out;
  for (const Box& b : boxes)
    out += std::to_string(b.frame) + " " + b.id + " " + std::to_string(b.region.x) + "," + std::to_string(b.region.y) +
           " " + std::to_string(b.region.width) + "x" + std::to_string(b.region.height) + "\n";
  return out;
}
std::string parsed(std::string_view text) { return text_of(parse_boxes_csv(text, "b.csv")); }

TEST(Boxes, ByTheirHeader) {
  EXPECT_EQ(parsed("frame,id,x,y,width,height\n0,a,1,2,3,4\n2,b,-5,6,7,0\n"), "0 a 1,2 3x4\n2 b -5,6 7x0\n");
  EXPECT_EQ(
      parsed("\xef\xbb\xbfHeight, stream ,Y,ID,distance,x,Width,frame\r\n\r\n# c\r\n4,cam,2,\"a, b\",0.5,1,3,7\r\n"),
      "7 a, b 1,2 3x4\n");
  EXPECT_EQ(parsed("frame,id,x,y,width,height\n"), "");
  EXPECT_EQ(parsed(""), "");
}

TEST(Boxes, SortedByFrameAndStable) {
  EXPECT_EQ(parsed("frame,id,x,y,width,height\n3,z,0,0,1,1\n1,b,0,0,1,1\n3,a,0,0,1,1\n1,c,0,0,1,1\n0,d,0,0,1,1\n"),
            "0 d 0,0 1x1\n1 b 0,0 1x1\n1 c 0,0 1x1\n3 z 0,0 1x1\n3 a 0,0 1x1\n");
}

TEST(Boxes, FractionsOfPixelsAreRounded) {
  EXPECT_EQ(parsed("frame,seconds,id,x,y,width,height,distance\n3,0.1,0,274.775,228.225,29.45,84.55,1.09\n"),
            "3 0 275,228 29x85\n");
  EXPECT_EQ(parsed("frame,id,x,y,width,height\n0,a,-0.5,1e1,2.5,3\n"), "0 a 0,10 3x3\n") << "halves go up";
}

TEST(Boxes, OfTheMotChallenge) {
  // A line of ground truth, of detections, and of 2-D results: 9, 7 and 10 columns.
  EXPECT_EQ(parsed("1,1,912,484,97,109,0,7,1\n2,1,912,484,97,109,1,7,1\n"), "1 1 911,483 97x109\n");
  EXPECT_EQ(parsed("1,-1,794.27,247.59,71.245,174.88,4.56\n"), "0 -1 793,247 71x175\n");
  EXPECT_EQ(parsed("5,3,1,1,10,10\n3,2,1.5,0.4,2.5,3.49,-1,-1,-1,-1\n"), "2 2 1,-1 3x3\n4 3 0,0 10x10\n");
  EXPECT_EQ(parsed("1.0,1,-3.5,1e1,2,2,1\n"), "0 1 -4,9 2x2\n") << "halves go up";
  EXPECT_EQ(parsed("1,1,1,1,1,1,0.0\n1,1,1,1,1,1,1e-9\n"), "0 1 0,0 1x1\n");
}

TEST(Boxes, BadLinesAreNamed) {
  struct Bad {
    const char *text, *words;
  };
  const std::string header = "frame,id,x,y,width,height\n";
  for (const Bad& bad : {Bad{"1,a,2,3,4\n", "has 5 fields, the header has 6"},
                         {"1,a,2,3,4,5,6\n", "has 7 fields, the header has 6"},
                         {"1.5,a,2,3,4,5\n", "frame is '1.5', it must be a whole number"},
                         {"-1,a,2,3,4,5\n", "frame is -1, they count from 0"},
                         {"1,a,2.5z,3,4,5\n", "x is '2.5z', it must be a number"},
                         {"1,a,2,3,-4,5\n", "width is -4, it may not be negative"},
                         {"1,a,9223372036854775807,3,4,5\n", "x + width does not fit 64 bits"},
                         {"1,a,2,99999999999999999999,4,5\n", "which does not fit 64 bits"},
                         {"1,\"a,2,3,4,5\n", "a quote is not closed"}}) {
    const std::string what = sentence_of<InvalidArgument>([&] { parsed(header + "0,a,1,1,1,1\n" + bad.text); });
    EXPECT_EQ(what.find("b.csv: line 3: "), 0u) << what;
    EXPECT_NE(what.find(bad.words), std::string::npos) << what;
  }
  for (const Bad& bad : {Bad{"frame,id,x,y,width\n", "the header has no column 'height'"},
                         {"frame,id,x,y,width,height,x\n", "the header has 'x' twice"},
                         {"x,y,width,height\n1,2,3,4\n", "the header has no column 'frame'"},
                         {"1,2,3,4,5\n", "has 5 fields, without a header it must have 6 to 10"},
                         {"1,2,3,4,5,6,7,8,9,10,11\n", "has 11 fields"},
                         {"0,1,1,1,1,1\n", "frame is 0, they count from 1 without a header"},
                         {"1.5,1,1,1,1,1\n", "frame is '1.5', it must be a whole number"},
                         {"1,1,a,1,1,1\n", "left is 'a', it must be a number"},
                         {"1,1,1,nan,1,1\n", "top is 'nan', it must be a number"},
                         {"1,1,1,inf,1,1\n", "top is 'inf', it must be a number"},
                         {"1,1,1e300,1,1,1\n", "left is '1e300', which does not fit 53 bits"},
                         {"1,1,1,1,-2,1\n", "width is -2, it may not be negative"},
                         {"1,1,1,1,1,1,x\n", "confidence is 'x', it must be a number"},
                         {"1,1,1,1,-1,1,0\n", "width is -1"}}) {
    const std::string what = sentence_of<InvalidArgument>([&] { parsed(bad.text); });
    EXPECT_EQ(what.find("b.csv: line 1: "), 0u) << what;
    EXPECT_NE(what.find(bad.words), std::string::npos) << what;
  }
}

TEST(Boxes, Files) {
  const Scratch scratch;
  const fs::path path = scratch.write("b.csv", "1,7,1,1,5,6\n");
  EXPECT_EQ(text_of(read_boxes_csv(path)), "0 7 0,0 5x6\n");
  test::expect_sentence<IoError>(scratch / "none.csv", "no such file", [&] { read_boxes_csv(scratch / "none.csv"); });
  scratch.write("b.csv", "1,7,1,1,5,z\n");
  test::expect_sentence<InvalidArgument>(path, "line 1: height is 'z'", [&] { read_boxes_csv(path); });
}

}  // namespace
}  // namespace areal::media
