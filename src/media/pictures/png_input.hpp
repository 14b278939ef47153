#pragma once
// A silent PNG reader for OpenImageIO. OpenImageIO's own lets libpng print warnings (a colour profile that it does not
// like is enough) and errors to stderr, and a library must not.

#include <OpenImageIO/imageio.h>
#include <memory>

namespace areal::media {

// Grey, colour, palette (expanded), 1 to 16 bits, alpha as stored. The attribute "areal:whole" is 1 if the decoder must
// hold the whole picture (interlaced).
std::unique_ptr<OIIO::ImageInput> make_png_input();

}  // namespace areal::media
