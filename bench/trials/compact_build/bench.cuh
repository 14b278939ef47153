#pragma once
#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include "layout.cuh"
struct Variant {
  std::string name;
  std::function<void(const Args&, cudaStream_t)> run;
  bool checked = true;
  int fixed_only = 0;
};
__global__ void floor_kernel(const uint4* in, size_t nin, uint4* out, size_t nout) {
  const size_t n = size_t(gridDim.x) * blockDim.x, i0 = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  uint4 acc = make_uint4(i0, 1, 2, 3);
  for (size_t i = i0; i < nin; i += n) {
    const uint4 v = __ldg(in + i);
    acc.x ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  for (size_t i = i0; i < nout; i += n) __stcs(out + i, acc);
}
__global__ void empty_kernel() {}
__global__ void flush_kernel(uint4* p, size_t n) {
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
    p[i] = make_uint4(i, 0, 0, 0);
}
struct Bench {
  std::vector<Variant> variants;
  cudaStream_t stream;
  cudaEvent_t e0, e1;
  uint4* junk;
  size_t junk_n = size_t(160) << 20 >> 4;
  std::mt19937 rng{7};
  int sms = 0;
  Bench() {
    CK(cudaStreamCreate(&stream));
    CK(cudaEventCreate(&e0));
    CK(cudaEventCreate(&e1));
    CK(cudaMalloc(&junk, junk_n * 16));
    cudaDeviceProp p;
    CK(cudaGetDeviceProperties(&p, 0));
    sms = p.multiProcessorCount;
    printf("GPU %s, %d SMs, L2 %d MiB, clock %d\n", p.name, p.multiProcessorCount, p.l2CacheSize >> 20, 0);
  }
  std::vector<u8> image(const Args& a, int kind) {
    std::vector<u8> v(size_t(a.pitch) * a.h, 0xee);
    std::mt19937 r(kind + 5);
    for (int y = 0; y < a.h; ++y)
      for (int x = 0; x < a.w; ++x)
        v[size_t(y) * a.pitch + x] = kind == 0   ? r() & 255
                                     : kind == 1 ? u8(77)
                                     : kind == 2 ? u8((x * 255 / a.w + y / 9 + (r() & 7)) & 255)
                                                 : u8((x ^ y) & 1 ? 255 : 0);
    return v;
  }
  void run(int w, int h, int bins, int kind, int rounds, bool cold) {
    Args a = geometry(w, h, bins);
    const auto img = image(a, kind);
    const auto ref = reference(a, img);
    u8* di;
    char* store;
    CK(cudaMalloc(&di, img.size() + 64));
    CK(cudaMalloc(&store, a.bytes + 64));
    const size_t nt = size_t(a.nr + a.ny * 2) * (a.nx + 1) * 64;
    CK(cudaMalloc(&a.totals, nt * 4));
    CK(cudaMemcpy(di, img.data(), img.size(), cudaMemcpyHostToDevice));
    a.image = di;
    place(a, store);
    std::vector<u64*> counters;
    std::vector<char> got(a.bytes);
    for (auto& v : variants) {
      u64* c;
      CK(cudaMalloc(&c, 1 << 16));
      CK(cudaMemset(c, 0, 1 << 16));
      counters.push_back(c);
      a.counters = c;
      CK(cudaMemset(store, 0x5a, a.bytes));
      CK(cudaMemset(a.totals, 0x33, nt * 4));
      v.run(a, stream);
      CK(cudaStreamSynchronize(stream));
      if (!v.checked) continue;
      for (int again = 0; again < 2; ++again) {
        CK(cudaMemset(store, 0x5a, a.bytes));
        v.run(a, stream);
        CK(cudaStreamSynchronize(stream));
        CK(cudaMemcpy(got.data(), store, a.bytes, cudaMemcpyDeviceToHost));
        if (memcmp(got.data(), ref.data(), a.bytes) != 0) {
          size_t n = 0, first = 0;
          for (size_t i = 0; i < a.bytes; ++i)
            if (got[i] != ref[i]) {
              if (!n) first = i;
              ++n;
            }
          const size_t ra = size_t(a.ny) * a.nx * a.kp * 4, rr = ra + size_t(a.h + 1) * a.nx * a.kp * 2,
                       rc = rr + size_t(a.ny) * (a.w + 1) * a.kp * 2;
          printf("WRONG %s %dx%d bins %d kind %d: %zu bytes, first at %zu in %s\n", v.name.c_str(), w, h, bins, kind, n,
                 first < ra   ? first
                 : first < rr ? first - ra
                 : first < rc ? first - rr
                              : first - rc,
                 first < ra   ? "A"
                 : first < rr ? "R"
                 : first < rc ? "C"
                              : "L");
          break;
        }
      }
    }
    if (rounds > 0) {
      std::vector<std::vector<float>> t(variants.size() + 2);
      std::vector<int> order(variants.size() + 2);
      for (size_t i = 0; i < order.size(); ++i) order[i] = i;
      for (int r = 0; r < rounds + 2; ++r) {
        std::shuffle(order.begin(), order.end(), rng);
        for (int i : order) {
          if (cold) flush_kernel<<<sms * 8, 256, 0, stream>>>(junk, junk_n);
          if (i < int(variants.size())) a.counters = counters[i];
          CK(cudaStreamSynchronize(stream));
          CK(cudaEventRecord(e0, stream));
          if (i < int(variants.size()))
            variants[i].run(a, stream);
          else if (i == int(variants.size()))
            floor_kernel<<<sms * 8, 512, 0, stream>>>((const uint4*)di, img.size() / 16, (uint4*)store, a.bytes / 16);
          else
            empty_kernel<<<1, 32, 0, stream>>>();
          CK(cudaEventRecord(e1, stream));
          CK(cudaEventSynchronize(e1));
          float ms;
          CK(cudaEventElapsedTime(&ms, e0, e1));
          if (r >= 2) t[i].push_back(ms * 1000);
        }
      }
      printf("%dx%dx%d kind %d %s:", w, h, bins, kind, cold ? "cold" : "warm");
      for (size_t i = 0; i < t.size(); ++i) {
        std::sort(t[i].begin(), t[i].end());
        printf(" | %s %.1f (%.1f)",
               i < variants.size()    ? variants[i].name.c_str()
               : i == variants.size() ? "FLOOR"
                                      : "empty",
               t[i][t[i].size() / 2], t[i][0]);
      }
      printf("\n");
    }
    CK(cudaGetLastError());
    for (auto c : counters) cudaFree(c);
    cudaFree(di);
    cudaFree(store);
    cudaFree(a.totals);
  }
};
