#pragma once
// Filters compared with their definition in long double: guided filters and Gaussians.

#include <gtest/gtest.h>
#include <areal/array.hpp>
#include <areal/filter.hpp>
#include <cmath>
#include <random>
#include <sstream>
#include <string>
#include <vector>
#include "cpu/simd.hpp"
#include "filter_oracle.hpp"

namespace real_cases {

using areal::Backend;
using areal::Edge;
using areal::Execution;
using areal::FilterArguments;
using areal::FilterOptions;
using areal::FilterPlan;
using areal::Layout;
using areal::Shape;
using areal::Type;
namespace filter = areal::filter;
using Real = long double;

/// What the cases of both have in common. A case adds plan() and words().
struct RealCase {
  Shape shape;
  Type in, out = Type::f32;
  FilterOptions options;
  Layout out_layout = Layout::interleaved;
  double least, most;
  std::uint64_t seed = 1;
  Execution execution = {.backend = Backend::cpu};

  RealCase(Type in_, double least_, double most_) : in(in_), least(least_), most(most_) {}
  std::string types_and_shape() const {
    std::ostringstream text;
    text << " " << name_of(in) << " to " << name_of(out) << " " << shape.width << "x" << shape.height << "x"
         << shape.channels << "x" << shape.batch << " edge " << oracle::name_of(options.window.edge) << " seed "
         << seed;
    return text.str();
  }
};

struct RealMemory {
  std::mt19937_64 random;
  oracle::Padded image, out;
  FilterArguments arguments;

  RealMemory(const RealCase& c, const Shape& out_shape)
      : random(c.seed), image(c.in, c.shape), out(c.out, out_shape, 7, 5) {
    oracle::fill_randomly(image, c.least, c.most, random);
    arguments = {image.view(), out.view()};
  }
};

/// The outputs that differ, and the first of them.
class Differences {
 public:
  explicit Differences(const oracle::Padded& out) : out_(out) {
    if (!out.guards_stand()) text_ << "bytes beside the output changed; ";
  }
  void see(std::int64_t x, std::int64_t y, std::int64_t channel, std::int64_t n, double want, double tolerance) {
    const areal::ConstView out = out_.view();
    const double got = oracle::element(out, x, y, channel, n);
    bool same = std::fabs(got - want) <= tolerance;
    if (!areal::is_float(out.type)) {
      const double low = oracle::saturated(want - tolerance, out.type),
                   high = oracle::saturated(want + tolerance, out.type);
      undecided_ += low != high ? 1 : 0;
      same = low != high ? got == low || got == high : got == low;
    }
    if (!same && wrong_++ == 0)
      text_ << "at " << x << "," << y << " channel " << channel << " image " << n << ": " << got << ", expected "
            << want << "; ";
  }
  /// Empty if none does.
  std::string words() {
    const Shape& s = out_.view().shape;
    if (undecided_ > s.width * s.height / 5 + 4) text_ << undecided_ << " are too close to call; ";
    if (wrong_ > 0) text_ << wrong_ << " differ";
    return text_.str();
  }

 private:
  const oracle::Padded& out_;
  std::ostringstream text_;
  std::int64_t wrong_ = 0, undecided_ = 0;
};

template <class Case>
void run(const Case& c, const RealMemory& memory) {
  const FilterPlan plan = c.plan();
  areal::Workspace workspace(plan);
  plan.execute(memory.arguments, workspace);
}

template <class Case>
void expect_right(const Case& c) {
  SCOPED_TRACE(c.words());
  const typename Case::Memory memory(c);
  run(c, memory);
  EXPECT_EQ(differences(c, memory), "");
}

template <class Case>
std::vector<unsigned char> bytes_of(const Case& c) {
  typename Case::Memory memory(c);
  run(c, memory);
  return memory.out.bytes();
}

/// Whatever threads and SIMD targets; of the targets every `step`-th case.
template <class Case>
void expect_same_bits(const std::vector<Case>& cases, std::size_t step) {
  std::vector<std::vector<unsigned char>> want;
  for (Case c : cases) {
    c.execution.threads = 1;
    want.push_back(bytes_of(c));
    for (const int threads : {2, 0}) {
      c.execution.threads = threads;
      EXPECT_EQ(bytes_of(c), want.back()) << threads << ": " << c.words();
    }
  }
  for (const std::string& target : areal::cpu::simd_targets()) {
    ASSERT_TRUE(areal::cpu::only_simd_target(target));
    for (std::size_t i = 0; i < cases.size(); i += step)
      EXPECT_EQ(bytes_of(cases[i]), want[i]) << target << ": " << cases[i].words();
  }
  areal::cpu::only_simd_target("");
}

/// In memory of the caller's, which holds anything.
template <class Case>
void expect_right_in_callers_workspace(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const FilterPlan plan = c.plan();
    std::vector<std::byte> memory(plan.workspace_bytes() + 1, std::byte{0xff});
    areal::Workspace workspace(plan, areal::Span<std::byte>(memory.data() + 1, plan.workspace_bytes()),
                               areal::Stream::host());
    typename Case::Memory views(c);
    plan.execute(views.arguments, workspace);
    EXPECT_EQ(views.out.bytes(), bytes_of(c)) << c.words();
  }
}

}  // namespace real_cases
