#pragma once
// Standard output: data goes there, and only data. Standard error: messages, one line each.

#include <string>
#include <string_view>

namespace areal::command {

/// The reader of standard output has closed the pipe. The command then ends quietly with exit code 0.
struct ReaderGone {};

/// Writes to standard output. Throws ReaderGone for a closed pipe, IoError for anything else (a full disk).
void write_out(std::string_view text);
/// One line of text that a terminal takes for nothing else: line ends become spaces; other control characters, what is
/// not UTF-8, and marks that change the direction of text become \\xNN. Names of files and their contents get into
/// messages.
std::string printable(std::string_view text);
/// Writes one line of that kind to standard error.
void write_message(std::string_view sentence);
/// Flushes standard output; throws the same exceptions.
void flush_out();

}  // namespace areal::command
