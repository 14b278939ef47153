#pragma once
// The catalogue's formulas: numbers and the names of CostNames; + - * / ^, log2(..), ceil(..), floor(..), min(.., ..),
// max(.., ..), mod(.., ..), above(.., ..) and brackets. Adjacent factors are multiplied, from left to right with * and
// /: (h + w) / T, 2 d + 2, b (h + w + 1). ^ binds tighter, and applies to one factor. log2 counts halvings: rounded up,
// and 0 if there are none; ceil rounds up, floor down; mod is the remainder; above is 1 if the first is more than the
// second, else 0.

#include <algorithm>
#include <areal/error.hpp>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace areal {

/// The values of the names in <areal/catalog.hpp>.
struct CostNames {
  double h = 0, w = 0, b = 0, T = 0, r = 0, d = 0, n = 0, k = 0, C = 0;
};

class CostFormula {
 public:
  /// Throws InvalidArgument for an invalid formula.
  static double value(std::string_view text, const CostNames& names) {
    CostFormula formula(text, names);
    const double sum = formula.sum();
    if (formula.next() != '\0') formula.refuse();
    return sum;
  }
  /// True if the formula contains the name, not as a letter of a function's.
  static bool uses(std::string_view text, char name) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (const std::string_view function : functions)
        if (text.substr(at, function.size()) == function) at += function.size();
      if (at < text.size() && text[at] == name) return true;
    }
    return false;
  }

 private:
  static constexpr std::string_view functions[] = {"log2", "ceil", "floor", "min", "max", "mod", "above"};

  CostFormula(std::string_view text, const CostNames& names) : text_(text), names_(names) {}

  // The next character that is no space, '\0' at the end.
  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char wanted) {
    if (next() != wanted) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void refuse() const {
    throw InvalidArgument("formula \"" + std::string(text_) + "\": wrong at character " + std::to_string(at_ + 1));
  }

  double sum() {
    double value = take('-') ? -product() : product();
    for (;;) {
      if (take('+'))
        value += product();
      else if (take('-'))
        value -= product();
      else
        return value;
    }
  }
  double product() {
    double value = power();
    for (;;) {
      const char c = next();
      if (take('/'))
        value /= power();
      else if (take('*') || (c != '\0' && c != '+' && c != '-' && c != ')' && c != ','))
        value *= power();
      else
        return value;
    }
  }
  double power() {
    const double base = factor();
    return take('^') ? std::pow(base, factor()) : base;
  }
  double factor() {
    if (take('(')) {
      const double value = sum();
      if (!take(')')) refuse();
      return value;
    }
    const char c = next();
    if ((c >= '0' && c <= '9') || c == '.') return number();
    if (constexpr std::string_view log = "log2"; text_.substr(at_, log.size()) == log) {
      at_ += log.size();
      if (next() != '(') refuse();
      const double value = factor();
      return value > 1 ? std::ceil(std::log2(value)) : 0;
    }
    if (take_word("ceil")) return std::ceil(factor());
    if (take_word("floor")) return std::floor(factor());
    if (take_word("min")) {
      const auto [first, second] = pair();
      return std::min(first, second);
    }
    if (take_word("max")) {
      const auto [first, second] = pair();
      return std::max(first, second);
    }
    if (take_word("mod")) {
      const auto [first, second] = pair();
      return std::fmod(first, second);
    }
    if (take_word("above")) {
      const auto [first, second] = pair();
      return first > second ? 1 : 0;
    }
    const double* const name = find(c);
    if (name == nullptr) refuse();
    ++at_;
    return *name;
  }
  /// A function's name, before its bracket.
  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word || text_.substr(at_ + word.size(), 1) != "(") return false;
    at_ += word.size();
    return true;
  }
  std::pair<double, double> pair() {
    take('(');
    const double first = sum();
    if (!take(',')) refuse();
    const double second = sum();
    if (!take(')')) refuse();
    return {first, second};
  }
  double number() {
    double value = 0;
    const char* const first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value, std::chars_format::fixed);
    if (error != std::errc()) refuse();
    at_ += static_cast<std::size_t>(end - first);
    return value;
  }
  const double* find(char name) const {
    switch (name) {
      case 'h':
        return &names_.h;
      case 'w':
        return &names_.w;
      case 'b':
        return &names_.b;
      case 'T':
        return &names_.T;
      case 'r':
        return &names_.r;
      case 'd':
        return &names_.d;
      case 'n':
        return &names_.n;
      case 'k':
        return &names_.k;
      case 'C':
        return &names_.C;
      default:
        return nullptr;
    }
  }

  std::string_view text_;
  const CostNames& names_;
  std::size_t at_ = 0;
};

}  // namespace areal
