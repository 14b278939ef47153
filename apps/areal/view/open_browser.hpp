#pragma once
// Opens a page in the user's browser.

#include <string>

namespace areal::command::page {

/// A file that sends a browser on to a URL, removed with its object. Only this user may read it: the arguments of
/// programs, as the browser's, are public, and a URL holds its token.
class Redirect {
 public:
  /// Writes the file. Throws IoError.
  explicit Redirect(const std::string& url);
  ~Redirect() { remove(); }
  Redirect(const Redirect&) = delete;
  Redirect& operator=(const Redirect&) = delete;
  void remove() noexcept;
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// Opens the file by xdg-open. Returns false if there is none.
bool open_in_browser(const Redirect& file);

}  // namespace areal::command::page
