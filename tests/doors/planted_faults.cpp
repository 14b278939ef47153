// Faults that are planted, each of which the program must find: see door.hpp.

#include <cstring>
#include <functional>

#include "door.hpp"
#include "room.hpp"
#include "run.hpp"

namespace doors {
namespace {

const areal::Shape shape{5, 4, 2, 3, areal::Layout::planar};
const Lie lie{7, 3, 11};

/// A write where no element lies, so many bytes behind the first element or, below zero, before it.
void stray(std::ptrdiff_t bytes) {
  Room room(shape, areal::Type::u16, lie);
  static_cast<std::byte*>(room.view().data)[bytes] = std::byte{1};
  (void)room.take("a room");
}

std::ptrdiff_t end_of(const areal::View& view) {
  return at(view, shape.batch - 1, shape.height - 1, shape.width - 1, 1) + 2 - static_cast<std::byte*>(view.data);
}

struct Fault {
  const char* name;
  std::function<void()> plant;
};

std::vector<Fault> faults() {
  Room sample(shape, areal::Type::u16, lie);
  const areal::View view = sample.view();  // for its pitches
  std::vector<Fault> all = {
      {"a byte before the first element", [] { stray(-1); }},
      {"a byte behind the last element", [view] { stray(end_of(view)); }},
      {"a byte far behind the last element", [view] { stray(end_of(view) + 200); }},
      {"a byte between rows", [] { stray(2 * shape.width); }},
      {"a byte between planes", [view] { stray(view.plane_pitch - 1); }},
      {"a byte between images", [view] { stray(view.batch_pitch - 1); }},
      {"an input that is written",
       [] {
         Room room(elements_of(shape, areal::Type::f32), lie, {});
         *at(room.view(), 1, 2, 3, 0) = std::byte{1};
         room.expect_unchanged("a room");
       }},
      {"a workspace that is too short",
       [] {
         WorkRoom room(100, Question(Json::object()), {});
         room.span()[100] = std::byte{1};
         room.expect_guarded();
       }},
      {"answers that differ in a bit",
       [] {
         const Elements a = elements_of(shape, areal::Type::f64);
         Elements b = a;
         b.bytes[8 * 30 + 7] = std::byte{0x80};  // minus zero
         expect_equal(a, b, "answers");
       }},
      {"a table that one answer lacks",
       [] { expect_equal(elements_of(shape, areal::Type::u8), std::nullopt, "answers"); }},
      {"strips of another size",
       [] {
         Room four({4, 4}, areal::Type::u8), five({4, 5}, areal::Type::u8);
         copy_elements(four.view(), five.view());
       }},
  };
  const auto progress = [](std::initializer_list<std::pair<std::int64_t, std::int64_t>> told) {
    Watch watch;
    const areal::Progress callback = watch.callback(-1);
    for (const auto& call : told) callback(call.first, call.second);
    watch.expect_sound();
  };
  all.push_back({"progress that shrinks", [progress] { progress({{2, 9}, {1, 9}}); }});
  all.push_back({"progress beyond the whole", [progress] { progress({{10, 9}}); }});
  all.push_back({"progress of another whole", [progress] { progress({{2, 9}, {3, 8}}); }});
  progress({{0, 9}, {4, 9}, {9, 9}, {1, 9}});  // what is sound
  return all;
}

}  // namespace

Json self_test() {
  Json missed = Json::array();
  for (const Fault& fault : faults()) try {
      fault.plant();
      missed.push_back(fault.name);
    } catch (const Failed&) {
    }
  Room room(elements_of(shape, areal::Type::u16), lie, {});  // what is sound
  (void)room.take("a room");
  room.expect_unchanged("a room");
  return {{"planted", faults().size()}, {"missed", missed}};
}

}  // namespace doors
