// Lines of the debugger's prompt from standard input: with editing, history and completion in a terminal, if libedit
// was there when this was built; else as they come, and without a prompt or echo where no terminal is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rcn {

class LineReader {
 public:
  // What `word` at the end of `before + word` may become.
  using Complete = std::function<std::vector<std::string>(const std::string& before, const std::string& word)>;

  explicit LineReader(Complete complete);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  bool terminal() const { return terminal_; }
  // None at the end of the input. An interrupt gives a comment, `#`.
  std::optional<std::string> read(const std::string& prompt);

 private:
  bool terminal_;
};

}  // namespace rcn
