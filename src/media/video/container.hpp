#pragma once
// The packets of a file's video stream, and the damage that its container shows.

#include <cstdint>
#include <string>
#include "media/video/libav.hpp"

namespace areal::media {

class Container {
 public:
  // Throws IoError unless it is a local file with a video stream.
  explicit Container(const std::string& name);

  const AVStream& stream() const { return *format_->streams[index_]; }

  enum class Next { packet, damage, end };
  // The stream's next packet. At damage, and at a premature end, `what` describes it; reading may continue after
  // damage.
  Next next(AVPacket& packet, std::string& what);

 private:
  void describe_missing_packets(std::string& what) const;

  std::string name_;
  FormatContext format_;
  int index_ = 0;
  std::int64_t packets_ = 0;
};

}  // namespace areal::media
