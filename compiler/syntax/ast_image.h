// The parsed form of the standard library that is built into the compiler.
//
// The host tool `rcn-embed` parses the .rcn files at build time and writes each top-level statement as bytes. At run
// time a statement is decoded when its name is first looked up; nothing of the library is parsed, and what a model
// does not use costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/base/arena.h"
#include "compiler/base/source.h"
#include "compiler/base/symbol.h"
#include "compiler/syntax/ast.h"

namespace rcn {

// One statement of a file of the image.
struct ImageEntry {
  std::string_view name;      // what it declares: `Linear`; imports and others have an empty name
  std::uint32_t offset;       // of its bytes in ImageFile::bytes
  ast::StmtKind kind;
};

struct ImageFile {
  std::string_view module;    // `nn`; several files may have the same
  std::string_view name;      // shown in diagnostics: `stdlib/nn/linear.rcn`
  std::string_view text;      // for diagnostics and `rcnc doc` only
  std::string_view doc;
  std::span<const ImageEntry> entries;  // in the order of the file
  std::span<const std::uint8_t> bytes;
  std::span<const std::string_view> strings;  // names and texts that the bytes refer to
};

// The files that were built in (defined in a generated source).
std::span<const ImageFile> stdlib_image();

// Writes statements as bytes (host tool).
class ImageEncoder {
 public:
  std::uint32_t encode(ast::Stmt& statement);  // returns its offset
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  const std::vector<std::string_view>& strings() const { return strings_; }

 private:
  friend struct ImageWriter;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::string_view> strings_;
  std::unordered_map<std::string_view, std::uint32_t> index_;  // into strings_
};

// What a top-level statement declares, for ImageEntry::name; empty for imports and the like.
std::string_view declared_name(ast::Stmt& statement);

// Makes the statement at `offset` in `arena`; its spans refer to `file`.
ast::Stmt* decode_statement(const ImageFile& image, std::uint32_t offset, FileId file, Arena& arena);

}  // namespace rcn
