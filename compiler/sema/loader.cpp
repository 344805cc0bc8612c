#include "compiler/sema/loader.h"

#include <optional>
#include <unordered_map>

#include "compiler/base/suggest.h"
#include "compiler/syntax/parse.h"

namespace rcn {

namespace {

class Loader {
 public:
  Loader(FileSystem& files, SourceMap& sources, Arena& arena, const StdlibNames& stdlib, DiagnosticSink& diagnostics,
         const LoadOptions& options)
      : files_(files),
        sources_(sources),
        arena_(arena),
        stdlib_(stdlib),
        diagnostics_(diagnostics),
        options_(options) {}

  Program run(const std::string& path, std::optional<std::string> text) {
    if (!text) {
      FileRead read = files_.read(path, options_.limits.file_bytes);
      if (read.status != FileRead::Status::ok) {
        report_read(read, Span(), path);
        return std::move(program_);
      }
      text = std::move(read.text);
    }
    program_.main = load(path, std::move(*text), files_.identity(path));
    return std::move(program_);
  }

 private:
  struct Step {  // of the chain of imports that led to the file in work
    std::string identity;
    std::string path;
    Span import;  // in this file; the one being followed
  };

  void report_read(const FileRead& read, Span where, const std::string& path) {
    switch (read.status) {
      case FileRead::Status::directory: diagnostics_.report(Diag::file_is_folder, where, {path}); return;
      case FileRead::Status::unreadable: diagnostics_.report(Diag::file_unreadable, where, {path, read.reason}); return;
      case FileRead::Status::too_large:
        diagnostics_.report(Diag::import_too_large, where, {path, std::to_string(options_.limits.file_bytes)})
            .help(Diag::help_text, {"a higher limit is set with `--limit file_bytes=N`"});
        return;
      default: diagnostics_.report(Diag::file_missing, where, {path});
    }
  }

  std::size_t load(const std::string& path, std::string text, const std::string& identity) {
    LoadedFile file;
    file.path = path;
    file.id = sources_.add(path, std::move(text));
    file.ast = parse(sources_, file.id, arena_, diagnostics_, options_.limits);
    chain_.push_back({identity, path, Span()});
    for (ast::Stmt* s : file.ast.body) {
      if (s->kind != ast::StmtKind::import && s->kind != ast::StmtKind::from_import) continue;
      const ast::Source& source = s->kind == ast::StmtKind::import ? ast::as<ast::ImportStmt>(*s).source
                                                                   : ast::as<ast::FromImportStmt>(*s).source;
      ResolvedImport import;
      import.statement = s;
      if (source.is_path)
        import.file = import_file(source, path);
      else
        import.stdlib_module = import_module(source, path);
      file.imports.push_back(std::move(import));
    }
    chain_.pop_back();
    program_.files.push_back(std::move(file));
    std::size_t index = program_.files.size() - 1;
    loaded_[identity] = index;
    return index;
  }

  std::string import_module(const ast::Source& source, const std::string& importer) {
    std::string name(source.text);
    if (stdlib_.has_module(name)) return name;
    auto report = diagnostics_.report(Diag::no_such_module, source.span, {name});
    std::string as_file = name;
    for (char& c : as_file) c = c == '.' ? '/' : c;
    as_file += ".rcn";
    if (files_.read(join_path(folder_of(importer), as_file), options_.limits.file_bytes).status ==
        FileRead::Status::ok) {
      std::size_t cut = name.rfind('.');
      report.help(Diag::help_text, {"a file is imported by its path: `import \"" + as_file + "\" as " +
                                    (cut == std::string::npos ? name : name.substr(cut + 1)) + "`"});
    } else if (std::vector<std::string> near = nearest_names(name, stdlib_.modules()); !near.empty()) {
      report.help(Diag::help_did_you_mean, {quoted_list(near)});
    }
    return {};
  }

  std::size_t import_file(const ast::Source& source, const std::string& importer) {
    std::vector<std::string> searched{folder_of(importer)};
    searched.insert(searched.end(), options_.import_dirs.begin(), options_.import_dirs.end());
    if (source.text.empty()) {
      diagnostics_.report(Diag::import_not_found, source.span, {""});
      return ResolvedImport::kNone;
    }
    for (const std::string& folder : searched) {
      std::string path = join_path(folder, source.text);
      std::string identity = files_.identity(path);
      // The file itself may have come from elsewhere (standard input): what is in work is never read again.
      for (const Step& step : chain_)
        if (step.identity == identity) return cycle(identity, source.span);
      if (auto it = loaded_.find(identity); it != loaded_.end()) return it->second;
      FileRead read = files_.read(path, options_.limits.file_bytes);
      if (read.status == FileRead::Status::missing) continue;
      loaded_[identity] = ResolvedImport::kNone;  // a file that cannot be read is reported once
      if (read.status != FileRead::Status::ok) {
        report_read(read, source.span, path);
        return ResolvedImport::kNone;
      }
      if (static_cast<std::int64_t>(chain_.size()) > options_.limits.import_depth) {
        diagnostics_.report(Diag::import_depth, source.span, {std::to_string(options_.limits.import_depth)})
            .help(Diag::help_text, {"a higher limit is set with `--limit import_depth=N`"});
        return ResolvedImport::kNone;
      }
      chain_.back().import = source.span;
      return load(path, std::move(read.text), identity);
    }
    std::vector<std::string> shown;
    shown.reserve(searched.size());
    for (std::string& folder : searched) shown.push_back(folder.empty() ? "." : folder);
    auto report = diagnostics_.report(Diag::import_not_found, source.span, {std::string(source.text)});
    report.note(Diag::note_more, Span(), {"searched in " + quoted_list(shown, "and")});
    if (!source.text.ends_with(".rcn")) {
      for (const std::string& folder : searched)
        if (files_.read(join_path(folder, std::string(source.text) + ".rcn"), options_.limits.file_bytes).status ==
            FileRead::Status::ok) {
          report.help(Diag::help_did_you_mean, {"`\"" + std::string(source.text) + ".rcn\"`"});
          break;
        }
    }
    return ResolvedImport::kNone;
  }

  std::size_t cycle(const std::string& identity, Span closing) {
    std::size_t first = 0;
    while (chain_[first].identity != identity) ++first;
    auto report = diagnostics_.report(Diag::import_cycle, closing, {chain_[first].path});
    chain_.back().import = closing;
    for (std::size_t i = first; i < chain_.size(); ++i) {
      const std::string& next = i + 1 < chain_.size() ? chain_[i + 1].path : chain_[first].path;
      report.note(Diag::note_file_imports, chain_[i].import, {chain_[i].path, next});
    }
    return ResolvedImport::kNone;
  }

  FileSystem& files_;
  SourceMap& sources_;
  Arena& arena_;
  const StdlibNames& stdlib_;
  DiagnosticSink& diagnostics_;
  const LoadOptions& options_;
  Program program_;
  std::vector<Step> chain_;
  std::unordered_map<std::string, std::size_t> loaded_;  // by identity
};

}  // namespace

Program load_program(const std::string& path, FileSystem& files, SourceMap& sources, Arena& arena,
                     const StdlibNames& stdlib, DiagnosticSink& diagnostics, const LoadOptions& options) {
  return Loader(files, sources, arena, stdlib, diagnostics, options).run(path, {});
}

Program load_text(const std::string& path, std::string text, FileSystem& files, SourceMap& sources, Arena& arena,
                  const StdlibNames& stdlib, DiagnosticSink& diagnostics, const LoadOptions& options) {
  return Loader(files, sources, arena, stdlib, diagnostics, options).run(path, std::move(text));
}

}  // namespace rcn
