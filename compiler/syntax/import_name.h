// The name that an import binds.
#pragma once

#include <string_view>

#include "compiler/base/symbol.h"
#include "compiler/syntax/ast.h"

namespace rcn {

// The alias; else the last part of a dotted name, or of a path the file's name without `.rcn`. Empty where that is no
// name (`import "my-blocks.rcn"`): an alias is needed then.
inline Symbol import_name(const ast::ImportStmt& import) {
  if (import.alias) return import.alias;
  std::string_view text = import.source.text;
  std::size_t cut = text.find_last_of(import.source.is_path ? '/' : '.');
  if (cut != std::string_view::npos) text.remove_prefix(cut + 1);
  if (import.source.is_path && text.ends_with(".rcn")) text.remove_suffix(4);
  bool name = !text.empty() && !(text[0] >= '0' && text[0] <= '9');
  for (char c : text)
    name = name && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_');
  return name ? Symbol(text) : Symbol();
}

}  // namespace rcn
