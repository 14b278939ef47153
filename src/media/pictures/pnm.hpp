#pragma once
// PNM (netpbm's pbm, pgm and ppm). OpenImageIO 2.4 reads 16-bit samples off by one, and writes 8 bits for 16.

#include <OpenImageIO/imageio.h>
#include <areal/view.hpp>
#include <memory>
#include <string>

namespace areal::media {

// P1 to P6. The attribute "areal:maxval" is set if samples were scaled from 0..maxval to the type's full range.
std::unique_ptr<OIIO::ImageInput> make_pnm_input();

// "P5 ..." or "P6 ..." up to the first sample; samples follow, 16-bit ones big-endian.
std::string pnm_header(const Shape& shape, Type type);

}  // namespace areal::media
