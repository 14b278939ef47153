// Products of tiles of bytes by a warpgroup: each lane computes its own sums, all lanes of a warp check what they read.
#include <algorithm>

#include "simt/engine/engine.hpp"

namespace areal::simt {
namespace {

constexpr int bytes = 32, vector = 16;  // of a row; of what is checked at once

/// The first of 16 bytes, half 0 or 1, of a row.
std::uintptr_t vector_of(const kernels::ByteTile& tile, int row, int half) {
  const auto cell = reinterpret_cast<std::uintptr_t>(tile.cell);
  const auto skip = [](int n, int each) { return static_cast<std::uintptr_t>(n * each); };
  if (tile.next_bytes != 0)
    return cell + skip(row / 8, tile.next_rows) + skip(half, tile.next_bytes) + skip(row % 8, vector);
  // Address bits 4 to 6 are exchanged by bits 7 to 9.
  const std::uintptr_t plain = cell + skip(row / 8, tile.next_rows) + skip(row % 8, 128) + skip(half, vector);
  return plain ^ (plain >> 3 & 0x70);
}

std::uint32_t dot(const kernels::ByteTile& left, int m, const kernels::ByteTile& right, int n) {
  std::uint32_t sum = 0;
  for (int half = 0; half < bytes / vector; ++half) {
    const auto* const a = reinterpret_cast<const std::uint8_t*>(vector_of(left, m, half));
    const auto* const b = reinterpret_cast<const std::uint8_t*>(vector_of(right, n, half));
    for (int i = 0; i < vector; ++i) sum += std::uint32_t{a[i]} * b[i];
  }
  return sum;
}

}  // namespace

/// The lane's share of what its warp reads, 16 rows of the left tile and all of the right one: begins or ends to read
/// it.
void Engine::read_tiles(Thread& thread, const PendingProduct& product, bool end) {
  const unsigned number = sites_.number(product.site, Op::multiply_tiles, vector, 1);
  const int lane = thread.index % 32, warp = thread.index / 32 % 4;
  const auto read = [&](const kernels::ByteTile& tile, int row, int half) {
    const std::uintptr_t at = vector_of(tile, row, half);
    check_shared(thread, at, vector, Op::multiply_tiles, product.site);
    if (!options_.checks) return;
    if (!end) {
      check_fenced(thread, reinterpret_cast<const void*>(at), vector, Op::multiply_tiles, product.site);
      return read_cells({thread, thread.id, thread.clock.time, number, Stamp::copying}, at, vector, true);
    }
    std::size_t n = 0;
    Shadow* shadow = nullptr;
    Cell* const first = cells(thread, at, vector, number, true, false, n, shadow);
    for (Cell* cell = first; cell != first + n; ++cell)
      end_reading({thread, thread.id, thread.clock.time, number, Stamp::plain}, *cell, *shadow);
  };
  read(product.left, 16 * warp + lane / 2, lane % 2);
  for (int i = 0; i < 4; ++i) read(product.right, 16 * i + lane / 2, lane % 2);
}

void Engine::multiply_tiles(Thread& thread, std::uint32_t* sum, const kernels::ByteTile& left,
                            const kernels::ByteTile& right, bool more, Site site) {
  if (!thread.begun)
    fault(thread, FaultKind::missing_fence, site,
          "multiply_tiles without begin_products since the last commit_products");
  for (const kernels::ByteTile* tile : {&left, &right})
    if (tile->next_bytes == 0 && (reinterpret_cast<std::uintptr_t>(tile->cell) & 0x380) != 0)
      fault(thread, FaultKind::misaligned, site, "multiply_tiles of lines that are not the first of 8");
  PendingProduct product{sum, {}, left, right, thread.product_group, site};
  read_tiles(thread, product, false);
  collective(thread, Collective::multiply_tiles, kernels::full_mask, 0, 0, site);
  const auto before = std::find_if(thread.products.rbegin(), thread.products.rend(),
                                   [&](const PendingProduct& other) { return other.sum == sum; });
  const int g = thread.index % 32 / 4, t = thread.index % 4, warp = thread.index / 32 % 4;
  for (int i = 0; i < 32; ++i) {
    const int m = 16 * warp + i / 2 % 2 * 8 + g, n = i / 4 * 8 + 2 * t + i % 2;
    const std::uint32_t old = !more ? 0 : before != thread.products.rend() ? before->value[i] : sum[i];
    product.value[i] = old + dot(left, m, right, n);
  }
  std::fill_n(sum, 32, 0x01010101u * Memory::poison);
  thread.products.push_back(product);
}

void Engine::wait_products(Thread& thread, int youngest) {
  auto rest = thread.products.begin();
  for (const PendingProduct& product : thread.products)
    if (product.group + static_cast<std::uint32_t>(youngest) < thread.product_group) {
      read_tiles(thread, product, true);
      std::copy(product.value.begin(), product.value.end(), product.sum);
    } else {
      *rest++ = product;
    }
  thread.products.erase(rest, thread.products.end());
}

}  // namespace areal::simt
