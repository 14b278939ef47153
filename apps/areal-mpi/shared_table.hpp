#pragma once
// One .npy with its sidecar, written by all ranks, each its own rows: complete under its name, or absent.

#include <areal/view.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include "job.hpp"
#include "media/media.hpp"

namespace areal::command {

class SharedTable {
 public:
  /// The first rank creates the file under another name. Collective, as the others are. Throws IoError on all ranks.
  SharedTable(const Job& job, const std::string& path, const Shape& shape, Type type,
              const media::TableFile& description);
  ~SharedTable();
  SharedTable(const SharedTable&) = delete;
  SharedTable& operator=(const SharedTable&) = delete;

  /// The rows of `piece`, in all planes, from row y of the table on.
  void write(std::int64_t y, const ConstView& piece);
  void finish();

 private:
  const Job& job_;
  std::string path_, temporary_;
  Shape shape_;
  Type type_;
  std::uint64_t begin_ = 0;
  std::optional<media::TableWriter> writer_;  // of the first rank
  int fd_ = -1;
};

/// Removes the file that is being written, whichever rank it is called on; async-signal-safe.
void remove_shared_table() noexcept;

}  // namespace areal::command
