// Commands of the prompt that let the program go on, or are about breakpoints, files and the commands themselves; and
// completion.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <ostream>

#include "runtime/data/array_file.h"
#include "runtime/debug/prompt.h"
#include "runtime/kernel.h"
#include "runtime/show/report.h"

namespace rcn {

bool Prompt::step(const std::string& rest) {
  if (!nothing_behind(rest, "step")) return false;
  debugger_.go(EagerDebugger::Going::step, 0);
  return true;
}

bool Prompt::next(const std::string& rest) {
  if (!nothing_behind(rest, "next")) return false;
  debugger_.go(EagerDebugger::Going::next, frame_);
  return true;
}

bool Prompt::finish(const std::string& rest) {
  if (!nothing_behind(rest, "finish")) return false;
  debugger_.go(EagerDebugger::Going::finish, frame_);
  return true;
}

bool Prompt::go_on(const std::string& rest) { return nothing_behind(rest, "continue"); }

bool Prompt::quit(const std::string& rest) {
  if (nothing_behind(rest, "quit")) debugger_.leave(EagerDebugger::End::quit);
  return false;
}

bool Prompt::restart(const std::string& rest) {
  if (nothing_behind(rest, "restart")) debugger_.leave(EagerDebugger::End::restart);
  return false;
}

bool Prompt::break_at(const std::string& rest) {
  if (rest.empty()) {
    if (debugger_.breakpoints().empty()) out_ << "no breakpoints\n";
    for (const Breakpoint& b : debugger_.breakpoints())
      out_ << b.number << "  " << b.where << "  reached " << b.hits << (b.hits == 1 ? " time\n" : " times\n");
    return false;
  }
  std::string error;
  if (debugger_.add_breakpoint(rest, error)) {
    out_ << "breakpoint " << debugger_.breakpoints().back().number << ": " << rest << '\n';
  } else {
    out_ << "error: " << error << '\n';
  }
  return false;
}

bool Prompt::delete_one(const std::string& rest) {
  int number = 0;
  auto [end, wrong] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (wrong != std::errc() || end != rest.data() + rest.size()) {
    out_ << "`delete` takes the number of a breakpoint; `break` lists them\n";
  } else if (!debugger_.remove_breakpoint(number)) {
    out_ << "there is no breakpoint " << number << '\n';
  }
  return false;
}

// One expression or several with commas between; each array has the text of its expression as its name.
bool Prompt::save(const std::string& rest) {
  std::size_t end = rest.find_first_of(" \t");
  std::string path = rest.substr(0, end);
  if (!path.ends_with(".npz") || end == std::string::npos) {
    out_ << "`save` is written `save FILE.npz EXPR, ...`\n";
    return false;
  }
  ast::Expr* whole = parse(rest.substr(end + 1));
  if (!whole) return false;
  std::vector<ast::Expr*> items{whole};
  if (whole->kind == ast::ExprKind::tuple) {
    auto tuple = ast::as<ast::TupleExpr>(*whole).items;
    items.assign(tuple.begin(), tuple.end());
  }
  std::vector<SavedTensor> tensors;
  for (ast::Expr* item : items) {
    std::string name = debugger_.text(item->span);
    Evaluated result = debugger_.program().evaluate(frame_, *item);
    if (!result.value) {
      show_problems(result.problems);
      return false;
    }
    if (!result.value->is_tensor() || debugger_.program().on_types()) {
      out_ << "`" << name << "` is " << kind_text(*result.value) << ": `save` writes tensors that have values\n";
      return false;
    }
    tensors.push_back(saved_tensor(name, shown(result.value->tensor()), debugger_.run().lengths));
  }
  try {
    save_results(path, {}, tensors, debugger_.run().lengths);
  } catch (const ArrayFileError& error) {
    out_ << "error: " << error.what() << '\n';
  }
  return false;
}

bool Prompt::help(const std::string& rest) {
  const Command* one = rest.empty() ? nullptr : find_command(rest);
  if (!rest.empty() && !one) {
    out_ << "there is no command `" << rest << "`\n";
    return false;
  }
  for (const Command& c : commands()) {
    if (one && &c != one) continue;
    std::string head(c.name);
    if (!c.short_name.empty()) head += ", " + std::string(c.short_name);
    if (!c.arguments.empty()) head += " " + std::string(c.arguments);
    out_ << head << std::string(head.size() < 30 ? 30 - head.size() : 1, ' ') << c.help << '\n';
  }
  if (!one)
    out_ << "\nAnything else is an expression in the language, in the selected call. There `max min mean sum any all`\n"
            "of a tensor reduce over all its dims.\n";
  return false;
}

std::vector<std::string> Prompt::complete(const std::string& before, const std::string& word) {
  std::vector<std::string> candidates;
  if (before.ends_with('.')) {
    std::size_t begin = before.size() - 1;
    auto part = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_.[]").find(c) != std::string_view::npos;
    };
    while (begin > 0 && part(before[begin - 1])) --begin;
    std::vector<Diagnostic> problems;
    ast::Expr* object = debugger_.program().parse("prompt", before.substr(begin, before.size() - 1 - begin), problems);
    if (object) candidates = debugger_.program().members(frame_, *object);
  } else {
    candidates = debugger_.program().names(frame_);
    if (before.empty())
      for (const Command& c : commands()) candidates.emplace_back(c.name);
  }
  std::erase_if(candidates, [&](const std::string& c) { return !c.starts_with(word); });
  std::sort(candidates.begin(), candidates.end());
  return candidates;
}

}  // namespace rcn
