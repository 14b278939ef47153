#pragma once
// The discrete Fourier transform of one line of complex doubles, by kissfft, which only transform.cpp includes.

#include <complex>
#include <cstdint>
#include <memory>

namespace areal::cpu {

class Transform {
 public:
  using Complex = std::complex<double>;

  /// False in a library built without kissfft: the constructor then throws Unavailable.
  static bool is_available() noexcept;
  /// A length without prime factors above 5: with others kissfft would allocate in a transform.
  explicit Transform(std::int64_t length);
  ~Transform();
  Transform(Transform&&) noexcept;
  Transform& operator=(Transform&&) noexcept;

  std::int64_t length() const noexcept { return length_; }
  /// Not in place, and not divided by the length. Any number of threads at once.
  void forward(const Complex* in, Complex* out) const;
  void inverse(const Complex* in, Complex* out) const;

 private:
  struct Tables;
  std::unique_ptr<const Tables> tables_;
  std::int64_t length_;
};

}  // namespace areal::cpu
