#include "media/npy_header.hpp"
#include <algorithm>
#include <charconv>
#include <optional>
#include "media/file_error.hpp"

namespace areal::media {
namespace {

struct Descr {
  std::string_view text;
  Type type;
};
// The descriptor to write. Readers accept '|' and '<' for one byte, as numpy does.
constexpr Descr descrs[] = {{"|u1", Type::u8},  {"|i1", Type::s8},  {"<u2", Type::u16}, {"<i2", Type::s16},
                            {"<u4", Type::u32}, {"<i4", Type::s32}, {"<u8", Type::u64}, {"<i8", Type::s64},
                            {"<f2", Type::f16}, {"<f4", Type::f32}, {"<f8", Type::f64}, {"|b1", Type::u8}};

Type type_of_descr(std::string_view descr, const std::string& name) {
  std::string key(descr);
  if (key == "<u1" || key == "<i1" || key == "<b1") key[0] = '|';
  for (const Descr& row : descrs)
    if (row.text == key) return row.type;
  const std::string shown = printable(descr, 40);
  if (descr.starts_with('>'))
    fail(name, "holds big-endian data ('", shown,
         "'); areal reads little-endian: save a.astype(a.dtype.newbyteorder('<'))");
  if (descr.find('O') != std::string_view::npos) fail(name, "holds Python objects ('", shown, "'), not numbers");
  fail(name, "holds elements of type '", shown, "'; areal reads bool, u1 to u8, i1 to i8, f2, f4 and f8");
}

// A parser of the subset of Python that numpy writes.
class Literal {
 public:
  Literal(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  [[noreturn]] void bad(const char* what) const {
    fail(name_, "has a damaged header: ", what, " at byte ", at_, " of its dictionary");
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c, const char* what) {
    if (!accept(c)) bad(what);
  }
  std::string_view string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') bad("a quoted word was expected");
    const std::size_t begin = ++at_;
    const std::size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) bad("a quote is not closed");
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }
  bool boolean() {
    skip_space();
    for (const std::string_view word : {std::string_view("True"), std::string_view("False")})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    bad("True or False was expected");
  }
  std::int64_t extent() {
    skip_space();
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail(name_, "declares a shape that does not fit 63 bits");
    if (error != std::errc{}) bad("a length was expected");
    if (value < 0) fail(name_, "declares a negative length (", value, ") in its shape");
    at_ += static_cast<std::size_t>(end - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote longs so
    return value;
  }
  std::vector<std::int64_t> tuple() {
    expect('(', "a shape in parentheses was expected");
    std::vector<std::int64_t> out;
    while (!accept(')')) {
      out.push_back(extent());
      if (out.size() > 32) bad("more than 32 dimensions");
      if (accept(',')) continue;
      if (out.size() == 1) bad("a comma was expected");  // (5) is a number, (5,) is a shape
      expect(')', "a closing parenthesis was expected");
      break;
    }
    return out;
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }

 private:
  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

}  // namespace

NpyHeader parse_npy_dictionary(std::string_view text, const std::string& name) {
  Literal in(text, name);
  std::optional<Type> type;
  std::optional<bool> fortran;
  std::optional<std::vector<std::int64_t>> shape;
  in.expect('{', "an opening brace was expected");
  while (!in.accept('}')) {
    const std::string_view key = in.string();
    in.expect(':', "a colon was expected");
    if (key == "descr" && !type) {
      if (in.peek() == '[' || in.peek() == '(') fail(name, "holds a structured type, not plain numbers");
      type = type_of_descr(in.string(), name);
    } else if (key == "fortran_order" && !fortran) {
      fortran = in.boolean();
    } else if (key == "shape" && !shape) {
      shape = in.tuple();
    } else {
      in.bad("an unknown or repeated key");
    }
    if (in.accept(',')) continue;
    in.expect('}', "a closing brace was expected");
    break;
  }
  if (!in.at_end()) in.bad("text after the dictionary");
  if (!type || !fortran || !shape) fail(name, "has a damaged header: it must give descr, fortran_order and shape");
  // A 1-D array is both C and Fortran contiguous. numpy writes False for it, so True always means transposed data.
  if (*fortran) fail(name, "is stored in Fortran order; areal reads C order: save numpy.ascontiguousarray(a)");
  return {*type, std::move(*shape)};
}

std::string npy_preamble(const NpyHeader& header) {
  const auto row =
      std::find_if(std::begin(descrs), std::end(descrs), [&](const Descr& d) { return d.type == header.type; });
  std::string dictionary = "{'descr': '" + std::string(row->text) + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < header.shape.size(); ++i) dictionary += (i ? ", " : "") + std::to_string(header.shape[i]);
  dictionary += header.shape.size() == 1 ? ",), }" : "), }";
  constexpr std::size_t before = 10;  // magic, version, 16-bit length
  dictionary.append(63 - (before + dictionary.size()) % 64, ' ');
  dictionary += '\n';
  const auto length = static_cast<unsigned>(dictionary.size());
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(length & 255) + static_cast<char>(length >> 8) +
         dictionary;
}

}  // namespace areal::media
