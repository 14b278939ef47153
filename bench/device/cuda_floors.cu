// The floors of tables as plain kernels: each thread writes some entries, in memory order, by stores of 16 bytes. The
// values are pixels and their squares; the conversion does not change the traffic.
#include <type_traits>
#include "bordered.hpp"
#include "cuda_floors.hpp"

namespace areal::bench {
namespace {

using Floor = std::function<void(cudaStream_t)>;
struct Nothing {};

/// Tables as large as their image: pixel i is entry i.
struct Contiguous {
  template <class In, int each>
  __device__ void load(const In* in, std::int64_t i, In (&pixels)[each]) const {
    struct alignas(sizeof(In) * each) Pixels {
      In at[each];
    };
    const Pixels loaded = *reinterpret_cast<const Pixels*>(in + i);
#pragma unroll
    for (int k = 0; k < each; ++k) pixels[k] = loaded.at[k];
  }
};

/// With border zero, also writes the zeros. A table's rows are not aligned like the image's, so the loads are
/// single pixels, mostly from the L1, and the stores are whole vectors.
struct WithBorder {
  Bordered map;
  template <class In, int each>
  __device__ void load(const In* in, std::int64_t i, In (&pixels)[each]) const {
    Bordered::Walk walk = map.from(i);
    if (walk.x > 0 && walk.y > 0 && walk.x + each - 1 <= map.width) {  // nearly all: within one row
#pragma unroll
      for (int k = 0; k < each; ++k) pixels[k] = in[walk.pixel + k];
      return;
    }
#pragma unroll
    for (int k = 0; k < each; ++k) {
      const std::int64_t pixel = map.next(walk);
      pixels[k] = pixel < 0 ? In{} : in[pixel];
    }
  }
};

// `once` says that the entries are not read again (st.cs).
template <bool once, class T, int each>
__device__ void store(T* out, const T (&values)[each]) {
  static constexpr int whole = 16 / sizeof(T), a_store = each < whole ? each : whole;
  using Word = std::conditional_t<a_store == whole, int4, int2>;
  static_assert(a_store * sizeof(T) == sizeof(Word));
#pragma unroll
  for (int from = 0; from < each; from += a_store) {
    struct alignas(sizeof(Word)) Entries {
      T at[a_store];
    } entries;
#pragma unroll
    for (int k = 0; k < a_store; ++k) entries.at[k] = values[from + k];
    if constexpr (once)
      __stcs(reinterpret_cast<Word*>(out + from), *reinterpret_cast<const Word*>(&entries));
    else
      *reinterpret_cast<Entries*>(out + from) = entries;
  }
}

template <class Map, class In, class T, class S, int each, bool once>
__global__ void widen(Map map, const In* in, T* out, S* squares, std::int64_t n) {
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * each;
  if (i >= n) return;
  In pixels[each];
  map.load(in, i, pixels);
  T entries[each];
#pragma unroll
  for (int k = 0; k < each; ++k) entries[k] = static_cast<T>(pixels[k]);
  store<once>(out + i, entries);
  if constexpr (!std::is_same_v<S, Nothing>) {
    S products[each];
#pragma unroll
    for (int k = 0; k < each; ++k) products[k] = static_cast<S>(pixels[k]) * static_cast<S>(pixels[k]);
    store<once>(squares + i, products);
  }
}

template <bool once>
__global__ void copy(const int4* in, int4* out, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if constexpr (once)
    __stcs(out + i, __ldcs(in + i));
  else
    out[i] = in[i];
}

void add_copies(std::vector<Floor>& all, const LeastWork& w) {
  const std::size_t bytes_of_entry = size_of(w.types.table);
  const void* const in = w.image;
  if (w.border == Border::zero) {
    if (w.batch != 1) return;
    const auto row = static_cast<std::size_t>(w.width) * bytes_of_entry, pitch = row + bytes_of_entry;
    char* const out = static_cast<char*>(w.table) + pitch + bytes_of_entry;
    const auto rows = static_cast<std::size_t>(w.height);
    all.push_back(
        [=](cudaStream_t s) { cudaMemcpy2DAsync(out, pitch, in, row, row, rows, cudaMemcpyDeviceToDevice, s); });
    return;
  }
  const auto bytes = static_cast<std::size_t>(w.width * w.height * w.batch / 4 * 4) * bytes_of_entry;
  const auto words = static_cast<std::int64_t>(bytes / 16);
  const auto blocks = static_cast<unsigned>((words + 255) / 256);
  void* const out = w.table;
  all.push_back([=](cudaStream_t s) { cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, s); });
  all.push_back([=](cudaStream_t s) {
    if (blocks > 0) copy<false><<<blocks, 256, 0, s>>>(static_cast<const int4*>(in), static_cast<int4*>(out), words);
  });
  all.push_back([=](cudaStream_t s) {
    if (blocks > 0) copy<true><<<blocks, 256, 0, s>>>(static_cast<const int4*>(in), static_cast<int4*>(out), words);
  });
}

template <class In, class T, class S>
void add_kernels(std::vector<Floor>& all, const LeastWork& w) {
  const bool bordered = w.border == Border::zero;
  const std::int64_t entries = (w.width + bordered) * (w.height + bordered) * w.batch / 4 * 4;
  const auto add = [&](auto map, auto run, int each) {
    const auto blocks = static_cast<unsigned>((entries / each + 255) / 256);
    all.push_back([=](cudaStream_t s) {
      if (blocks == 0) return;
      run<<<blocks, 256, 0, s>>>(map, static_cast<const In*>(w.image), static_cast<T*>(w.table),
                                 static_cast<S*>(w.squares_table), entries);
    });
  };
  const auto both = [&](auto map) {
    using Map = decltype(map);
    add(map, widen<Map, In, T, S, 4, false>, 4);
    add(map, widen<Map, In, T, S, 4, true>, 4);
    if constexpr (sizeof(T) == 8 || sizeof(S) == 8) {  // a store of 16 bytes a thread, of the wider table
      add(map, widen<Map, In, T, S, 2, false>, 2);
      add(map, widen<Map, In, T, S, 2, true>, 2);
    }
  };
  if (bordered)
    both(WithBorder{Bordered(w.width, w.height)});
  else
    both(Contiguous{});
}

template <class In, class T>
void add_with_squares(std::vector<Floor>& all, const LeastWork& w) {
  if (size_of(*w.squares) == 8)
    add_kernels<In, T, std::uint64_t>(all, w);
  else
    add_kernels<In, T, std::uint32_t>(all, w);
}

// Selected by sizes, except for tables of floats, which convert with another instruction.
template <class In>
void add_tables(std::vector<Floor>& all, const LeastWork& w) {
  const bool wide = size_of(w.types.table) == 8;
  if constexpr (sizeof(In) == 8) {
    if (w.squares)
      add_with_squares<In, std::uint64_t>(all, w);
    else
      add_kernels<In, std::uint64_t, Nothing>(all, w);
  } else if (w.squares) {
    if (wide)
      add_with_squares<In, std::uint64_t>(all, w);
    else
      add_with_squares<In, std::uint32_t>(all, w);
  } else if (w.types.table == Type::f32 && sizeof(In) < 4) {
    add_kernels<In, float, Nothing>(all, w);
  } else if (w.types.table == Type::f64) {
    add_kernels<In, double, Nothing>(all, w);
  } else if (wide) {
    add_kernels<In, std::uint64_t, Nothing>(all, w);
  } else {
    add_kernels<In, std::uint32_t, Nothing>(all, w);
  }
}

}  // namespace

std::vector<Floor> floors(const LeastWork& work) {
  std::vector<Floor> all;
  const std::size_t in = size_of(work.types.input);
  if (in == size_of(work.types.table) && !work.squares) {
    add_copies(all, work);
    if (work.border != Border::zero) return all;
  }
  if (in == 1)
    add_tables<std::uint8_t>(all, work);
  else if (in == 2)
    add_tables<std::uint16_t>(all, work);
  else if (in == 4)
    add_tables<std::uint32_t>(all, work);
  else
    add_tables<std::uint64_t>(all, work);
  return all;
}

}  // namespace areal::bench
