#pragma once
// A Bed (see device_answers.hpp) on a GPU.

#include <areal/execution.hpp>
#include <functional>
#include <memory>
#include <vector>
#include "cuda/device.hpp"
#include "region_oracle.hpp"

namespace areal::device_cases {

/// Copies in device memory, at addresses as odd as the host's.
class CudaBed {
 public:
  template <class T>
  Span<const T> in(const std::vector<T>& values) {
    return {static_cast<const T*>(twin(values.data(), values.size() * sizeof(T))), values.size(), memory};
  }
  template <class T>
  Span<T> out(std::vector<T>& values) {
    return {static_cast<T*>(twin_back(values.data(), values.size() * sizeof(T))), values.size(), memory};
  }
  ConstView in(oracle::Padded& host) { return moved(host, twin(host.bytes().data(), host.bytes().size())); }
  View out(oracle::Padded& host) { return moved(host, twin_back(host.bytes().data(), host.bytes().size())); }
  void back() {
    for (const auto& copy : copies_) copy();
    stream_.synchronize();
  }

 private:
  static View moved(oracle::Padded& host, void* twin) {
    View view = host.view();
    view.data =
        static_cast<char*>(twin) + (static_cast<char*>(view.data) - reinterpret_cast<char*>(host.bytes().data()));
    return view.in(memory);
  }
  void* twin(const void* host, std::size_t bytes) {
    if (bytes == 0) return nullptr;
    memory_.push_back(std::make_unique<cuda::Memory>(bytes));
    cuda::copy_in(memory_.back()->data(), host, bytes, stream_.get());
    return memory_.back()->data();
  }
  void* twin_back(void* host, std::size_t bytes) {
    void* const device = twin(host, bytes);
    if (bytes > 0) copies_.push_back([=, this] { cuda::copy_out(host, device, bytes, stream_.get()); });
    return device;
  }

  std::vector<std::unique_ptr<cuda::Memory>> memory_;
  std::vector<std::function<void()>> copies_;
  cuda::OwnedStream stream_;

 public:
  static constexpr MemoryPlace memory{MemoryPlace::cuda, 0};
  Execution on{.backend = Backend::cuda, .stream = stream_.get()};
};

}  // namespace areal::device_cases
