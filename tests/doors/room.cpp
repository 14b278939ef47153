#include "room.hpp"

#include <algorithm>
#include <areal/device.hpp>
#include <cstring>

namespace doors {
namespace {

constexpr std::size_t guard = 256;

}  // namespace

Lie lie_of_inputs(const Question& q) { return {q.number("pitch"), q.number("offset"), q.number("gap")}; }
Lie lie_of_outputs(const Question& q) { return {q.number("out_pitch"), q.number("out_offset"), q.number("out_gap")}; }

areal::MemoryPlace place_of(const Question& q) {
  const areal::Execution on = execution_of(q);
  if (on.backend != areal::Backend::cuda || q.word("memory", "device") == "host") return {};
  return {areal::MemoryPlace::cuda, on.device};
}

Room::Room(const areal::Shape& shape, areal::Type type, const Lie& lie, areal::MemoryPlace place, std::byte fill)
    : shape_(shape), type_(type), place_(place), fill_(fill) {
  const bool planar = shape.layout == areal::Layout::planar;
  const auto size = static_cast<std::int64_t>(areal::size_of(type));
  row_pitch_ = shape.width * (planar ? 1 : shape.channels) * size + lie.pitch;
  const std::int64_t plane = shape.height * row_pitch_ + lie.gap;
  plane_pitch_ = planar ? plane : size;
  batch_pitch_ = planar ? shape.channels * plane : plane;
  const std::int64_t all = shape.batch * batch_pitch_;
  bytes_.assign(2 * guard + 64 + static_cast<std::size_t>(lie.offset + all), fill);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(bytes_.data()) % 64;
  begin_ = guard + (place.is_host() ? 64 - past : 0) + static_cast<std::size_t>(lie.offset);
  upload();
}

Room::Room(const Elements& elements, const Lie& lie, areal::MemoryPlace place)
    : Room(elements.shape, elements.type, lie, place) {
  const auto& s = elements.shape;
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t y = 0; y < s.height; ++y)
      for (std::int64_t x = 0; x < s.width; ++x)
        for (std::int64_t c = 0; c < s.channels; ++c)
          std::memcpy(at(areal::View(first(), type_, shape_, row_pitch_, plane_pitch_, batch_pitch_), n, y, x, c),
                      &elements.bytes[elements.offset(n, y, x, c)], areal::size_of(type_));
  before_ = bytes_;
  upload();
}

std::byte* Room::first() noexcept { return bytes_.data() + begin_; }

void Room::upload() {
  if (place_.is_host()) return;
  const areal::Shape line{static_cast<std::int64_t>(bytes_.size()), 1};
  if (!device_) device_ = std::make_shared<areal::DeviceArray>(line, areal::Type::u8, place_.device);
  areal::copy_view(areal::ConstView(bytes_.data(), areal::Type::u8, line), device_->view());
}

void Room::fetch() {
  if (place_.is_host()) return;
  const areal::Shape line{static_cast<std::int64_t>(bytes_.size()), 1};
  areal::copy_view(areal::ConstView(device_->view()), areal::View(bytes_.data(), areal::Type::u8, line));
}

areal::View Room::view() noexcept {
  std::byte* data = device_ ? static_cast<std::byte*>(device_->view().data) + begin_ : first();
  return areal::View(data, type_, shape_, row_pitch_, plane_pitch_, batch_pitch_).in(place_);
}
areal::ConstView Room::view() const noexcept { return const_cast<Room*>(this)->view(); }

Elements Room::take(const std::string& name) {
  fetch();
  const areal::View view(first(), type_, shape_, row_pitch_, plane_pitch_, batch_pitch_);
  Elements elements = gather(areal::ConstView(view));
  std::vector<std::byte> around = bytes_;
  const std::size_t size = areal::size_of(type_);
  for (std::int64_t n = 0; n < shape_.batch; ++n)
    for (std::int64_t y = 0; y < shape_.height; ++y)
      for (std::int64_t x = 0; x < shape_.width; ++x)
        for (std::int64_t c = 0; c < shape_.channels; ++c)
          std::fill_n(&around[static_cast<std::size_t>(at(view, n, y, x, c) - bytes_.data())], size, fill_);
  const auto harm = std::ranges::find_if(around, [this](std::byte b) { return b != fill_; });
  if (harm != around.end())
    throw Failed("guard band: byte " + std::to_string(harm - around.begin() - static_cast<std::ptrdiff_t>(begin_)) +
                 " of " + name + ", where no element lies, was written");
  return elements;
}

void Room::expect_unchanged(const std::string& name) {
  fetch();
  if (bytes_ != before_) throw Failed(name + ": an input was written");
}

WorkRoom::WorkRoom(std::size_t bytes, const Question& q, areal::MemoryPlace place)
    : bytes_(bytes),
      room_({static_cast<std::int64_t>(bytes), 1}, areal::Type::u8, {0, q.number("out_offset"), 0}, place) {}
areal::Span<std::byte> WorkRoom::span() {
  const auto of = room_.view();
  return {static_cast<std::byte*>(of.data), bytes_, of.memory};
}
void WorkRoom::expect_guarded() { (void)room_.take("the workspace"); }

}  // namespace doors
