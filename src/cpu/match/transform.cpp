#include "cpu/match/transform.hpp"
#include <areal/error.hpp>

#if AREAL_HAS_KISSFFT
#include <kissfft/kissfft.hh>
#endif

namespace areal::cpu {

#if AREAL_HAS_KISSFFT

struct Transform::Tables {
  kissfft<double> forward, inverse;
};

bool Transform::is_available() noexcept { return true; }
Transform::Transform(std::int64_t length)
    : tables_(new Tables{kissfft<double>(static_cast<std::size_t>(length), false),
                         kissfft<double>(static_cast<std::size_t>(length), true)}),
      length_(length) {}
void Transform::forward(const Complex* in, Complex* out) const { tables_->forward.transform(in, out); }
void Transform::inverse(const Complex* in, Complex* out) const { tables_->inverse.transform(in, out); }

#else

struct Transform::Tables {};

bool Transform::is_available() noexcept { return false; }
Transform::Transform(std::int64_t length) : length_(length) {
  throw Unavailable("algorithm fft: this library was built without kissfft; direct needs none");
}
void Transform::forward(const Complex*, Complex*) const {}
void Transform::inverse(const Complex*, Complex*) const {}

#endif

Transform::~Transform() = default;
Transform::Transform(Transform&&) noexcept = default;
Transform& Transform::operator=(Transform&&) noexcept = default;

}  // namespace areal::cpu
