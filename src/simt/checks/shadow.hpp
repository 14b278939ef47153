#pragma once
// Shadow memory: for each granule of memory, the last writer and the readers since.
//
// A granule is as large as the narrowest access to that memory so far (16 bytes at first). So a table of 32-bit sums
// has one cell for each element, a tile moved as 16-byte vectors one for four elements, and bytes have one each. A cell
// is 16 bytes.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace areal::simt {

/// Which thread accessed, when, at which site and how, in 64 bits.
struct Stamp {
  enum Kind : unsigned {
    none = 0,     // none: never written, or not read since
    host = 1,     // written before the first launch, or by fill
    plain = 2,    // load, store, get, put, a landed copy
    strong = 3,   // atomics, published and posted words
    copying = 4,  // an asynchronous copy that nobody has waited for
    list = 15,    // not a stamp: several readers; the low bits hold their list's number
  };
  static constexpr unsigned time_bits = 22, site_bits = 12, kind_bits = 4, thread_bits = 26;
  static constexpr std::uint32_t most_time = (1u << time_bits) - 1, most_thread = (1u << thread_bits) - 1;

  std::uint64_t bits = 0;

  static Stamp make(std::uint32_t thread, std::uint32_t time, unsigned site, Kind kind) {
    return {time | std::uint64_t{site} << time_bits | std::uint64_t{kind} << (time_bits + site_bits) |
            std::uint64_t{thread} << (time_bits + site_bits + kind_bits)};
  }
  std::uint32_t time() const { return static_cast<std::uint32_t>(bits) & most_time; }
  unsigned site() const { return static_cast<unsigned>(bits >> time_bits) & 0xfff; }
  Kind kind() const { return static_cast<Kind>((bits >> (time_bits + site_bits)) & 0xf); }
  std::uint32_t thread() const { return static_cast<std::uint32_t>(bits >> (time_bits + site_bits + kind_bits)); }
};

struct Cell {
  Stamp write;
  Stamp read;
};

/// Lanes of one warp that read a cell at one time: the stamp's thread is the first of the warp.
struct Readers {
  Stamp stamp;
  std::uint32_t mask;
};

/// The readers of cells with several. Of more than `most` unordered warps that read a cell, `most` are kept: a race
/// with one of them is found, but not each race.
class ReadLists {
 public:
  static constexpr std::size_t most = 64;

  std::vector<Readers>& operator[](Stamp list) { return lists_[list.bits & 0xffffffffu]; }
  Stamp make();
  Stamp clone(Stamp list);
  void free(Stamp list);

 private:
  std::vector<std::vector<Readers>> lists_;
  std::vector<std::uint32_t> unused_;
};

class Shadow {
 public:
  /// Shadows bytes from `first` on, all or none of them written by the host. Keeps the current granule.
  void cover(std::uintptr_t first, std::size_t bytes, bool initialised, ReadLists& lists);

  /// The cells of an access that is aligned to its size and inside the covered bytes. Sets n to their number.
  Cell* cells(std::uintptr_t at, std::size_t bytes, std::size_t& n, ReadLists& lists) {
    if ((bytes >> shift_) << shift_ != bytes || (at >> shift_) << shift_ != at) refine(at, bytes, lists);
    n = bytes >> shift_;
    return cells_.data() + ((at >> shift_) - (first_ >> shift_));
  }
  /// Marks bytes as written by the host between two launches: any address, any number of bytes.
  void write_by_host(std::uintptr_t at, std::size_t bytes, ReadLists& lists);
  /// Thread numbers restart: writes of threads count as the host's.
  void forget_threads(ReadLists& lists);
  /// Bytes that were never written.
  std::size_t unwritten() const;
  /// Records that a cell refers to a list of readers.
  void note_list() { listed_ = true; }
  std::size_t granule() const { return std::size_t{1} << shift_; }

 private:
  void refine(std::uintptr_t at, std::size_t bytes, ReadLists& lists);
  void free_lists(ReadLists& lists);

  std::uintptr_t first_ = 0;
  std::size_t bytes_ = 0;
  unsigned shift_ = 4;
  bool listed_ = false;  // some cell refers to a list, which cover() must then search for
  std::vector<Cell> cells_;
};

}  // namespace areal::simt
