#include "runtime/debug/prompt.h"

#include <algorithm>
#include <charconv>
#include <ostream>

#include "compiler/diag/render.h"
#include "runtime/debug/debug_view.h"
#include "runtime/kernel.h"

namespace rcn {

namespace {

constexpr std::uint32_t kLinesAround = 5;
constexpr std::size_t kCallsShown = 20, kOuterCalls = 5;  // of deep recursions

std::string trimmed(const std::string& text) {
  std::size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? std::string() : text.substr(begin, end - begin + 1);
}

// The first word, and what stands behind it.
std::pair<std::string, std::string> split_word(const std::string& line) {
  std::size_t end = line.find_first_of(" \t");
  if (end == std::string::npos) return {line, ""};
  return {line.substr(0, end), trimmed(line.substr(end))};
}

template <class T>
bool parse_number(std::string_view text, T& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Where `x = value` is divided: not at `==` and the like.
std::size_t find_equals(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '=') continue;
    if (i + 1 < text.size() && text[i + 1] == '=') {
      ++i;
    } else if (i == 0 || std::string_view("<>!").find(text[i - 1]) == std::string_view::npos) {
      return i;
    }
  }
  return std::string::npos;
}

}  // namespace

std::span<const Prompt::Command> Prompt::commands() {
  static constexpr Command kCommands[] = {
      {"where", "bt", "", "the calls that lead here, the innermost last", &Prompt::where},
      {"list", "l", "[LINE | FIRST-LAST]", "source lines around the place, or those", &Prompt::list},
      {"print", "p", "EXPR", "a value, valid frames only; any line that is no command does the same", &Prompt::print},
      {"dims", "", "EXPR", "the dims of a tensor with their sizes and lengths", &Prompt::dims},
      {"args", "a", "", "the arguments of the call", &Prompt::args},
      {"locals", "", "", "all variables of the call", &Prompt::locals},
      {"up", "u", "", "to the call around", &Prompt::up},
      {"down", "d", "", "to the call inside", &Prompt::down},
      {"step", "s", "", "to the next statement, also in a call", &Prompt::step},
      {"next", "n", "", "to the next statement of the selected call", &Prompt::next},
      {"finish", "r", "", "until the selected call has returned", &Prompt::finish},
      {"continue", "c", "", "to the next breakpoint or error", &Prompt::go_on},
      {"break", "b", "[WHERE]", "one more breakpoint, as --break says; without WHERE lists them", &Prompt::break_at},
      {"delete", "", "N", "removes breakpoint N", &Prompt::delete_one},
      {"set", "", "x = EXPR", "a new value for a variable, extern, option or parameter", &Prompt::set},
      {"restart", "", "", "runs the model anew, with changed options, externs and parameters", &Prompt::restart},
      {"save", "", "FILE.npz EXPR, ...", "writes tensors", &Prompt::save},
      {"help", "h", "[COMMAND]", "what the commands do", &Prompt::help},
      {"quit", "q", "", "ends the run", &Prompt::quit},
  };
  return kCommands;
}

const Prompt::Command* Prompt::find_command(const std::string& word) {
  for (const Command& c : commands())
    if (!word.empty() && (c.name == word || c.short_name == word)) return &c;
  return nullptr;
}

Prompt::Prompt(EagerDebugger& debugger, std::ostream& out)
    : debugger_(debugger),
      out_(out),
      reader_([this](const std::string& before, const std::string& word) { return complete(before, word); }) {}

void Prompt::open(const std::string& why) {
  frame_ = 0;
  if (!why.empty()) out_ << why << '\n';
  show_place(0, true);
  for (;;) {
    out_.flush();
    std::optional<std::string> read = reader_.read("(rcn) ");
    if (!read) {
      if (reader_.terminal()) out_ << '\n';
      debugger_.leave(EagerDebugger::End::quit);
    }
    std::string line = trimmed(*read);
    if (reader_.terminal()) {  // an empty line says the last one again
      if (line.empty()) line = last_line_;
      if (line != "#") last_line_ = line;
    }
    if (!line.empty() && line[0] != '#' && execute(line)) break;
  }
  out_.flush();
}

bool Prompt::execute(const std::string& line) {
  auto [word, rest] = split_word(line);
  if (const Command* command = find_command(word)) return (this->*command->run)(rest);
  return print(line);
}

bool Prompt::nothing_behind(const std::string& rest, std::string_view command) {
  if (rest.empty()) return true;
  out_ << "`" << command << "` takes nothing behind it; `print " << command << " " << rest << "` shows an expression\n";
  return false;
}

// ---- places

std::string Prompt::position(Span span) const {
  const SourceMap& sources = debugger_.program().sources();
  if (!span.valid()) return "?";
  LineColumn at = sources.locate(span.file, span.begin);
  return sources.name(span.file) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

void Prompt::show_place(std::size_t i, bool with_line) {
  CallFrame frame = debugger_.program().frame(i);
  out_ << (i == frame_ ? "> " : "  ") << position(frame.place) << " in " << frame.what;
  for (const std::string& region : debugger_.regions(i)) out_ << ", " << region;
  out_ << '\n';
  if (!with_line || !frame.place.valid()) return;
  std::uint32_t line = debugger_.program().sources().locate(frame.place.file, frame.place.begin).line;
  show_lines(frame.place.file, line, line, line);
}

void Prompt::show_lines(FileId file, std::uint32_t first, std::uint32_t last, std::uint32_t current) {
  const SourceMap& sources = debugger_.program().sources();
  std::string_view text = sources.text(file);
  auto count = static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n')) + (text.ends_with('\n') ? 0 : 1);
  for (std::uint32_t n = first; n <= std::min(last, count); ++n) {
    std::string number = std::to_string(n);
    bool breaks = std::any_of(debugger_.breakpoints().begin(), debugger_.breakpoints().end(), [&](const Breakpoint& b) {
      return b.kind == Breakpoint::Kind::line && b.at.file == file && sources.locate(file, b.at.begin).line == n;
    });
    out_ << (breaks ? 'B' : ' ') << (n == current && first != last ? "->" : "  ")
         << std::string(number.size() < 4 ? 4 - number.size() : 0, ' ') << number << " | " << sources.line(file, n)
         << '\n';
  }
}

bool Prompt::where(const std::string& rest) {
  if (!nothing_behind(rest, "where")) return false;
  std::size_t depth = debugger_.program().depth();
  for (std::size_t i = depth; i-- > 0;) {
    if (depth > kCallsShown && i + kOuterCalls == depth - 1) {
      std::size_t inner = std::max(kCallsShown - kOuterCalls, frame_ + 1);
      if (i + 1 > inner) out_ << "  ... " << i + 1 - inner << " calls\n";
      i = std::min(i, inner - 1);
    }
    show_place(i, false);
  }
  return false;
}

bool Prompt::list(const std::string& rest) {
  CallFrame frame = debugger_.program().frame(frame_);
  std::uint32_t current = debugger_.program().sources().locate(frame.place.file, frame.place.begin).line;
  std::uint32_t first = current, last = 0;
  std::size_t dash = rest.find('-');
  bool right = rest.empty() || parse_number(std::string_view(rest).substr(0, dash), first);
  if (dash != std::string::npos)
    right = right && parse_number(std::string_view(rest).substr(dash + 1), last) && first <= last;
  if (!right || first == 0) {
    out_ << "`list` takes a line, or lines `10-20`\n";
    return false;
  }
  if (last == 0) {
    last = first + kLinesAround;
    first = first > kLinesAround ? first - kLinesAround : 1;
  }
  show_lines(frame.place.file, first, last, current);
  return false;
}

bool Prompt::up(const std::string& rest) {
  if (!nothing_behind(rest, "up")) return false;
  if (frame_ + 1 == debugger_.program().depth()) {
    out_ << "this is the outermost call\n";
    return false;
  }
  ++frame_;
  show_place(frame_, true);
  return false;
}

bool Prompt::down(const std::string& rest) {
  if (!nothing_behind(rest, "down")) return false;
  if (frame_ == 0) {
    out_ << "this is the innermost call\n";
    return false;
  }
  --frame_;
  show_place(frame_, true);
  return false;
}

// ---- values

void Prompt::show_problems(const std::vector<Diagnostic>& problems) {
  if (problems.empty()) {
    out_ << "error: " << problem_text(problems) << '\n';
    return;
  }
  DiagnosticSink sink;
  for (const Diagnostic& d : problems) sink.add(d);
  out_ << render_text(sink, debugger_.program().sources());
}

ast::Expr* Prompt::parse(const std::string& text) {
  std::vector<Diagnostic> problems;
  ast::Expr* e = debugger_.program().parse("prompt", text, problems);
  if (e) return e;
  show_problems(problems);
  return nullptr;
}

std::optional<Value> Prompt::evaluate(const std::string& text) {
  ast::Expr* e = parse(text);
  if (!e) return std::nullopt;
  Evaluated result = debugger_.program().evaluate(frame_, *e);
  if (!result.value) show_problems(result.problems);
  return result.value;
}

bool Prompt::print(const std::string& rest) {
  if (rest.empty()) {
    out_ << "`print` takes an expression\n";
  } else if (std::optional<Value> value = evaluate(rest)) {
    show_value(out_, rest, *value, debugger_.run().lengths);
  }
  return false;
}

bool Prompt::dims(const std::string& rest) {
  std::optional<Value> value = evaluate(rest);
  if (!value) return false;
  if (!value->is_tensor() && !value->is_dim()) {
    out_ << "`dims` takes a tensor or a dim, not " << kind_text(*value) << '\n';
  } else {
    show_dims(out_, *value, debugger_.run().lengths);
  }
  return false;
}

void Prompt::show_variables(bool arguments) {
  std::vector<FrameVariable> variables = debugger_.program().variables(frame_);
  if (arguments) std::erase_if(variables, [](const FrameVariable& v) { return !v.argument; });
  if (variables.empty()) out_ << (arguments ? "no arguments\n" : "no variables\n");
  std::size_t width = 0;
  for (const FrameVariable& v : variables) width = std::max(width, v.name.str().size());
  for (const FrameVariable& v : variables)
    out_ << v.name.str() << std::string(width - v.name.str().size() + 2, ' ')
         << described(v.value, debugger_.run().lengths) << '\n';
}

bool Prompt::args(const std::string& rest) {
  if (nothing_behind(rest, "args")) show_variables(true);
  return false;
}

bool Prompt::locals(const std::string& rest) {
  if (nothing_behind(rest, "locals")) show_variables(false);
  return false;
}

bool Prompt::set(const std::string& rest) {
  std::size_t equals = find_equals(rest);
  if (equals == std::string::npos) {
    out_ << "`set` is written `set x = EXPR`\n";
    return false;
  }
  ast::Expr* target = parse(trimmed(rest.substr(0, equals)));
  ast::Expr* value = target ? parse(trimmed(rest.substr(equals + 1))) : nullptr;
  if (!value) return false;
  Changed changed = debugger_.program().set(frame_, *target, *value);
  if (changed.what == Changed::What::nothing) {
    show_problems(changed.problems);
    return false;
  }
  debugger_.remember(changed);
  out_ << changed.name << "  " << described(changed.value, debugger_.run().lengths) << '\n';
  if (changed.what == Changed::What::option)
    out_ << "what was made with the old value stays; `restart` makes it anew\n";
  return false;
}

}  // namespace rcn
