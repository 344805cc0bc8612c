// The files of this folder, as the build finds them.
#pragma once

#include <string_view>

namespace rcn {

extern const std::string_view kPageHtml, kPageCss, kPageJs;

}  // namespace rcn
