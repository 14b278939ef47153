#pragma once
// Images, the reference, and rounds of all cases in random order beside a copy. SIZE, WINDOW and ROUNDS in the
// environment restrict a run.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>
#include "sauvola.cuh"

#define CK(x)                                                          \
  do {                                                                 \
    cudaError_t e = (x);                                               \
    if (e != cudaSuccess) {                                            \
      printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
      exit(1);                                                         \
    }                                                                  \
  } while (0)
__global__ void copy_kernel(const uint4* in, uint4* out, int64_t n) {
  int64_t i = blockIdx.x * 1024ll + threadIdx.x;
  uint4 v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (i + 256 * k < n) v[k] = __ldcs(in + i + 256 * k);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (i + 256 * k < n) __stcs(out + i + 256 * k, v[k]);
}
int sms;
struct Case {
  std::string name;
  std::function<void()> run;
  std::vector<float> times;
  bool check;
};
struct Image {
  const char* name;
  std::vector<uint8_t> in, want;
};

void reference(const uint8_t* in, uint8_t* out, int W, int H, int k, double strength, double range, double offset,
               int threads) {
  std::vector<std::thread> all;
  const int b = k / 2;
  const double n = (double)k * k;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([=] {
      const int ya = (int64_t)H * t / threads, yb = (int64_t)H * (t + 1) / threads;
      std::vector<int> c1(W + 2 * k, 0), c2(W + 2 * k, 0);
      auto row = [&](int y, int sign) {
        if (y < 0 || y >= H) return;
        const uint8_t* p = in + (size_t)y * W;
        for (int x = 0; x < W; ++x) c1[x + k] += sign * p[x], c2[x + k] += sign * p[x] * p[x];
      };
      for (int y = ya - b; y < ya - b + k - 1; ++y) row(y, 1);
      for (int y = ya; y < yb; ++y) {
        row(y - b + k - 1, 1);
        int64_t s1 = 0, s2 = 0;
        for (int x = -b; x < k - 1 - b; ++x) s1 += c1[x + k], s2 += c2[x + k];
        for (int x = 0; x < W; ++x) {
          s1 += c1[x - b + k - 1 + k], s2 += c2[x - b + k - 1 + k];
          const double mean = (double)s1 / n, root = std::sqrt((double)((int64_t)k * k * s2 - s1 * s1) / (n * n));
          const double threshold = mean * (1 + strength * (root / range - 1)) - offset;
          out[(size_t)y * W + x] = (double)in[(size_t)y * W + x] > threshold ? 255 : 0;
          s1 -= c1[x - b + k], s2 -= c2[x - b + k];
        }
        row(y - b, -1);
      }
    });
  for (auto& t : all) t.join();
}

// add(cases, args, large) appends the variants for windows of one of two sizes. An argument of the program is the
// number of a case to run alone.
template <class Add>
int rounds_of(int argc, char** argv, const Add& add) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  cudaDeviceProp prop;
  CK(cudaGetDeviceProperties(&prop, 0));
  sms = prop.multiProcessorCount;
  const int rounds = getenv("ROUNDS") ? atoi(getenv("ROUNDS")) : 24;
  printf("%s, %d SMs\n", prop.name, sms);
  const int W = getenv("SIZE") ? atoi(getenv("SIZE")) : 8192, H = W;
  const size_t n = (size_t)W * H;
  std::mt19937 rng(7);
  std::vector<Image> images(2);
  images[0].name = "random", images[1].name = "document";
  images[0].in.resize(n), images[1].in.assign(n, 255);
  for (size_t i = 0; i + 4 <= n; i += 4) {
    uint32_t v = rng();
    memcpy(&images[0].in[i], &v, 4);
  }
  {  // paper of some kinds, black areas, strokes
    auto& d = images[1].in;
    for (int y = 0; y < H; ++y)
      for (int x = 0; x < W; ++x) {
        uint8_t v = 255;
        if (x > W / 2 && y < H / 2) v = 240;
        if (x > W / 2 && y >= H / 2) v = 235 + (rng() & 7);
        if (x < W / 8) v = 0;
        if (x < W / 16 && y > H / 2) v = (rng() & 63) == 0;
        if (x >= W / 8 && x < W / 4 && y > 3 * H / 4) v = x / 16 & 255;
        d[(size_t)y * W + x] = v;
      }
    const int strokes = (int)(n / 900);
    for (int i = 0; i < strokes; ++i) {
      const int w = rng() % 3 == 0 ? 3 + rng() % 20 : 2 + rng() % 3, h = w > 4 ? 2 + rng() % 3 : 4 + rng() % 20,
                x0 = rng() % W, y0 = rng() % H, dark = rng() % 60;
      for (int y = y0; y < std::min(H, y0 + h); ++y)
        for (int x = x0; x < std::min(W, x0 + w); ++x) d[(size_t)y * W + x] = (x == x0 || y == y0) ? 120 + dark : dark;
    }
  }
  uint8_t *din, *dout;
  CK(cudaMalloc(&din, n));
  CK(cudaMalloc(&dout, n));
  std::vector<uint8_t> out(n);
  cudaEvent_t e0, e1;
  CK(cudaEventCreate(&e0));
  CK(cudaEventCreate(&e1));
  for (int k : {15, 31, 63}) {
    if (getenv("WINDOW") && atoi(getenv("WINDOW")) != k) continue;
    Args a{};
    a.in = din, a.out = dout, a.width = W, a.height = H, a.win_w = a.win_h = k, a.before = a.rows_before = k / 2;
    a.k = 0.2, a.r = 128, a.offset = 0, a.above = 0xffffffff, a.below = 0, a.n = k * k;
    a.least_word = a.offset <= 0 && a.k >= 0 && a.k <= 1;
    const double per = 1.0 / a.n, mean = (1 - a.k) * per, cross = a.k / a.r * per * per;
    const double deviation = std::sqrt(4 * 0x1p-24 * 255.0 / k + 1e-9);  // of a root near 0
    const double bound = (255 + std::abs(a.offset) + 255 * std::abs(a.k) * (1 + 127.5 / a.r)) * 0x1.01p-19 +
                         255 * std::abs(a.k) / a.r * deviation;
    a.mean = mean * 0x1p109, a.cross = cross * 0x1p131, a.shift = -a.offset * 0x1p-40, a.bound = bound * 0x1p-40;
    a.centre = -128.0f * a.n * 0x1p-22f, a.by_low = a.n * 0x1p105f, a.by_high = a.n * 0x1p113f;
    a.imean = mean, a.icross = cross, a.ifrom = 0x1p23 - a.offset,
    a.ibound = (255 + std::abs(a.offset) + 255 * std::abs(a.k) * (1 + 127.5 / a.r)) * 0x1.01p-19;
    std::vector<Case> cases;
    cases.push_back({"copy",
                     [=] { copy_kernel<<<(n / 16 + 1023) / 1024, 256>>>((const uint4*)din, (uint4*)dout, n / 16); },
                     {},
                     false});
    add(cases, a, k == 63);
    if (argc > 1) {
      CK(cudaMemcpy(din, images[0].in.data(), n, cudaMemcpyHostToDevice));
      auto c = cases[atoi(argv[1])];
      printf("%s\n", c.name.c_str());
      for (int i = 0; i < 3; ++i) c.run();
      CK(cudaDeviceSynchronize());
      continue;
    }
    printf("== %dx%d, %dx%d\n", W, H, k, k);
    std::vector<std::string> lines(cases.size());
    for (auto& image : images) {
      image.want.resize(n);
      reference(image.in.data(), image.want.data(), W, H, k, a.k, a.r, a.offset,
                std::max(2u, std::thread::hardware_concurrency()));
      CK(cudaMemcpy(din, image.in.data(), n, cudaMemcpyHostToDevice));
      std::vector<std::string> note(cases.size());
      for (size_t i = 0; i < cases.size(); ++i)
        if (auto& c = cases[i]; c.check) {
          unsigned long long zero = 0, found;
          CK(cudaMemcpyToSymbol(doubts, &zero, 8));
          CK(cudaMemset(dout, 0xa5, n));
          c.run();
          CK(cudaGetLastError());
          cudaError_t err = cudaDeviceSynchronize();
          if (err != cudaSuccess) {
            printf("%s: %s\n", c.name.c_str(), cudaGetErrorString(err));
            return 1;
          }
          CK(cudaMemcpyFromSymbol(&found, doubts, 8));
          CK(cudaMemcpy(out.data(), dout, n, cudaMemcpyDeviceToHost));
          note[i] = " doubts " + std::to_string(found);
          if (memcmp(out.data(), image.want.data(), n)) {
            size_t bad = 0, first = 0;
            for (size_t at = 0; at < n; ++at)
              if (out[at] != image.want[at]) {
                if (!bad) first = at;
                ++bad;
              }
            note[i] += " WRONG " + std::to_string(bad) + " first " + std::to_string(first % W) + "," +
                       std::to_string(first / W);
          }
          c.times.clear();
        }
      cases[0].times.clear();
      std::vector<int> order(cases.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = i;
      for (int round = 0; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), rng);
        for (int i : order) {
          CK(cudaEventRecord(e0));
          cases[i].run();
          CK(cudaEventRecord(e1));
          CK(cudaEventSynchronize(e1));
          float t;
          CK(cudaEventElapsedTime(&t, e0, e1));
          if (round >= 3) cases[i].times.push_back(t * 1000);
        }
      }
      CK(cudaGetLastError());
      for (size_t i = 0; i < cases.size(); ++i) {
        auto& t = cases[i].times;
        std::sort(t.begin(), t.end());
        char s[40];
        snprintf(s, 40, "%6.1f", t[t.size() / 2]);
        lines[i] += s + note[i] + " |";
      }
    }
    for (size_t i = 0; i < cases.size(); ++i) printf("%s %s\n", lines[i].c_str(), cases[i].name.c_str());
  }
  return 0;
}
