#pragma once
// OpenImageIO's description of a picture, checked against what areal reads and against the file's size.

#include <OpenImageIO/imageio.h>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "media/channels.hpp"
#include "media/media.hpp"
#include "media/pictures/signature.hpp"
#include "media/pixel_size.hpp"

namespace areal::media {

// Deflate (PNG, most EXR, many TIFF) expands at most 1032 times and LZW 2600; a JPEG block of 64 samples takes at least
// about two bits a component. A header that claims more is wrong.
constexpr std::uint64_t largest_expansion = 4096;

// True for a TIFF in YCbCr, Lab or LogLuv, which libtiff converts: tile by tile, but strips only as a whole picture.
bool is_converted(const OIIO::ImageSpec& spec);
// Throws IoError for a TIFF that OpenImageIO decodes wrongly.
void require_right_tiff(const OIIO::ImageSpec& spec, Type type, const std::string& name);

// An input of that kind, closed; throws Unavailable if this OpenImageIO has none.
std::unique_ptr<OIIO::ImageInput> make_input(const PictureFile& file, const std::string& name);
// Opens it at its first page, or throws IoError.
void open_input(OIIO::ImageInput& input, const PictureFile& file, const std::string& name);

// Reads rows first to last - 1 of channels first_channel to last_channel - 1, as OpenImageIO's read_scanlines. Of a
// TIFF of 64-bit samples that one is right only for whole strips of together more than one row, and sets nothing
// otherwise (OpenImageIO 2.4); this reads the strips that hold the rows, and needs memory for them.
bool read_rows(OIIO::ImageInput& input, int page, int level, int first, int last, int first_channel, int last_channel,
               OIIO::TypeDesc format, void* into);

Type type_of_format(const OIIO::TypeDesc& format, const std::string& name);

// Which of the file's channels form the picture.
Channels choose_channels(const OIIO::ImageSpec& spec, const ReadOptions& options, const std::string& name,
                         std::vector<std::string>& notes);

// Throws IoError unless the picture is flat.
void require_flat(const OIIO::ImageSpec& spec, const std::string& name);
// The same, also for a picture larger than the file's bytes can hold.
void require_plausible(const OIIO::ImageSpec& spec, const PictureFile& file, const std::string& name);

// Of a TIFF: as OME or ImageJ describe it, or by a resolution in pixels per centimetre, the unit of microscopes. One in
// inches is a photograph's, for printers.
std::optional<PixelSize> pixel_size_of(const OIIO::ImageSpec& spec);

void add_notes(const OIIO::ImageSpec& spec, Type type, std::vector<std::string>& notes);

}  // namespace areal::media
