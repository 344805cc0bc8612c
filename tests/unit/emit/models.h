// Networks built by hand, as the compiler would build them: for the tests of the printers, here and in RETURNN.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/emit/emit.h"

namespace rcn::test {

struct Model {
  DimTable dims;
  Graph graph;
  SourceMap sources;
  LiveLayers layers;

  Model() { graph.batch = dims.batch(); }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  Dim dynamic(const std::string& name) { return dims.declare(name, DimKind::spatial, std::nullopt); }
  Dim feature(const std::string& name, std::int64_t size) { return dims.declare(name, DimKind::feature, size); }
  Dim times(Dim d, std::int64_t n) { return dims.mul(d, dims.constant(n)); }

  const Layer* data(const std::string& name, std::vector<Dim> dims, Dim sparse_dim = nullptr, bool in_inference = true);
  const Layer* add(const std::string& path, std::string cls, OptionDict options, TensorType type);
  // A layer at the root under a name of the user's: a mark.
  const Layer* mark(const std::string& name, std::string cls, OptionDict options, TensorType type);
  const Layer* variable(const std::string& path, std::vector<Dim> dims);
  const Layer* linear(const std::string& path, const Layer* x, Dim in, Dim out, Option activation = {});
  const Layer* lstm(const std::string& path, const Layer* x, Dim in, Dim out, Dim time, int direction);

  // Inside of a region: a layer, one that has its name from the start, and RETURNN's own (`:i`).
  const Layer* inner(const Region& region, const std::string& base, std::string cls, OptionDict options,
                     TensorType type);
  const Layer* named(const Region& region, const std::string& name, std::string cls, OptionDict options,
                     TensorType type);
  const Layer* builtin(const Region& region, const std::string& name, TensorType type);
  // The owner of a region: a loop over an axis.
  const Layer* loop(const Region* parent, const std::string& base, Region& body, Dim axis, TensorType type);

  // Cross entropy, frame error and scores of framewise logits, as marks.
  void classify(const Layer* logits, const Layer* targets, Dim classes);
  void finish();

  std::string text(const EmitOptions& options, DiagnosticSink& diagnostics) const {
    return emit(graph, layers, sources, options, diagnostics);
  }
  std::string text(const EmitOptions& options = {}) const {
    DiagnosticSink diagnostics;
    return text(options, diagnostics);
  }

 private:
  const NameScope* scope(const std::string& path);
  Span next_line();
  Layer& place(const std::string& path, std::string cls, OptionDict options, TensorType type);
  std::vector<std::pair<std::string, const NameScope*>> scopes_;
  FileId file_ = 0;
  std::uint32_t line_ = 0;
};

// tagger, mlp, hybrid (two BLSTM layers), ctc, shapes (reductions, broadcasts, embeddings), pointwise (norms, switches,
// constants), inputs (externs of many shapes), chain-N, loops (states, two stacked outputs, a last state), nested (a
// loop and a cond in a loop), branches (a loop and a cond in a branch), deep-N-M (a body of M layers in a row on N at
// the root), odd (values of all kinds; no network for RETURNN); null for another name.
std::unique_ptr<Model> make_model(const std::string& name);

}  // namespace rcn::test
