#pragma once
// One question, as a line of JSON asks it, and what becomes of its options. A field that is not known is refused.

#include <areal/binning.hpp>
#include <areal/execution.hpp>
#include <areal/histogram.hpp>
#include <areal/region.hpp>
#include <areal/sat.hpp>
#include <areal/sequence.hpp>
#include <areal/strips.hpp>
#include <areal/tiled.hpp>
#include <areal/window.hpp>
#include <atomic>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace doors {

using Json = nlohmann::json;

/// A question that makes no sense: the program's own refusal.
class BadQuestion : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// Two answers that differ, or memory that was written where none was to be.
class Failed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Field {
  std::string_view name, meaning;
};
/// Of a question, and of its `params`.
std::span<const Field> question_fields() noexcept;
std::span<const Field> param_fields() noexcept;

/// What a progress callback is told: the work done never shrinks nor passes the whole, and calls do not overlap.
class Watch {
 public:
  /// The callback; it stops the work after so many calls, never where that is below zero.
  areal::Progress callback(std::int64_t cancel_after);
  /// Throws Failed where a call broke a rule.
  void expect_sound() const;

 private:
  std::atomic<bool> inside_ = false, overlaps_ = false;
  std::int64_t calls_ = 0, done_ = 0, total_ = -1;
  bool shrinks_ = false;
};

class Question {
 public:
  /// Throws BadQuestion for fields and params that are not known.
  explicit Question(Json json);

  bool has(const char* field) const { return json_.contains(field) && !json_[field].is_null(); }
  const Json& operator[](const char* field) const { return json_.at(field); }
  std::string text(const char* field, const char* otherwise = "") const;
  bool flag(const char* field) const;
  bool has_param(const char* name) const;
  const Json& param(const char* name) const { return json_.at("params").at(name); }
  std::int64_t number(const char* param, std::int64_t otherwise = 0) const;
  bool flag_param(const char* param) const { return has_param(param) && json_["params"][param].get<bool>(); }
  std::string word(const char* param, const char* otherwise = "") const;
  /// Two numbers, as of a tile: [width, height].
  std::pair<std::int64_t, std::int64_t> pair(const char* param, std::int64_t first, std::int64_t second) const;
  const std::string& door() const noexcept { return door_; }
  const std::string& family() const noexcept { return family_; }
  /// The same question, with another value in a field.
  Question with(const char* field, const Json& value) const;
  Question with_param(const char* param, const Json& value) const;
  /// Empty, or with the params `progress` and `cancel_after` one that looks at what it is told.
  areal::Progress progress() const;
  void expect_sound() const { watch_->expect_sound(); }
  Json answer() const { return Json{{"id", json_.value("id", Json())}}; }

 private:
  Json json_;
  std::string door_, family_;
  std::shared_ptr<Watch> watch_ = std::make_shared<Watch>();
};

double number_of(const Json& value);
std::string hex(double value);
std::string text_of(double value);
std::string text_of(std::uint64_t value);
std::string text_of(std::int64_t value);

areal::Layout layout_of(const std::string& name);
areal::Border border_of(const Question& question, areal::Border otherwise = areal::Border::zero);
areal::SatOptions sat_options(const Question& question);
areal::HistogramOptions histogram_options(const Question& question);
/// On the backend of the question.
areal::Execution execution_of(const Question& question);
/// Where answers about the tables are to be computed: as `execution_of`, but that tables on a device decide themselves.
areal::QueryOptions query_options(const Question& question);
areal::PieceOptions strip_options(const Question& question);
areal::PieceOptions tiled_options(const Question& question);
std::vector<areal::Worker> workers_of(const Question& question);
std::vector<areal::Region> regions_of(const Question& question);
std::vector<areal::Box> boxes_of(const Question& question);
areal::Binning binning_of(const Question& question);
areal::Window window_of(const Question& question);
areal::Type type_of_name(const std::string& name);

}  // namespace doors
