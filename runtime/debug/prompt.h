// The debugger's prompt: commands, and expressions of the language.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/debug/debugger.h"
#include "runtime/debug/line_reader.h"

namespace rcn {

class Prompt {
 public:
  Prompt(EagerDebugger& debugger, std::ostream& out);

  // Says where the program stands and why, and reads commands until one lets it go on. Quitting throws StopEvaluation.
  void open(const std::string& why);

 private:
  // A command; true: the program goes on.
  struct Command {
    std::string_view name, short_name, arguments, help;
    bool (Prompt::*run)(const std::string& rest);
  };
  static std::span<const Command> commands();
  static const Command* find_command(const std::string& word);

  bool execute(const std::string& line);
  bool where(const std::string& rest);
  bool list(const std::string& rest);
  bool print(const std::string& rest);
  bool dims(const std::string& rest);
  bool up(const std::string& rest);
  bool down(const std::string& rest);
  bool args(const std::string& rest);
  bool locals(const std::string& rest);
  bool step(const std::string& rest);
  bool next(const std::string& rest);
  bool finish(const std::string& rest);
  bool go_on(const std::string& rest);
  bool break_at(const std::string& rest);
  bool delete_one(const std::string& rest);
  bool set(const std::string& rest);
  bool restart(const std::string& rest);
  bool save(const std::string& rest);
  bool help(const std::string& rest);
  bool quit(const std::string& rest);

  bool nothing_behind(const std::string& rest, std::string_view command);
  void show_place(std::size_t frame, bool with_line);
  void show_variables(bool arguments);
  ast::Expr* parse(const std::string& text);
  std::optional<Value> evaluate(const std::string& text);
  void show_problems(const std::vector<Diagnostic>& problems);
  void show_lines(FileId file, std::uint32_t first, std::uint32_t last, std::uint32_t current);
  std::string position(Span span) const;
  std::vector<std::string> complete(const std::string& before, const std::string& word);

  EagerDebugger& debugger_;
  std::ostream& out_;
  LineReader reader_;
  std::size_t frame_ = 0;
  std::string last_line_;
};

}  // namespace rcn
