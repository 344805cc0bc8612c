#include "runtime/debug/breakpoints.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "compiler/eval/evaluator.h"
#include "compiler/syntax/walk.h"
#include "runtime/show/selector.h"

namespace rcn {

namespace {

std::string trimmed(std::string_view text) {
  std::size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string_view::npos ? std::string() : std::string(text.substr(begin, end - begin + 1));
}

bool parse_line(std::string_view text, std::uint32_t& line) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), line);
  return error == std::errc() && end == text.data() + text.size() && line > 0;
}

// `loop[3].decoder.att` without the steps of loops: `decoder.att`.
std::string without_steps(std::string_view name) {
  std::string result;
  for (std::size_t begin = 0; begin < name.size();) {
    std::size_t end = std::min(name.find_first_of("./", begin), name.size() - 1) + 1;
    std::string_view part = name.substr(begin, end - begin);
    if (!part.ends_with("].")) result += part;
    begin = end;
  }
  return result;
}

// Statements in the order of the text, each before those in it.
void collect(ast::Block block, std::vector<ast::Stmt*>& statements) {
  for (ast::Stmt* s : block) {
    statements.push_back(s);
    for_each_block(*s, [&](ast::Block inner) { collect(inner, statements); });
  }
}

// Of a function or module the first statement of its body: what stops in each call.
ast::Stmt* that_runs(ast::Stmt* s) {
  while (s->kind == ast::StmtKind::fn || s->kind == ast::StmtKind::module || s->kind == ast::StmtKind::network) {
    ast::Block body;
    for_each_block(*s, [&](ast::Block inner) { body = inner; });
    if (body.empty()) return nullptr;
    s = body[0];
  }
  return s;
}

bool resolve_line(Breakpoint& b, Stopped& program, std::string& error) {
  const UserFile* file = nullptr;
  for (const UserFile& f : program.files()) {
    bool same = b.file.empty() || f.name == b.file || f.name.ends_with("/" + b.file);
    if (same && !file) file = &f;
  }
  if (!file) {
    error = "the program has no file `" + b.file + "`";
    return false;
  }
  std::vector<ast::Stmt*> statements;
  collect(file->ast.body, statements);
  auto line = [&](std::uint32_t offset) { return program.sources().locate(file->file, offset).line; };
  std::uint32_t next = 0;
  for (ast::Stmt* s : statements) {
    std::uint32_t begin = line(s->span.begin);
    if (begin > b.line && (next == 0 || begin < next)) next = begin;
    if (begin != b.line) continue;
    if (ast::Stmt* first = that_runs(s)) {
      b.at = first->span;
      return true;
    }
  }
  error = "no statement begins in line " + std::to_string(b.line) + " of `" + file->name + "`";
  if (next != 0) error += "; the next one is in line " + std::to_string(next);
  return false;
}

}  // namespace

bool parse_breakpoint(const std::string& where, Breakpoint& b, std::string& error) {
  b.where = where;
  std::string place = trimmed(where);
  std::size_t condition = (" " + place + " ").find(" if ");
  if (condition != std::string::npos) {
    b.condition = trimmed(place.substr(std::min(place.size(), condition + 3)));
    place = trimmed(place.substr(0, condition == 0 ? 0 : condition - 1));
    if (b.condition.empty()) {
      error = "behind `if` stands a condition";
      return false;
    }
  }
  static constexpr std::pair<std::string_view, Breakpoint::Kind> kWords[] = {
      {"nan", Breakpoint::Kind::nan}, {"first", Breakpoint::Kind::first}, {"error", Breakpoint::Kind::error}};
  for (const auto& [word, kind] : kWords) {
    if (place != word) continue;
    b.kind = kind;
    if (b.condition.empty()) return true;
    error = "`" + place + "` goes with no condition";
    return false;
  }
  std::size_t colon = place.rfind(':');
  if (colon != std::string::npos ||
      std::all_of(place.begin() + place.starts_with('-'), place.end(), [](unsigned char c) { return std::isdigit(c); })) {
    b.kind = Breakpoint::Kind::line;
    b.file = colon == std::string::npos ? "" : place.substr(0, colon);
    if (parse_line(std::string_view(place).substr(colon == std::string::npos ? 0 : colon + 1), b.line)) return true;
    error = "a line is a number: `12` or `model.rcn:12`";
    if (!place.empty()) return false;
  }
  if (place.empty() || place.find_first_of(" \t") != std::string::npos) {
    error =
        "a place is a line (`12`, `model.rcn:12`), a name (`encoder/layers/*`), `nan`, `first` or `error`, and may "
        "have a condition: `decoder/att if max(energy) > 50`";
    return false;
  }
  b.kind = Breakpoint::Kind::name;
  b.glob = place;
  return true;
}

bool resolve_breakpoint(Breakpoint& b, Stopped& program, std::string& error) {
  b.armed.clear();
  b.last = {};
  b.trouble.clear();
  b.hits = 0;
  b.when = nullptr;
  if (!b.condition.empty()) {
    std::vector<Diagnostic> problems;
    b.when = program.parse("the condition", b.condition, problems);
    if (!b.when) {
      error = "in the condition: " + problem_text(problems);
      return false;
    }
  }
  return b.kind != Breakpoint::Kind::line || resolve_line(b, program, error);
}

bool name_fits(const Breakpoint& b, std::string_view name) {
  std::string plain = without_steps(name);
  if (plain.find_first_of("./") == std::string::npos && glob_match(b.glob, "main." + plain)) return true;
  return glob_match(b.glob, name) || glob_match(b.glob, plain);
}

std::string problem_text(const std::vector<Diagnostic>& problems) {
  for (const Diagnostic& d : problems)
    if (diag_info(d.kind).severity == Severity::error) return format_message(d.kind, d.args);
  return "what it reads has no value: its statement failed";
}

}  // namespace rcn
