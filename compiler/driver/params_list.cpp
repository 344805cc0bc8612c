#include "compiler/driver/params_list.h"

#include <algorithm>

#include "compiler/base/number_text.h"
#include "compiler/ops/graph_backend.h"

namespace rcn {

std::string list_parameters(Session& session) {
  Graph graph;
  GraphBackend backend(graph, session.ops, session.context);
  EvalResult result = run(session, backend);
  if (!result.ok) return {};
  struct Row { std::string path, dims, dtype, options; };
  std::vector<Row> rows;
  std::int64_t values = 0;
  for (const Parameter& p : result.parameters) {
    Row row{p.path, "[" + dims_text(p.type.dims) + "]", std::string(to_string(p.type.dtype)), {}};
    std::int64_t count = 1;
    for (Dim d : p.type.dims) count *= *d->size;
    values += count;
    row.options = p.trainable ? "trainable" : "fixed";
    if (p.auxiliary) row.options += " auxiliary";
    if (p.weight_decay) row.options += " weight_decay=" + number_text(*p.weight_decay);
    if (p.updater_opts.is_record()) row.options += " updater_opts=" + to_text(p.updater_opts);
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.path < b.path; });
  std::size_t path_width = 0, dims_width = 0, dtype_width = 0;
  for (const Row& row : rows) {
    path_width = std::max(path_width, row.path.size());
    dims_width = std::max(dims_width, row.dims.size());
    dtype_width = std::max(dtype_width, row.dtype.size());
  }
  auto padded = [](std::string text, std::size_t width) {
    text.resize(std::max(width, text.size()), ' ');
    return text + "  ";
  };
  std::string text;
  for (const Row& row : rows)
    text += padded(row.path, path_width) + padded(row.dims, dims_width) + padded(row.dtype, dtype_width) + row.options + "\n";
  text += std::to_string(rows.size()) + " parameters, " + std::to_string(values) + " values\n";
  return text;
}

}  // namespace rcn
