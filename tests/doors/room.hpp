#pragma once
// Memory of a question: poisoned before areal gets it, and surrounded by bytes that must stay as they were.

#include <areal/array.hpp>
#include <areal/execution.hpp>
#include <areal/span.hpp>
#include <areal/view.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "elements.hpp"
#include "question.hpp"

namespace doors {

/// How elements lie: bytes beyond those that a row, and a plane or an image, need, and bytes before the first.
struct Lie {
  std::int64_t pitch = 0, offset = 0, gap = 0;
};
Lie lie_of_inputs(const Question& question);
Lie lie_of_outputs(const Question& question);
/// Host memory, or on cuda the device's where the question does not say `memory: host`.
areal::MemoryPlace place_of(const Question& question);

constexpr std::byte poison{0xA5};
constexpr std::byte other_poison{0x5A};

/// Bytes of the host or of a device.
class Room {
 public:
  Room(const areal::Shape& shape, areal::Type type, const Lie& lie = {}, areal::MemoryPlace place = {},
       std::byte fill = poison);
  /// Holds these elements, in the layout that their shape names.
  Room(const Elements& elements, const Lie& lie, areal::MemoryPlace place);

  areal::View view() noexcept;
  areal::ConstView view() const noexcept;
  /// The first element and those behind it, of a room without gaps.
  template <class T>
  areal::Span<T> span() noexcept {
    const auto& s = shape_;
    return areal::Span<T>(static_cast<T*>(view().data), static_cast<std::size_t>(s.width * s.height), place_);
  }
  /// The elements as they are now. Throws Failed, with the name, where a byte that belongs to none was written.
  Elements take(const std::string& name);
  /// Throws Failed where the elements, or bytes around them, are not those that were put in.
  void expect_unchanged(const std::string& name);

 private:
  void upload();
  void fetch();
  std::byte* first() noexcept;

  areal::Shape shape_;
  areal::Type type_;
  areal::MemoryPlace place_;
  std::byte fill_;
  std::int64_t row_pitch_ = 0, plane_pitch_ = 0, batch_pitch_ = 0;
  std::size_t begin_ = 0;          // of the first element, in the bytes
  std::vector<std::byte> bytes_;   // of the host, or what the device's are copied from and to
  std::vector<std::byte> before_;  // what was put in
  std::shared_ptr<areal::DeviceArray> device_;
};

/// A workspace's memory, poisoned and guarded.
class WorkRoom {
 public:
  WorkRoom(std::size_t bytes, const Question& question, areal::MemoryPlace place);
  areal::Span<std::byte> span();
  void expect_guarded();

 private:
  std::size_t bytes_;
  Room room_;
};

}  // namespace doors
