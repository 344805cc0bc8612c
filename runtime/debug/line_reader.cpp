#include "runtime/debug/line_reader.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/interrupt.h"

#ifdef RCNC_HAVE_LIBEDIT
#include <editline/readline.h>
#endif

namespace rcn {

namespace {

// One line of standard input, byte by byte: what stands behind it is left to the next.
std::optional<std::string> plain_line() {
  std::string line;
  for (;;) {
    char c = 0;
    ssize_t count = ::read(STDIN_FILENO, &c, 1);
    if (count < 0 && errno == EINTR && take_interrupt()) return std::string("#");
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return line.empty() ? std::nullopt : std::optional(line);
    if (c == '\n') return line;
    if (c != '\r') line += c;
  }
}

#ifdef RCNC_HAVE_LIBEDIT

LineReader::Complete completer;

char** complete(const char* word, int start, int) {
  rl_attempted_completion_over = 1;  // no names of files
  std::vector<std::string> found = completer(std::string(rl_line_buffer, static_cast<std::size_t>(start)), word);
  if (found.empty()) return nullptr;
  // What they have in common, then each, then null.
  std::string common = found[0];
  for (const std::string& f : found) {
    std::size_t n = 0;
    while (n < common.size() && n < f.size() && common[n] == f[n]) ++n;
    common.resize(n);
  }
  auto** result = static_cast<char**>(std::malloc((found.size() + 2) * sizeof(char*)));
  result[0] = strdup(common.c_str());
  std::size_t n = 1;
  if (found.size() > 1)
    for (const std::string& f : found) result[n++] = strdup(f.c_str());
  result[n] = nullptr;
  return result;
}

#endif

}  // namespace

LineReader::LineReader(Complete complete_word) : terminal_(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
#ifdef RCNC_HAVE_LIBEDIT
  if (!terminal_) return;
  completer = std::move(complete_word);
  rl_initialize();
  rl_readline_name = const_cast<char*>("rcnc");
  rl_attempted_completion_function = complete;
  rl_completion_append_character = '\0';
  static char breaks[] = " \t\n()[]{},+-*/%<>=!.:";
  rl_basic_word_break_characters = breaks;
  using_history();
#else
  static_cast<void>(complete_word);
#endif
}

LineReader::~LineReader() {
#ifdef RCNC_HAVE_LIBEDIT
  if (terminal_) completer = nullptr;
#endif
}

std::optional<std::string> LineReader::read(const std::string& prompt) {
  InterruptibleRead interruptible;
  if (!terminal_) return plain_line();
#ifdef RCNC_HAVE_LIBEDIT
  char* text = readline(prompt.c_str());
  bool interrupted = take_interrupt();
  if (!text && interrupted) {
    std::puts("");
    return std::string("#");
  }
  if (!text) return std::nullopt;
  std::string line = text;
  std::free(text);
  if (!line.empty()) add_history(line.c_str());
  return line;
#else
  std::fputs(prompt.c_str(), stdout);
  std::fflush(stdout);
  return plain_line();
#endif
}

}  // namespace rcn
