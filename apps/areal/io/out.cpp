#include "out.hpp"

#include <areal/error.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace areal::command {
namespace {

[[noreturn]] void fail(int error) {
  if (error == EPIPE) throw ReaderGone();
  throw IoError(std::string("standard output: ") + std::strerror(error));
}

}  // namespace

void write_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail(errno);
}

void flush_out() {
  if (std::fflush(stdout) != 0) fail(errno);
}

}  // namespace areal::command
