// DLPack tensors and views share memory, in every order of axes that a view can have; a table outlives its move into
// one.
#if __has_include(<dlpack/dlpack.h>)
#include <areal/interop/dlpack.hpp>
#define AREAL_HAVE_DLPACK
#endif
#include <gtest/gtest.h>
#include <areal/areal.hpp>

namespace areal {
namespace {

#ifdef AREAL_HAVE_DLPACK
using interop::to_dlpack;
using interop::view_of;

DLTensor tensor_of(void* data, std::vector<std::int64_t>& shape, std::int64_t* strides = nullptr,
                   DLDataType type = {kDLUInt, 8, 1}, DLDevice device = {kDLCPU, 0}) {
  return {data, device, static_cast<int>(shape.size()), type, shape.data(), strides, 0};
}

/// Element (n, c, y, x) through the tensor's strides, and through the view.
void expect_same_elements(const DLTensor& tensor, std::int64_t batch, std::int64_t channels, std::int64_t height,
                          std::int64_t width, const std::int64_t (&strides)[4]) {
  const View view = view_of(tensor);
  ASSERT_EQ(view.shape.batch, batch);
  ASSERT_EQ(view.shape.channels, channels);
  ASSERT_EQ(view.shape.height, height);
  ASSERT_EQ(view.shape.width, width);
  for (std::int64_t n = 0; n < batch; ++n)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x) {
          const char* const there = static_cast<char*>(tensor.data) + tensor.byte_offset + n * strides[0] +
                                    c * strides[1] + y * strides[2] + x * strides[3];
          EXPECT_EQ(static_cast<const char*>(view.row(y, c, n)) + x * view.column_pitch(), there);
        }
}

TEST(DlPack, EveryOrderOfAxesThatAViewHas) {
  std::vector<std::uint8_t> memory(4096);
  std::vector<std::int64_t> shape{4, 5};
  expect_same_elements(tensor_of(memory.data(), shape), 1, 1, 4, 5, {0, 0, 5, 1});
  shape = {3, 4, 5};
  expect_same_elements(tensor_of(memory.data(), shape), 1, 3, 4, 5, {0, 20, 5, 1});
  shape = {2, 3, 4, 5};
  expect_same_elements(tensor_of(memory.data(), shape), 2, 3, 4, 5, {60, 20, 5, 1});
  std::int64_t channels_last[] = {60, 1, 15, 3};
  expect_same_elements(tensor_of(memory.data(), shape, channels_last), 2, 3, 4, 5, {60, 1, 15, 3});
  EXPECT_EQ(view_of(tensor_of(memory.data(), shape, channels_last)).shape.layout, Layout::interleaved);
  std::int64_t pitched[] = {500, 100, 9, 1};
  DLTensor offset = tensor_of(memory.data(), shape, pitched);
  offset.byte_offset = 7;
  expect_same_elements(offset, 2, 3, 4, 5, {500, 100, 9, 1});
}

TEST(DlPack, EveryTypeAndDevice) {
  std::vector<double> memory(20);
  std::vector<std::int64_t> shape{4, 5};
  const std::tuple<DLDataTypeCode, int, Type> all[] = {
      {kDLUInt, 8, Type::u8},    {kDLUInt, 16, Type::u16},  {kDLUInt, 32, Type::u32}, {kDLUInt, 64, Type::u64},
      {kDLInt, 8, Type::s8},     {kDLInt, 16, Type::s16},   {kDLInt, 32, Type::s32},  {kDLInt, 64, Type::s64},
      {kDLFloat, 16, Type::f16}, {kDLFloat, 32, Type::f32}, {kDLFloat, 64, Type::f64}};
  for (const auto& [code, bits, type] : all) {
    const DLDataType name{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1};
    const View view = view_of(tensor_of(memory.data(), shape, nullptr, name));
    EXPECT_EQ(view.type, type);
    EXPECT_TRUE(view.memory.is_host());
  }
  EXPECT_EQ(view_of(tensor_of(memory.data(), shape, nullptr, {kDLUInt, 8, 1}, {kDLCUDA, 3})).memory,
            (MemoryPlace{MemoryPlace::cuda, 3}));
  EXPECT_THROW(view_of(tensor_of(memory.data(), shape, nullptr, {kDLUInt, 8, 1}, {kDLVulkan, 0})), InvalidArgument);
  EXPECT_THROW(view_of(tensor_of(memory.data(), shape, nullptr, {kDLUInt, 8, 4})), InvalidArgument);
}

TEST(DlPack, StridesThatNoViewHas) {
  std::vector<std::uint8_t> memory(4096);
  std::vector<std::int64_t> shape{4, 5};
  std::int64_t transposed[] = {1, 4}, gaps[] = {10, 2};
  EXPECT_THROW(view_of(tensor_of(memory.data(), shape, transposed)), InvalidArgument);
  EXPECT_THROW(view_of(tensor_of(memory.data(), shape, gaps)), InvalidArgument);
  shape = {7};
  EXPECT_THROW(view_of(tensor_of(memory.data(), shape)), InvalidArgument);
}

TEST(DlPack, ATensorOwnsItsTable) {
  const std::vector<std::uint8_t> pixels(12, 2);
  SatTable table = sat(ConstView(pixels.data(), 4, 3));
  const void* const memory = table.sum().data;
  DLManagedTensor* const managed = to_dlpack(std::move(table));
  EXPECT_EQ(table.sum().data, nullptr);
  const DLTensor& tensor = managed->dl_tensor;
  ASSERT_EQ(tensor.ndim, 2);
  EXPECT_EQ(tensor.data, memory);
  EXPECT_EQ(tensor.shape[0], 4);
  EXPECT_EQ(tensor.shape[1], 5);
  EXPECT_EQ(tensor.strides[0], 5);
  EXPECT_EQ(static_cast<const std::uint32_t*>(tensor.data)[3 * 5 + 4], 24u);
  EXPECT_EQ(view_of(tensor).shape, (Shape{5, 4}));
  managed->deleter(managed);  // the address sanitizer sees what is left
  EXPECT_THROW(to_dlpack(std::move(table)), InvalidArgument);
}
#else
TEST(DlPack, IsNotHere) { GTEST_SKIP() << "DLPack's header is not here"; }
#endif

}  // namespace
}  // namespace areal
