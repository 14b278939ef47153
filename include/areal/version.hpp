#pragma once
/// \file version.hpp The version, as macros for the preprocessor and as a string at run time.

#define AREAL_VERSION_MAJOR 0
#define AREAL_VERSION_MINOR 1
#define AREAL_VERSION_PATCH 0
#define AREAL_VERSION_STRING "0.1.0"
#define AREAL_VERSION (AREAL_VERSION_MAJOR * 10000 + AREAL_VERSION_MINOR * 100 + AREAL_VERSION_PATCH)

namespace areal {

/// The version of the linked library, e.g. "0.1.0"; compare with AREAL_VERSION_STRING to detect a mismatch of header
/// and library.
const char* version() noexcept;

}  // namespace areal
