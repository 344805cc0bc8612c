// Calls operations as the evaluator does: binds arguments, runs the type rule, applies the node, renames claimed dims.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/eval/bind_op.h"
#include "compiler/graph/passes.h"
#include "compiler/ops/graph_backend.h"
#include "compiler/ops/op_table.h"

namespace rcn {

struct OpFixture {
  DimTable dims;
  DimLengths lengths;
  DiagnosticSink diagnostics;
  OpContext context{dims, lengths, diagnostics, false};
  OpTable table;
  Graph graph;
  GraphBackend backend{graph, table, context};

  Dim batch = dims.batch();
  Dim time = dynamic("time"), time2 = dynamic("time2");
  Dim input = feature("input", 3), hidden = feature("hidden", 4), classes = feature("classes", 5);

  Dim feature(std::string name, std::int64_t size) { return dims.declare(std::move(name), DimKind::feature, size); }
  Dim dynamic(std::string name) {
    Dim d = dims.declare(std::move(name), DimKind::spatial, std::nullopt);
    lengths.define(d, {batch});
    return d;
  }
  Dim no_length(std::string name) { return dims.declare(std::move(name), DimKind::spatial, std::nullopt); }

  Tensor extern_tensor(std::string key, std::vector<Dim> of, DType dtype = DType::float32, Dim sparse = nullptr, bool inference = true) {
    ExternInput e;
    e.name = e.key = std::move(key);
    e.type = {std::move(of), dtype, sparse};
    e.available_for_inference = inference;
    return backend.input(e);
  }
  Tensor param(std::string path, std::vector<Dim> of, Value initial = Initializer{Initializer::Kind::uniform, -0.5, 0.5, {}, {}}) {
    Parameter p;
    p.path = std::move(path);
    p.type = {std::move(of), DType::float32, nullptr};
    p.initial = std::move(initial);
    return backend.parameter(p);
  }

  using Keywords = std::vector<std::pair<std::string, Value>>;

  // Throws EvalError where something was reported.
  Value call(std::string_view name, std::vector<Value> args, Keywords keywords = {}) {
    const OpInfo* info = table.find(name);
    Span here{1, ++calls_, calls_ + 1};  // one of its own, so that no report is taken for a repeat
    std::vector<OpArgument> arguments;
    for (Value& v : args) arguments.push_back({Symbol(), here, std::move(v), here});
    for (auto& [key, v] : keywords) arguments.push_back({Symbol(key), here, std::move(v), here});
    auto bound = bind_op(*info, arguments, here, diagnostics);
    if (!bound) throw EvalError{};
    OpCall op(context, *info, std::move(bound->values), std::move(bound->spans), here);
    info->infer(op);
    if (op.has_static()) return op.static_value();
    List results;
    for (Tensor& t : backend.apply(op.node())) results.emplace_back(std::move(t));
    std::vector<Value> extra = op.extra();
    for (const OpCall::Rename& rename : op.renames()) {
      for (Value& result : results)
        if (result.tensor()->type.has(rename.from))
          result = call("replace_dim", {result}, {{"in_dim", rename.from}, {"out_dim", rename.to}}).tuple().items[0];
      for (Value& value : extra)
        if (value.is_dim() && value.dim() == rename.from) value = rename.to;
    }
    results.insert(results.end(), extra.begin(), extra.end());
    if (results.size() == 1) return results[0];
    return Tuple{std::move(results)};
  }
  Tensor tensor(std::string_view name, std::vector<Value> args, Keywords keywords = {}) {
    Value result = call(name, std::move(args), std::move(keywords));
    return result.is_tuple() ? result.tuple().items[0].tensor() : result.tensor();
  }

  // The one diagnostic of a call that fails, with its notes: a line each.
  std::string error(std::string_view name, std::vector<Value> args, Keywords keywords = {}) {
    std::size_t before = diagnostics.size();
    bool failed = false;
    try {
      call(name, std::move(args), std::move(keywords));
    } catch (const EvalError&) {
      failed = true;
    }
    if (!failed) return "no error";
    if (diagnostics.size() != before + 1) return std::to_string(diagnostics.size() - before) + " diagnostics";
    const Diagnostic& d = diagnostics.items().back();
    std::string text = std::string(diag_info(d.kind).code) + " " + format_message(d.kind, d.args);
    for (const Note& n : d.notes) text += "\n" + format_message(n.kind, n.args);
    return text;
  }

  // `class(option keys)` of the live layers behind a tensor, in program order.
  std::vector<const Layer*> layers_of(const Tensor& value) {
    Mark m;
    m.role = MarkRole::output;
    m.name = "out";
    backend.mark(m, value);
    std::vector<const Layer*> result;
    LiveLayers layers = drop_dead(graph);
    for (Layer* layer : layers.root())
      if (!layer->source && layer->name != "out") result.push_back(layer);
    return result;
  }

 private:
  std::uint32_t calls_ = 0;
};

inline List list_of(std::vector<Value> items) { return items; }

}  // namespace rcn
