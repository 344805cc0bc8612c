#include "compiler/sema/loader.h"

namespace {

struct NoLibrary final : rcn::StdlibNames {
  bool has_module(std::string_view) const override { return false; }
  std::vector<std::string> modules() const override { return {}; }
  bool has_name(std::string_view, std::string_view) const override { return false; }
  std::vector<std::string> names(std::string_view) const override { return {}; }
  std::optional<std::vector<std::string>> parameters(std::string_view, std::string_view) const override { return {}; }
  std::vector<std::string> flags() const override { return {}; }
};

}  // namespace

int main() {
  rcn::MemoryFileSystem files;
  rcn::SourceMap sources;
  rcn::Arena arena;
  rcn::DiagnosticSink diagnostics;
  files.add("model.rcn", "x = 1\n");
  rcn::Program program = rcn::load_program("model.rcn", files, sources, arena, NoLibrary(), diagnostics);
  return program.files.size() == 1 && !diagnostics.has_errors() ? 0 : 1;
}
