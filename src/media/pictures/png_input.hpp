#pragma once
// A PNG reader for OpenImageIO that is silent: its own lets libpng print warnings (a colour profile it does not like is
// enough) and errors to stderr, and a library must not.

#include <OpenImageIO/imageio.h>
#include <memory>

namespace areal::media {

// Grey, colour, palette (expanded), 1 to 16 bits, alpha as stored; the attribute "areal:whole" is 1 where the decoder
// must hold the whole picture (interlaced).
std::unique_ptr<OIIO::ImageInput> make_png_input();

}  // namespace areal::media
