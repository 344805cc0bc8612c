#include "compiler/driver/modes.h"

#include <algorithm>
#include <memory>

#include "compiler/base/suggest.h"

namespace rcn {

namespace {

// One mode's compilation: the parsed files are shared, everything else is its own.
struct ModeRun {
  Options options;
  DiagnosticSink diagnostics;
  Session session;
  Compiled compiled;

  ModeRun(const Session& loaded, const std::string& mode)
      : options(loaded.options), session(options, loaded.sources, diagnostics) {
    options.mode = mode;
    session.files = loaded.files;
  }
};

// Dims of two compilations are equal if they are called the same and are of the same size.
std::string type_of(const Parameter& p) {
  std::string text;
  for (Dim d : p.type.dims) text += (text.empty() ? "" : ", ") + to_string(d) + "=" + std::to_string(*d->size);
  std::string sparse = p.type.sparse_dim ? "index(" + to_string(p.type.sparse_dim) + ") as " : "";
  return sparse + std::string(to_string(p.type.dtype)) + "[" + text + "]";
}

void compare_parameters(const ModeRun& first, const ModeRun& other, DiagnosticSink& diagnostics) {
  Span network;
  for (const ast::Stmt* s : first.session.files[0].ast.body)
    if (s->kind == ast::StmtKind::network) network = s->span;
  std::vector<Note> differences;
  for (const Parameter& p : other.compiled.parameters) {
    const auto& known = first.compiled.parameters;
    auto it = std::find_if(known.begin(), known.end(), [&](const Parameter& q) { return q.path == p.path; });
    if (it == known.end()) {
      differences.push_back({Diag::note_parameter, p.span, {p.path, "not in the mode `" + first.options.mode + "`"}});
    } else if (type_of(*it) != type_of(p)) {
      differences.push_back({Diag::note_parameter,
                             p.span,
                             {p.path, type_of(p) + ", in the mode `" + first.options.mode + "` " + type_of(*it)}});
    }
  }
  if (differences.empty()) return;
  std::string count = differences.size() == 1 ? "a parameter" : std::to_string(differences.size()) + " parameters";
  auto builder = diagnostics.report(Diag::modes_parameters, network, {other.options.mode, count, first.options.mode});
  for (Note& n : differences) builder.note(n.kind, n.span, std::move(n.args));
  builder.help(Diag::help_text, {"a checkpoint of the first mode must have what the others load"});
}

}  // namespace

std::vector<std::string> compile_modes(Session& session) {
  std::vector<std::unique_ptr<ModeRun>> runs;
  for (const std::string& mode : session.options.modes) {
    runs.push_back(std::make_unique<ModeRun>(session, mode));
    runs.back()->compiled = compile(runs.back()->session);
  }
  // A message that several modes have is shown once.
  for (const auto& run : runs)
    for (const Diagnostic& item : run->diagnostics.items()) {
      std::vector<std::string> modes;
      for (const auto& other : runs) {
        const auto& items = other->diagnostics.items();
        if (std::find(items.begin(), items.end(), item) != items.end())
          modes.push_back("`" + other->options.mode + "`");
      }
      auto builder = session.diagnostics.add(item);
      if (modes.size() == runs.size() || item.kind == Diag::unknown_mode) continue;
      std::string names;
      for (std::size_t i = 0; i < modes.size(); ++i)
        names += (i == 0 ? "" : i + 1 == modes.size() ? " and " : ", ") + modes[i];
      builder.note(Diag::note_more, Span{}, {(modes.size() == 1 ? "in the mode " : "in the modes ") + names});
    }
  if (session.failed()) return {};
  for (std::size_t i = 1; i < runs.size(); ++i) compare_parameters(*runs[0], *runs[i], session.diagnostics);
  if (session.failed()) return {};
  std::vector<std::string> texts;
  for (const auto& run : runs) texts.push_back(std::move(run->compiled.text));
  return texts;
}

}  // namespace rcn
