// rcn-embed ROOT OUTPUT FILE...: parses the .rcn files of the standard library below ROOT (at build time) and writes
// OUTPUT, a C++ source that defines stdlib_image(). All data is constant-initialised: it costs nothing at start-up.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/diag/render.h"
#include "compiler/syntax/ast_image.h"
#include "compiler/syntax/parse.h"

namespace fs = std::filesystem;

namespace {

// nn/linear.rcn is part of module `nn`, nn/init/random.rcn of `nn.init`; a file at the top is a module of its own.
std::string module_of(const fs::path& relative) {
  if (!relative.has_parent_path()) return relative.stem().string();
  std::string name = relative.parent_path().generic_string();
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

std::string literal(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n\"\n\"";
    } else if (c == '"' || c == '\\' || c == '?') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7F) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\%03o", byte);
      out += buffer;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string view(std::string_view text) { return "{" + literal(text) + ", " + std::to_string(text.size()) + "}"; }

// An array and the span over it; no array where there is nothing, since C++ has no empty ones.
void array(std::ostream& out, const std::string& type, const std::string& name, const std::vector<std::string>& items) {
  if (items.empty()) {
    out << "constexpr std::span<const " << type << "> " << name << ";\n";
    return;
  }
  out << "constexpr " << type << " " << name << "_data[] = {";
  for (std::size_t i = 0; i < items.size(); ++i) out << (i % 16 == 0 ? "\n  " : " ") << items[i] << ",";
  out << "\n};\nconstexpr std::span<const " << type << "> " << name << "(" << name << "_data);\n";
}

void write_file(std::ostream& out, std::size_t number, const std::string& module, const rcn::SourceMap& sources,
                const rcn::ast::File& file) {
  rcn::ImageEncoder encoder;
  std::vector<std::string> entries, bytes, strings;
  for (rcn::ast::Stmt* s : file.body) {
    std::uint32_t offset = encoder.encode(*s);
    entries.push_back("{" + view(rcn::declared_name(*s)) + ", " + std::to_string(offset) + ", ast::StmtKind(" +
                      std::to_string(static_cast<int>(s->kind)) + ")}");
  }
  for (std::uint8_t b : encoder.bytes()) bytes.push_back(std::to_string(b));
  for (std::string_view s : encoder.strings()) strings.push_back(view(s));
  std::string suffix = std::to_string(number);
  array(out, "ImageEntry", "kEntries" + suffix, entries);
  array(out, "std::uint8_t", "kBytes" + suffix, bytes);
  array(out, "std::string_view", "kStrings" + suffix, strings);
  out << "constexpr std::string_view kText" << suffix << view(sources.text(file.file)) << ";\n";
  out << "constexpr ImageFile kFile" << suffix << " = {" << view(module) << ", " << view(sources.name(file.file))
      << ", kText" << suffix << ", " << view(file.doc) << ", kEntries" << suffix << ", kBytes" << suffix << ", kStrings"
      << suffix << "};\n\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: rcn-embed ROOT OUTPUT FILE...\n";
    return 2;
  }
  fs::path root = argv[1];
  std::vector<fs::path> paths(argv + 3, argv + argc);
  for (fs::path& p : paths) p = p.lexically_relative(root);
  std::sort(paths.begin(), paths.end());

  rcn::SourceMap sources;
  rcn::Arena arena;
  rcn::DiagnosticSink diagnostics;
  std::vector<rcn::ast::File> files;
  for (const fs::path& path : paths) {
    std::ifstream in(root / path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    if (!in) {
      std::cerr << "rcn-embed: cannot read " << (root / path).string() << "\n";
      return 1;
    }
    rcn::FileId id = sources.add("stdlib/" + path.generic_string(), text.str());
    files.push_back(rcn::parse(sources, id, arena, diagnostics, rcn::Limits()));
  }
  std::cerr << rcn::render_text(diagnostics, sources);
  if (diagnostics.has_errors()) return 1;

  std::ostringstream out;
  out << "// Made by rcn-embed from stdlib/.\n// NOLINTBEGIN\n"
         "#include \"compiler/syntax/ast_image.h\"\n\nnamespace rcn {\n\nnamespace {\n\n";
  std::vector<std::string> names;
  for (std::size_t i = 0; i < files.size(); ++i) {
    write_file(out, i, module_of(paths[i]), sources, files[i]);
    names.push_back("kFile" + std::to_string(i));
  }
  array(out, "ImageFile", "kFiles", names);
  out << "\n}  // namespace\n\nstd::span<const ImageFile> stdlib_image() { return kFiles; }\n\n}  // namespace rcn\n// NOLINTEND\n";

  std::ofstream file(argv[2], std::ios::binary);
  file << out.str();
  file.close();
  if (!file) {
    std::cerr << "rcn-embed: cannot write " << argv[2] << "\n";
    return 1;
  }
  return 0;
}
