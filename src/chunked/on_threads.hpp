#pragma once
// Runs one body on several threads.

#include <algorithm>
#include <areal/info.hpp>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace areal::chunked {

/// The meaning of a number of threads: 0 is all, and larger numbers than the machine's are all.
inline int threads_of(int threads) {
  const int most = areal::default_threads();
  return threads <= 0 ? most : std::min(threads, most);
}

/// body(worker) on the caller (worker 0) and on up to `threads` - 1 more, each once. If one throws, calls `stop` once,
/// so that the others end, and rethrows when all have ended. If the system provides fewer threads, or no memory for
/// more, fewer run: bodies share a common supply of work.
inline void on_threads(int threads, const std::function<void(int worker)>& body, const std::function<void()>& stop) {
  std::mutex mutex;
  std::exception_ptr error;
  const auto guarded = [&](int worker) {
    try {
      body(worker);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (error) return;
      error = std::current_exception();
      stop();
    }
  };
  std::vector<std::thread> others;
  others.reserve(static_cast<std::size_t>(std::max(threads - 1, 0)));
  try {
    for (int worker = 1; worker < threads; ++worker) others.emplace_back(guarded, worker);
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {  // leaving now would end the process: threads that run are not joined yet
  }
  guarded(0);
  for (std::thread& other : others) other.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace areal::chunked
