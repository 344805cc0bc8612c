// The printers: one per output form.
#pragma once

#include <string>

#include "compiler/emit/document.h"

namespace rcn {

std::string write_python(const Document& document, const SourceMap& sources, const EmitOptions& options);
std::string write_tagged_json(const Document& document, const EmitOptions& options);

// For a document whose options hold no dims.
std::string write_plain_json(const Document& document, const EmitOptions& options);

}  // namespace rcn
