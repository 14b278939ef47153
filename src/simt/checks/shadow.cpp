#include "simt/checks/shadow.hpp"

#include <algorithm>

namespace areal::simt {

Stamp ReadLists::make() {
  if (unused_.empty()) {
    unused_.push_back(static_cast<std::uint32_t>(lists_.size()));
    lists_.emplace_back();
  }
  const std::uint32_t number = unused_.back();
  unused_.pop_back();
  return Stamp{Stamp::make(0, 0, 0, Stamp::list).bits | number};
}

Stamp ReadLists::clone(Stamp list) {
  const Stamp copy = make();
  (*this)[copy] = (*this)[list];
  return copy;
}

void ReadLists::free(Stamp list) {
  (*this)[list].clear();
  unused_.push_back(static_cast<std::uint32_t>(list.bits));
}

void Shadow::free_lists(ReadLists& lists) {
  if (!listed_) return;
  for (Cell& cell : cells_)
    if (cell.read.kind() == Stamp::list) {
      lists.free(cell.read);
      cell.read = {};
    }
  listed_ = false;
}

void Shadow::cover(std::uintptr_t first, std::size_t bytes, bool initialised, ReadLists& lists) {
  free_lists(lists);
  first_ = first;
  bytes_ = bytes;
  const std::size_t n = bytes == 0 ? 0 : ((first + bytes - 1) >> shift_) - (first >> shift_) + 1;
  cells_.assign(n, Cell{initialised ? Stamp::make(0, 0, 0, Stamp::host) : Stamp{}, Stamp{}});
}

void Shadow::write_by_host(std::uintptr_t at, std::size_t bytes, ReadLists& lists) {
  refine(at, bytes, lists);
  const auto first = static_cast<std::ptrdiff_t>((at >> shift_) - (first_ >> shift_));
  for (auto cell = cells_.begin() + first;
       cell != cells_.begin() + first + static_cast<std::ptrdiff_t>(bytes >> shift_); ++cell) {
    if (cell->read.kind() == Stamp::list) lists.free(cell->read);
    *cell = {Stamp::make(0, 0, 0, Stamp::host), {}};
  }
}

void Shadow::forget_threads(ReadLists& lists) {
  free_lists(lists);
  for (Cell& cell : cells_) cell = {cell.write.bits == 0 ? Stamp{} : Stamp::make(0, 0, 0, Stamp::host), {}};
}

std::size_t Shadow::unwritten() const {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < cells_.size(); ++i)
    if (cells_[i].write.bits == 0) {
      const std::uintptr_t begin = ((first_ >> shift_) + i) << shift_, end = begin + granule();
      bytes += std::min(end, first_ + bytes_) - std::max(begin, first_);
    }
  return bytes;
}

void Shadow::refine(std::uintptr_t at, std::size_t bytes, ReadLists& lists) {
  const unsigned before = shift_;
  while ((bytes >> shift_) << shift_ != bytes || (at >> shift_) << shift_ != at) --shift_;
  const std::uintptr_t first = first_ >> shift_;
  const std::size_t n = ((first_ + bytes_ - 1) >> shift_) - first + 1;
  std::vector<Cell> finer(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t from = ((first + i) >> (before - shift_)) - (first_ >> before);
    finer[i] = cells_[from];
    // Each cell owns its list: all but the first of the cells made from one get a copy.
    const bool copy = i > 0 && ((first + i - 1) >> (before - shift_)) - (first_ >> before) == from;
    if (copy && finer[i].read.kind() == Stamp::list) finer[i].read = lists.clone(finer[i].read);
  }
  cells_ = std::move(finer);
}

}  // namespace areal::simt
