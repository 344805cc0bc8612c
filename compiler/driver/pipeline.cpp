#include "compiler/driver/pipeline.h"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <iterator>

#include "compiler/diag/render.h"
#include "compiler/driver/log.h"
#include "compiler/driver/operation_map.h"
#include "compiler/driver/stdlib_index.h"
#include "compiler/emit/source_map.h"
#include "compiler/graph/pack.h"
#include "compiler/graph/passes.h"
#include "compiler/ops/graph_backend.h"
#include "compiler/sema/check.h"
#include "compiler/sema/loader.h"

namespace rcn {

namespace {

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

#ifdef RCNC_VERIFY
void verify_or_throw(const Graph& graph, const LiveLayers& layers, std::string_view pass) {
  std::vector<std::string> problems = verify(graph, layers, pass);
  if (!problems.empty()) throw std::logic_error("illegal graph after " + std::string(pass) + ": " + problems[0]);
}
#else
void verify_or_throw(const Graph&, const LiveLayers&, std::string_view) {}
#endif

}  // namespace

StageTimer::StageTimer(Session& session, const char* stage) : session_(session), before_(session.stage), start_(now_us()) {
  session.stage = stage;
}

StageTimer::~StageTimer() {
  if (session_.options.verbose) {
    char text[64];
    std::snprintf(text, sizeof text, ": %.3f ms", static_cast<double>(now_us() - start_) / 1000.0);
    log_info(session_.stage + text);
  }
  session_.stage = before_;
}

void print_diagnostics(const Messages& messages, const Options& options) {
  print_diagnostics(messages.diagnostics, messages.sources, options);
}

void print_diagnostics(const DiagnosticSink& diagnostics, const SourceMap& sources, const Options& options) {
  RenderOptions render{options.max_errors, options.color};
  std::string text = options.diagnostics == DiagnosticsForm::json ? render_json(diagnostics, sources, render)
                                                                  : render_text(diagnostics, sources, render);
  std::cerr << text;
}

bool load(Session& session, const std::string& model) {
  StdlibIndex stdlib(session.ops);
  RealFileSystem file_system;
  LoadOptions options{session.options.import_dirs, session.options.limits};
  Program program;
  {
    StageTimer timer(session, "parse");
    if (model == "-") {
      std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
      program = load_text(session.options.stdin_name, std::move(text), file_system, session.sources, session.arena, stdlib,
                          session.diagnostics, options);
    } else {
      program = load_program(model, file_system, session.sources, session.arena, stdlib, session.diagnostics, options);
    }
  }
  if (program.files.empty()) return false;
  {
    StageTimer timer(session, "check");
    check_program(program, stdlib, session.diagnostics);
  }
  if (session.failed()) return false;
  // The evaluator wants the model first.
  auto position = [&](std::size_t i) { return i == program.main ? 0 : static_cast<int>(i < program.main ? i + 1 : i); };
  std::vector<std::size_t> order = {program.main};
  for (std::size_t i = 0; i < program.files.size(); ++i)
    if (i != program.main) order.push_back(i);
  for (std::size_t i : order) {
    const LoadedFile& loaded = program.files[i];
    UserFile& file = session.files.emplace_back();
    file.name = loaded.path;
    file.file = loaded.id;
    file.ast = loaded.ast;
    for (const ResolvedImport& import : loaded.imports) {
      const ast::Source& source = import.statement->kind == ast::StmtKind::import
                                      ? ast::as<ast::ImportStmt>(*import.statement).source
                                      : ast::as<ast::FromImportStmt>(*import.statement).source;
      file.imports.emplace_back(std::string(source.text), import.stdlib_module.empty() ? position(import.file) : -1);
    }
  }
  return true;
}

EvalResult run(Session& session, Backend& backend, std::function<bool(const std::vector<ExternInput>&)> declare_inputs,
               Debugger* debugger) {
  StageTimer timer(session, "evaluate");
  EvalOptions options;
  options.defines = session.options.defines;
  options.mode = session.options.mode;
  options.set = session.options.set;
  options.flags_only = session.flags_only;
  options.limits = session.options.limits;
  EvalInput input{session.files, stdlib_image(), session.ops, session.sources, session.arena, session.context,
                  std::move(declare_inputs), debugger};
  return evaluate(input, options, backend);
}

Compiled compile(Session& session) {
  Graph graph;
  GraphBackend backend(graph, session.ops, session.context);
  bool mapped = session.options.command == Command::verify;
  OperationMap operations;
  NumberingBackend numbering(backend, [&](const NumberedTensor& made) { operations.add(made); });
  EvalResult result = run(session, mapped ? static_cast<Backend&>(numbering) : backend);
  if (!result.ok) return {};
  backend.finish();
  LiveLayers layers;
  if (static_cast<std::int64_t>(graph.layers.size()) > session.options.limits.layers) {
    session.diagnostics.report(Diag::limit_layers, Span{}, {std::to_string(session.options.limits.layers)});
    return {};
  }
  {
    StageTimer timer(session, "graph passes");
    pack_results(graph, session.context.dims, session.diagnostics);
    if (session.failed()) return {};
    layers = drop_dead(graph);
    verify_or_throw(graph, layers, "drop_dead");
    merge_equal(graph, layers);
    verify_or_throw(graph, layers, "merge_equal");
    use_linear(graph, layers);
    verify_or_throw(graph, layers, "use_linear");
    fuse_elementwise(graph, layers);
    verify_or_throw(graph, layers, "fuse_elementwise");
    assign_names(layers, graph.entries);
    verify_or_throw(graph, layers, "assign_names");
    add_order_anchor(graph, layers);
    verify_or_throw(graph, layers, "add_order_anchor");
  }
  StageTimer timer(session, "emit");
  Compiled compiled{emit(graph, layers, session.sources, session.options.emit, session.diagnostics), std::move(result.parameters), {}, {}};
  if (mapped || !session.options.source_map.empty()) compiled.source_map = source_map(layers, session.sources);
  if (mapped) compiled.operations = operations.json(layers, session.sources);
  return compiled;
}

}  // namespace rcn
