#pragma once
// Well-formed JSON objects of so many levels, of objects, of arrays and of both in turns.

#include <string>
#include <vector>

namespace areal::test {

inline std::vector<std::string> deep_json_texts(int levels) {
  std::string objects, arrays, both, objects_end, arrays_end, both_end;
  for (int level = 0; level < levels; ++level) {
    const bool is_inner = level > 0, is_odd = level % 2 != 0;
    objects += "{\"a\":", objects_end += '}';
    arrays += is_inner ? "[" : "{\"a\":", arrays_end += is_inner ? ']' : '}';
    both += is_odd ? "[" : "{\"a\":", both_end += is_odd ? ']' : '}';
  }
  const auto closed = [](const std::string& begin, const std::string& end) {
    return begin + "1" + std::string(end.rbegin(), end.rend());
  };
  return {closed(objects, objects_end), closed(arrays, arrays_end), closed(both, both_end)};
}

}  // namespace areal::test
