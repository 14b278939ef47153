#pragma once
/// \file error.hpp Every exception that areal throws. The library never prints, aborts or exits.

#include <cstdint>
#include <stdexcept>
#include <string>

namespace areal {

/// The base of every exception of areal. `what()` is one sentence: the argument, its value, the values allowed.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An invalid argument: a wrong shape, type pair, pitch, region, bin or option.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// A table, tensor or workspace that does not fit. `bytes()` is the size requested.
class OutOfMemory : public Error {
 public:
  OutOfMemory(const std::string& what, std::uint64_t bytes) : Error(what), bytes_(bytes) {}
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::uint64_t bytes_;
};

/// A file or a stream that could not be read or written.
class IoError : public Error {
 public:
  using Error::Error;
};

/// A backend, plug-in or device that exists, but not in this build or on this machine.
class Unavailable : public Error {
 public:
  using Error::Error;
};

/// A GPU reported an error. If `lost()` is true, this process can no longer use the device.
class DeviceError : public Error {
 public:
  DeviceError(const std::string& what, bool lost) : Error(what), lost_(lost) {}
  bool lost() const noexcept { return lost_; }

 private:
  bool lost_;
};

/// A progress callback or a CancelScope stopped the call. Outputs hold unspecified values.
class Cancelled : public Error {
 public:
  using Error::Error;
};

}  // namespace areal
