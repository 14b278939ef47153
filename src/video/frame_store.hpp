#pragma once

#include <areal/histogram_store.hpp>

namespace areal::video {

/// The compact store of a lane's frames, one after another.
struct FrameStore {
  StorePlan plan;
  HistogramStore store;
};

}  // namespace areal::video
