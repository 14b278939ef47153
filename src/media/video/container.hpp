#pragma once
// The packets of a file's video stream, and the damage that its container shows.

#include <cstdint>
#include <string>
#include "media/video/libav.hpp"

namespace areal::media {

class Container {
 public:
  // Throws IoError unless it is a local file of a known format with a video stream. Opens no other file.
  explicit Container(const std::string& name);
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  const AVStream& stream() const { return *format_->streams[index_]; }

  enum class Next { packet, damage, end };
  // The stream's next packet. At damage, and at a premature end, `what` describes it; reading may continue after
  // damage.
  Next next(AVPacket& packet, std::string& what);

 private:
  void describe_missing_packets(std::string& what) const;

  std::string name_;
  // Opens the file, once; format_ has its address, so a container is not moved.
  int (*open_)(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) = nullptr;
  FormatContext format_;
  int index_ = 0;
  std::int64_t packets_ = 0;
};

}  // namespace areal::media
