#pragma once
// Several elements a thread (Lee, Choe 2014, 3.1): as harris, but a thread of a block of 1024 has up to 8 elements of 4
// bytes, or 4 of 8 bytes, so that a block holds lines of 8192 or 4096. Harris' padding. Launches, barrier steps, reads
// and writes: harris.

#include "kernels/histogram/lee_choe/scan_transpose.hpp"

namespace areal::kernels {

template <class T>
using LeeChoeMultiple = ScanTranspose<T, PaddedBanks<>, true>;

}  // namespace areal::kernels
