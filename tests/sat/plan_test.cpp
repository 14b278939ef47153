// Plans, workspaces, streams and owned tables: what is refused, in one sentence that names the argument; and what
// moves, copies, and is used again.
#include <gtest/gtest.h>
#include <areal/areal.hpp>
#include <areal/research/scan.hpp>
#include <atomic>
#include <cstring>
#include <thread>
#include <utility>
#include "conformance/sat_case.hpp"

namespace areal::conformance {
namespace {

const Execution on_cpu{.backend = Backend::cpu};
const MemoryPlace first_device{MemoryPlace::cuda, 0};

template <class E = InvalidArgument, class F>
std::string sentence_of(const F& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}
bool has(const std::string& sentence, std::initializer_list<const char*> words) {
  for (const char* word : words)
    if (sentence.find(word) == std::string::npos) return false;
  return true;
}

TEST(Streams, ANullHandleIsNone) {
  EXPECT_TRUE(has(sentence_of([] { Stream::cuda(nullptr); }), {"stream", "legacy_default"}));
  int some = 0;
  EXPECT_EQ(Stream::cuda(&some).handle(), &some);
  EXPECT_FALSE((std::is_constructible_v<Stream, std::nullptr_t>));
  EXPECT_FALSE((std::is_constructible_v<Stream, int>));
}

TEST(Streams, EachKindIsItself) {
  int some = 0;
  const Stream all[] = {Stream::host(), Stream::legacy_default(), Stream::per_thread_default(), Stream::cuda(&some)};
  for (std::size_t i = 0; i < std::size(all); ++i) {
    EXPECT_EQ(all[i].is_host(), i == 0);
    for (std::size_t k = 0; k < std::size(all); ++k) EXPECT_EQ(all[i] == all[k], i == k) << i << " " << k;
  }
}

TEST(Streams, BelongToTheirBackend) {
  for (const Stream stream : {Stream::legacy_default(), Stream::per_thread_default()}) {
    EXPECT_TRUE(has(sentence_of([&] {
                      SatPlan({5, 4}, Type::u8, {}, {.backend = Backend::cpu, .stream = stream});
                    }),
                    {"stream", "cpu"}));
    const SatPlan plan({5, 4}, Type::u8, {}, on_cpu);
    std::vector<std::byte> memory(plan.workspace_bytes());
    EXPECT_TRUE(has(sentence_of([&] { Workspace(plan, memory, stream); }), {"stream", "cpu"}));
  }
  EXPECT_TRUE(has(sentence_of([] {
                    SatPlan({5, 4}, Type::u8, {}, {.backend = Backend::cuda, .stream = Stream::host()});
                  }),
                  {"stream", "cuda"}));
  // A CUDA stream asks for cuda; the host's for the cpu.
  const Execution open{.stream = Stream::legacy_default()};
  if (devices().empty()) {
    EXPECT_TRUE(has(sentence_of<Unavailable>([&] { SatPlan({5, 4}, Type::u8, {}, open); }), {"cuda"}));
  } else {
    EXPECT_EQ(SatPlan({5, 4}, Type::u8, {}, open).backend(), Backend::cuda);
  }
  const SatPlan host({5, 4}, Type::u8, {}, {.stream = Stream::host()});
  EXPECT_EQ(host.backend(), Backend::cpu);
  EXPECT_TRUE(has(host.reason(), {"stream"}));
}

TEST(Automatic, SaysWhichBackendAndWhy) {
  const SatPlan plan({64, 48}, Type::u8);
  EXPECT_TRUE(has(plan.reason(), {"backend", name_of(plan.backend()).data()})) << plan.reason();
  EXPECT_EQ(plan.execution().backend, plan.backend());
  EXPECT_NE(plan.backend(), Backend::automatic);
  // Of a named one the reason says nothing.
  EXPECT_FALSE(has(SatPlan({64, 48}, Type::u8, {}, on_cpu).reason(), {"backend"}));
}

TEST(Memory, EachArgumentIsChecked) {
  std::vector<Backend> here{Backend::cpu};
  for (const BackendInfo& row : backends())
    if (row.backend == Backend::simt && row.available) here.push_back(Backend::simt);
  for (const Backend backend : here) {
    const SatOptions options{.squares = Squares::automatic, .tilted = true, .mask = true};
    const SatPlan plan({5, 4}, Type::u8, options, {.backend = backend});
    const Array image({5, 4}, Type::u8), mask({5, 4}, Type::u8);
    SatTable table = plan.allocate();
    Workspace workspace(plan);
    const SatArguments good{image.view(), table.sum(), mask.view(), table.squares(), table.tilted(), table.count()};
    EXPECT_NO_THROW(plan.check(good));
    const auto refuses = [&](const char* name, auto member) {
      SatArguments wrong = good;
      (wrong.*member).memory = {MemoryPlace::cuda, 1};
      const std::string sentence = sentence_of([&] { plan.execute(wrong, workspace); });
      EXPECT_TRUE(has(sentence, {name, "CUDA device 1", name_of(backend).data(), "host memory"})) << sentence;
      EXPECT_EQ(sentence.find(name), 0u) << sentence;
    };
    refuses("image", &SatArguments::image);
    refuses("mask", &SatArguments::mask);
    refuses("sum", &SatArguments::sum);
    refuses("squares", &SatArguments::squares);
    refuses("tilted", &SatArguments::tilted);
    refuses("count", &SatArguments::count);
    std::vector<std::byte> memory(plan.workspace_bytes());
    const std::string sentence = sentence_of([&] {
      Workspace(plan, {memory.data(), memory.size(), first_device}, Stream::host());
    });
    if (plan.workspace_bytes() > 0) {
      EXPECT_TRUE(has(sentence, {"workspace", "CUDA device 0"})) << sentence;
    }
  }
  const HistogramPlan plan({5, 4}, Type::u8, Binning::uniform(2, 0, 256), {.counter = Type::f32, .weighted = true},
                           on_cpu);
  const Array image({5, 4}, Type::u8), weights({5, 4}, Type::f32);
  HistogramTensor tensor = plan.allocate();
  const HistogramArguments good{image.view(), tensor.tensor(), weights.view()};
  EXPECT_NO_THROW(plan.check(good));
  HistogramArguments wrong = good;
  wrong.image.memory = first_device;
  EXPECT_EQ(sentence_of([&] { plan.check(wrong); }).find("image is memory of CUDA device 0"), 0u);
  wrong = good, wrong.weights.memory = first_device;
  EXPECT_EQ(sentence_of([&] { plan.check(wrong); }).find("weights is memory of CUDA device 0"), 0u);
  wrong = good, wrong.tensor.memory = first_device;
  EXPECT_EQ(sentence_of([&] { plan.check(wrong); }).find("tensor is memory of CUDA device 0"), 0u);
}

TEST(Memory, TheOneLineFormsSayWhichTheyTake) {
  const Array image({5, 4}, Type::u8);
  const ConstView elsewhere = image.view().in(first_device);
  EXPECT_EQ(sentence_of([&] { sat(elsewhere, {}, on_cpu); }).find("image is memory of CUDA device 0"), 0u);
  EXPECT_EQ(sentence_of([&] {
              integral_histogram(elsewhere, Binning::uniform(2, 0, 256), {}, on_cpu);
            }).find("image is memory of CUDA device 0"),
            0u);
  if (devices().empty()) {  // its device is asked for
    EXPECT_THROW(sat(elsewhere), Unavailable);
  }
}

TEST(Workspaces, ServeTheirPlanAlone) {
  const SatPlan plan({70, 30}, Type::u8, {}, on_cpu), other({70, 30}, Type::u8, {}, on_cpu);
  const SatPlan copy = plan;
  const Array image({70, 30}, Type::u8);
  SatTable table = plan.allocate();
  Workspace workspace(plan);
  EXPECT_NO_THROW(plan.execute(image.view(), table, workspace));
  EXPECT_NO_THROW(copy.execute(image.view(), table, workspace));
  EXPECT_TRUE(has(sentence_of([&] { other.execute(image.view(), table, workspace); }), {"workspace", "another plan"}));
  Workspace moved = std::move(workspace);
  EXPECT_NO_THROW(plan.execute(image.view(), table, moved));
  EXPECT_TRUE(has(sentence_of([&] { plan.execute(image.view(), table, workspace); }), {"workspace", "moved"}));
  EXPECT_TRUE(workspace.stream().is_host());
  EXPECT_NO_THROW(workspace.wait());
}

TEST(Workspaces, APlanThatWasMovedFromIsStillThatPlan) {
  SatPlan plan({7, 3}, Type::u8, {}, on_cpu);
  const SatPlan moved = std::move(plan);
  EXPECT_EQ(plan.algorithm(), moved.algorithm());
  EXPECT_NO_THROW(Workspace{plan});
}

/// The table of a picture, by the definition.
std::vector<std::uint64_t> sums_of_picture(const std::uint8_t* pixels, std::int64_t width, std::int64_t height) {
  std::vector<std::uint64_t> sums;
  for (std::int64_t Y = 0; Y <= height; ++Y)
    for (std::int64_t X = 0; X <= width; ++X) {
      std::uint64_t sum = 0;
      for (std::int64_t y = 0; y < Y; ++y)
        for (std::int64_t x = 0; x < X; ++x) sum += pixels[y * width + x];
      sums.push_back(sum);
    }
  return sums;
}
std::vector<std::uint64_t> elements(const ConstView& view) {
  const Values values = values_of(view);
  return values.integer;
}

TEST(Workspaces, PoisonedOnesAreMadeReadyAndUsedAgainOnTwoThreads) {
  const SatPlan plan({37, 29}, Type::u8, {}, on_cpu);
  std::vector<int> right(2);
  std::vector<std::thread> threads;
  std::atomic<int> started = 0;
  for (std::size_t t = 0; t < right.size(); ++t)
    threads.emplace_back([&, t] {
      std::vector<std::byte> memory(plan.workspace_bytes(), std::byte{0xA5});
      Workspace workspace(plan, memory, Stream::host());
      SatTable table = plan.allocate();
      Array image({37, 29}, Type::u8);
      ++started;
      while (started < 2) std::this_thread::yield();
      for (int round = 0; round < 10; ++round) {
        for (std::size_t i = 0; i < image.bytes(); ++i)
          image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 7 + t * 31 + static_cast<std::size_t>(round));
        std::memset(table.sum().data, 0x5C, bytes_of(table.sum().shape, table.sum().type));
        plan.execute(std::as_const(image).view(), table, workspace);
        right[t] += elements(table.sum()) == sums_of_picture(image.as<std::uint8_t>(), 37, 29);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(2, 10));
}

TEST(SatTables, AreOfTheirPlan) {
  const Array image({6, 4}, Type::u8);
  const SatPlan zero({6, 4}, Type::u8, {}, on_cpu), none({6, 4}, Type::u8, {.border = Border::none}, on_cpu);
  Workspace workspace(zero);
  SatTable table = none.allocate();
  EXPECT_TRUE(has(sentence_of([&] { zero.execute(image.view(), table, workspace); }), {"into", "none", "zero"}));
  SatTable larger = SatPlan({7, 4}, Type::u8, {}, on_cpu).allocate();
  EXPECT_TRUE(has(sentence_of([&] { zero.execute(image.view(), larger, workspace); }), {"into", "shape"}));
  SatTable wider = SatPlan({6, 4}, Type::u8, {.types = TypePair{Type::u8, Type::u64}}, on_cpu).allocate();
  EXPECT_TRUE(has(sentence_of([&] { zero.execute(image.view(), wider, workspace); }), {"sum", "64u", "32u"}));
  SatTable empty;
  EXPECT_THROW(zero.execute(image.view(), empty, workspace), InvalidArgument);
}

TEST(SatTables, ConvertWhereThereIsOneImage) {
  Array image({6, 4, 2, 3, Layout::planar}, Type::u8);
  for (std::size_t i = 0; i < image.bytes(); ++i) image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i);
  const SatOptions options{.squares = Squares::automatic, .tilted = true};
  const SatTable table = sat(std::as_const(image).view(), options);
  EXPECT_TRUE(has(sentence_of([&] { static_cast<void>(SatView(table)); }), {"2 channels", "batch 3"}));
  for (std::int64_t n = 0; n < 3; ++n)
    for (std::int64_t c = 0; c < 2; ++c) {
      const SatView view = table.view(c, n);
      EXPECT_EQ(view.sum.border, Border::zero);
      EXPECT_EQ(elements(view.sum.view),
                sums_of_picture(static_cast<const std::uint8_t*>(image.view().row(0, c, n)), 6, 4));
      EXPECT_TRUE(view.squares && view.tilted && !view.count);
      EXPECT_EQ(view.squares->view.type, Type::u64);
    }
  for (const auto& [c, n] : {std::pair{2, 0}, {-1, 0}, {0, 3}, {0, -1}})
    EXPECT_THROW(table.view(c, n), InvalidArgument) << c << " " << n;
  const SatTable one = sat(ConstView(image.as<std::uint8_t>(), 6, 4));
  const SatView view = one;
  EXPECT_EQ(view.sum.view.data, one.sum().data);
  // A volume has no plane that answers alone; what was moved from has nothing.
  const SatTable volume = sat(plane(std::as_const(image).view(), 0, 0), {.volume = true});
  EXPECT_TRUE(volume.is_volume());
  EXPECT_TRUE(has(sentence_of([&] { volume.view(); }), {"volume", "box_sums"}));
  SatTable from = sat(ConstView(image.as<std::uint8_t>(), 6, 4));
  const SatTable to = std::move(from);
  EXPECT_EQ(from.sum().data, nullptr);
  EXPECT_TRUE(has(sentence_of([&] { static_cast<void>(SatView(from)); }), {"moved"}));
  EXPECT_NE(to.sum().data, nullptr);
}

TEST(SatTables, AreCopied) {
  Array image({31, 17}, Type::u8);
  for (std::size_t i = 0; i < image.bytes(); ++i) image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 13);
  const SatTable table = sat(std::as_const(image).view(), {.squares = Squares::u64, .tilted = true}, {},
                             ConstView(image.as<std::uint8_t>(), 31, 17));
  const SatTable copy = table.copy_to({});
  EXPECT_NE(copy.sum().data, table.sum().data);
  for (const auto& [a, b] : {std::pair{table.sum(), copy.sum()},
                             {table.squares(), copy.squares()},
                             {table.tilted(), copy.tilted()},
                             {table.count(), copy.count()}}) {
    ASSERT_NE(b.data, nullptr);
    EXPECT_EQ(elements(a), elements(b));
  }
  EXPECT_EQ(copy.border(), table.border());
  EXPECT_EQ(copy.types(), table.types());
  EXPECT_EQ(copy.image_shape(), table.image_shape());
  if (devices().empty()) {
    EXPECT_THROW(table.copy_to(first_device), Unavailable);
  }
}

TEST(SatTables, HaveAnotherBorder) {
  Array image({13, 9}, Type::u8);
  for (std::size_t i = 0; i < image.bytes(); ++i) image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 29);
  const ConstView pixels = std::as_const(image).view();
  for (const Border from : {Border::zero, Border::none, Border::exclusive})
    for (const Border to : {Border::zero, Border::none, Border::exclusive}) {
      const SatTable made = sat(pixels, {.border = from}), wanted = sat(pixels, {.border = to});
      const SatTable got = made.with_border(to, pixels);
      EXPECT_EQ(got.border(), to);
      EXPECT_EQ(elements(got.sum()), elements(wanted.sum())) << name_of(from) << " to " << name_of(to);
      if (from == Border::exclusive && to != from) {
        EXPECT_TRUE(has(sentence_of([&] { made.with_border(to); }), {"image"}));
        const SatTable squares = sat(pixels, {.border = from, .squares = Squares::automatic});
        EXPECT_TRUE(has(sentence_of([&] { squares.with_border(to, pixels); }), {"border", "squares"}));
      }
    }
}

TEST(Squares, AutomaticHoldsLargeRegions) {
  const auto type_of_squares = [](Type input, Squares squares) {
    return SatPlan({5, 4}, input, {.squares = squares}, on_cpu).squares_type();
  };
  EXPECT_EQ(type_of_squares(Type::u8, Squares::no), std::nullopt);
  for (const Type type : {Type::u8, Type::s8, Type::u16, Type::s16})
    EXPECT_EQ(type_of_squares(type, Squares::automatic), Type::u64) << name_of(type);
  for (const Type type : {Type::u32, Type::s32, Type::u64, Type::s64, Type::f16, Type::f32, Type::f64})
    EXPECT_EQ(type_of_squares(type, Squares::automatic), Type::f64) << name_of(type);
}

TEST(Types, AreTheImages) {
  EXPECT_EQ(SatPlan({4104, 1026, 1, 5}, Type::u8, {.volume = true}, on_cpu).types(), type_pair("8u64u"));
  EXPECT_EQ(SatPlan({4104, 1026, 1, 5}, Type::u8, {}, on_cpu).types(), type_pair("8u32u"));
  EXPECT_TRUE(has(sentence_of([] {
                    SatPlan({5, 4}, Type::f32, {.types = type_pair("8u32u")}, on_cpu);
                  }),
                  {"types 8u32u", "8u", "32f"}));
}

TEST(Tensors, ConvertCopyAndHaveAnotherBorder) {
  Array image({6, 4, 1, 2}, Type::u8);
  for (std::size_t i = 0; i < image.bytes(); ++i) image.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 11);
  const Binning binning = Binning::uniform(3, 0, 256);
  const ConstView both = std::as_const(image).view();
  const HistogramTensor tensor = integral_histogram(both, binning);
  EXPECT_TRUE(has(sentence_of([&] { static_cast<void>(TensorView(tensor)); }), {"batch of 2", "view(image)"}));
  EXPECT_THROW(tensor.view(2), InvalidArgument);
  for (std::int64_t n = 0; n < 2; ++n) {
    const ConstView one(both.row(0, 0, n), Type::u8, {6, 4});
    const HistogramTensor alone = integral_histogram(one, binning);
    const TensorView view = alone;
    EXPECT_EQ(elements(view.view), elements(tensor.view(n).view)) << n;
    for (const Border to : {Border::zero, Border::exclusive})
      EXPECT_EQ(elements(alone.with_border(to).tensor()),
                elements(integral_histogram(one, binning, {.border = to}).tensor()));
  }
  const HistogramTensor copy = tensor.copy_to({});
  EXPECT_NE(copy.tensor().data, tensor.tensor().data);
  EXPECT_EQ(elements(copy.tensor()), elements(tensor.tensor()));
  EXPECT_EQ(copy.binning().bins(), 3);
  EXPECT_EQ(copy.counter(), Type::u32);
  const HistogramTensor exclusive = integral_histogram(both, binning, {.border = Border::exclusive});
  EXPECT_TRUE(has(sentence_of([&] { exclusive.with_border(Border::none); }), {"border", "exclusive"}));
}

TEST(DeviceArrays, AreOnADevice) {
  const Array image({5, 4}, Type::u8);
  EXPECT_TRUE(DeviceArray::copy_of(image.view(), on_cpu).memory().is_host());
  EXPECT_TRUE(has(sentence_of([&] { DeviceArray::copy_of(image.view().in(first_device)); }), {"view", "host memory"}));
  EXPECT_TRUE(has(sentence_of([&] { DeviceArray::copy_of(image.view(), {.stream = Stream::host()}); }), {"stream"}));
  if (devices().empty()) {
    EXPECT_THROW(DeviceArray({5, 4}, Type::u8), Unavailable);
  }
  EXPECT_THROW(DeviceArray({-5, 4}, Type::u8), InvalidArgument);
}

}  // namespace
}  // namespace areal::conformance
