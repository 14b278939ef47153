#include "scratch_memory.hpp"

#include <algorithm>
#include <areal/error.hpp>
#include <cstdlib>
#include <iterator>
#include <list>
#include <mutex>
#include <string>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace areal::python {
namespace {

constexpr std::size_t most_kept = std::size_t{64} << 20, large = std::size_t{4} << 20;

#ifdef __linux__
// Not malloc, which may keep freed memory.
void* obtain(std::size_t bytes) {
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  if (bytes >= large) madvise(data, bytes, MADV_HUGEPAGE);  // as NumPy does
  return data;
}
void release(void* data, std::size_t bytes) { munmap(data, bytes); }
#else
void* obtain(std::size_t bytes) { return std::malloc(bytes); }
void release(void* data, std::size_t) { std::free(data); }
#endif

struct Idle {
  struct Piece {
    void* data;
    std::size_t bytes;
  };
  std::mutex mutex;
  std::list<Piece> pieces;  // the latest first
  std::size_t bytes = 0;
};
Idle& idle() {
  static auto& all = *new Idle;  // never destroyed: threads may still compute while the process ends
  return all;
}

}  // namespace

ScratchMemory::ScratchMemory(std::size_t bytes) : bytes_(std::max(bytes, std::size_t{1})) {
  {
    Idle& all = idle();
    const std::lock_guard lock(all.mutex);
    for (auto piece = all.pieces.begin(); piece != all.pieces.end(); ++piece)
      if (piece->bytes >= bytes_ && piece->bytes / 2 <= bytes_) {
        data_ = piece->data, bytes_ = piece->bytes;
        all.bytes -= bytes_;
        all.pieces.erase(piece);
        return;
      }
  }
  data_ = obtain(bytes_);
  if (data_ == nullptr)
    throw OutOfMemory("scratch memory of " + std::to_string(bytes_) + " bytes could not be allocated", bytes_);
}

ScratchMemory::~ScratchMemory() {
  if (data_ == nullptr) return;
  if (bytes_ > most_kept) {
    release(data_, bytes_);
    return;
  }
  Idle& all = idle();
  std::list<Idle::Piece> over;
  {
    const std::lock_guard lock(all.mutex);
    all.pieces.push_front({data_, bytes_});
    all.bytes += bytes_;
    while (all.bytes > most_kept) {
      all.bytes -= all.pieces.back().bytes;
      over.splice(over.end(), all.pieces, std::prev(all.pieces.end()));
    }
  }
  for (const Idle::Piece& piece : over) release(piece.data, piece.bytes);
}

}  // namespace areal::python
