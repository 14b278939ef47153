#pragma once
// Standard output: data goes there, and only data.

#include <string_view>

namespace areal::command {

/// The reader of standard output has closed the pipe. The command then ends quietly with exit code 0.
struct ReaderGone {};

/// Writes to standard output. Throws ReaderGone for a closed pipe, IoError for anything else (a full disk).
void write_out(std::string_view text);
/// Flushes standard output; throws the same exceptions.
void flush_out();

}  // namespace areal::command
