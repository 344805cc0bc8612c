#include "compiler/driver/flags_list.h"

#include <algorithm>
#include <array>

#include "compiler/ops/graph_backend.h"

namespace rcn {

namespace {

std::string source_text(const FlagSource& source, const SourceMap& sources) {
  if (!source.text.empty()) return source.text;
  LineColumn at = sources.locate(source.span.file, source.span.begin);
  return sources.name(source.span.file) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

std::string state_text(const FlagState& state, const SourceMap& sources) {
  std::string text = std::string(to_string(state.value)) + " (" + source_text(state.source, sources);
  if (state.locked) text += ", locked";
  for (std::size_t i = 0; i < state.passed_by.size(); ++i)
    text += (i == 0 ? "; passed by: " : ", ") + source_text(state.passed_by[i], sources);
  return text + ")";
}

}  // namespace

std::string list_flags(Session& session) {
  Graph graph;
  GraphBackend backend(graph, session.ops, session.context);
  session.flags_only = true;
  EvalResult result = run(session, backend);
  if (!result.ok) return {};
  std::vector<std::array<std::string, 5>> rows = {{"module", "class", "train", "search", ""}};
  for (const ModuleFlags& module : result.flags) {
    std::array<std::string, 5>& row = rows.emplace_back();
    row[0] = module.path.empty() ? "network" : module.path;
    row[1] = module.path.empty() ? "" : module.class_name;
    row[2] = state_text(module.flags[0], session.sources);
    row[3] = state_text(module.flags[1], session.sources);
    for (std::size_t i = 2; i < module.flags.size(); ++i)
      row[4] += (i > 2 ? "  " : "") + module.flags[i].name.str() + "=" + state_text(module.flags[i], session.sources);
  }
  if (std::any_of(rows.begin(), rows.end(), [](const auto& row) { return !row[4].empty(); })) rows[0][4] = "own flags";
  std::array<std::size_t, 5> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line.resize(line.size() + widths[i] - row[i].size() + 2, ' ');
    }
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace rcn
