#pragma once
// The page in one HTML file, with the pixels of a small picture: it opens without a server, and counts itself.

#include <string>
#include <string_view>
#include "view/scene.hpp"

namespace areal::command::page {

/// In memory, at most 4 MP and 64 MiB.
bool fits_page_file(const view::Scene& picture);
/// `page`: what web/bundle.py makes. `facts`: picture.json. `regions`: [{"id", "name", "box"}]. For a picture that
/// fits.
std::string page_file(std::string_view page, const view::Scene& picture, std::string_view facts,
                      std::string_view regions);

}  // namespace areal::command::page
