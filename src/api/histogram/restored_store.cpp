// Stores from the bytes of others.
#include <cstdint>
#include <memory>
#include <utility>
#include "api/core/require.hpp"
#include "api/core/store_state.hpp"
#include "cpu/histogram/store_check.hpp"
#include "cuda/device.hpp"

namespace areal {

HistogramStore StorePlan::restore(Array data) const {
  const State& s = state();
  const std::string_view name = name_of(s.store);
  require(s.store == Store::compact || s.store == Store::rank, "store ", name,
          ": only the stores compact and rank have bytes to restore");
  require(data.bytes() == bytes(), "data: ", data.bytes(), " bytes; a ", name, " store of ", s.image.width, "x",
          s.image.height, " has ", bytes());
  const auto* const first = static_cast<const std::byte*>(data.data());
  const bool fits = s.store == Store::rank ? cpu::has_lines(s.rank, first, s.execution.threads)
                                           : cpu::has_labels(s.layout, first, s.execution.threads);
  require(
      fits, "data: it is no ", name, " store of ", s.image.width, "x", s.image.height,
      s.store == Store::rank ? ": its counts of zeros are not those of its bits" : ": it has a label beyond its bins");
  auto made = std::make_unique<HistogramStore::State>(std::static_pointer_cast<const State>(state_));
  if (s.store == Store::rank) made->may_have_nan = has_nan(s, first);
  if (s.on_cuda() && data.bytes() > 0) {
    made->memory = Memory(data.bytes(), s.memory());
    const cuda::DeviceScope scope(s.execution.device);
    const Stream stream = s.execution.stream.value_or(Stream::legacy_default());
    cuda::copy_in(made->memory.data(), first, data.bytes(), stream);
    cuda::synchronize(stream);
  } else {
    made->memory = Memory(std::move(data));
  }
  return HistogramStore(std::move(made));
}

}  // namespace areal
