#include "compiler/syntax/unexpected.h"

#include <algorithm>
#include <string>

#include "compiler/base/suggest.h"

namespace rcn {

namespace {

const char* spelling(Tk t) {
  switch (t) {
    case Tk::LPAREN: return "(";
    case Tk::RPAREN: return ")";
    case Tk::LBRACKET: return "[";
    case Tk::RBRACKET: return "]";
    case Tk::LBRACE: return "{";
    case Tk::RBRACE: return "}";
    case Tk::COMMA: return ",";
    case Tk::COLON: return ":";
    case Tk::DOT: return ".";
    case Tk::ASSIGN: return "=";
    case Tk::ARROW: return "=>";
    case Tk::RESULT: return "->";
    case Tk::IMPORT: return "import";
    case Tk::IN: return "in";
    case Tk::OVER: return "over";
    case Tk::ELSE: return "else";
    case Tk::AS: return "as";
    default: return nullptr;
  }
}

class Report {
 public:
  Report(ParseContext& context, const std::vector<Token>& tokens, std::size_t at, const Expectation& expected)
      : ctx_(context), tokens_(tokens), at_(at), expected_(expected), start_(statement_start()) {}

  void make() {
    const Token& t = tokens_[at_];
    if (unfinished_line() || several_indices(t) || import_habit(t) || question_mark(t)) return;
    switch (expected_.where) {
      case Expectation::Where::statement: return statement(t);
      case Expectation::Where::end_of_statement: return end_of_statement(t);
      case Expectation::Where::block: return block(t);
      default: other(t);
    }
  }

 private:
  std::string text(std::size_t i) const { return std::string(ctx_.text_of(tokens_[i])); }
  std::string before() const {
    return at_ > 0 && tokens_[at_ - 1].type != Tk::SEP ? " after " + quoted(text(at_ - 1)) : std::string();
  }
  DiagnosticSink::Builder report(Diag kind, std::vector<std::string> args) {
    return ctx_.report(kind, shown_span(), std::move(args));
  }

  // Where the current statement began.
  std::size_t statement_start() const {
    std::size_t i = at_;
    std::size_t depth = 0;
    while (i > 0) {
      Tk t = tokens_[i - 1].type;
      if (depth == 0 && (t == Tk::SEP || tokens_[i - 1].block)) break;
      if (closes(t)) ++depth;
      if (opens(t) && depth > 0) --depth;
      --i;
    }
    return i;
  }

  // Line ends and the end of the file have no width of their own.
  Span shown_span() const {
    const Token& t = tokens_[at_];
    if (t.type == Tk::END || (t.type == Tk::SEP && (t.bad || ctx_.is_newline(t)))) {
      std::uint32_t end = at_ > 0 ? tokens_[at_ - 1].end : t.begin;
      return ctx_.span(end, end);
    }
    return ctx_.span(t);
  }

  std::string found(const Token& t) const {
    switch (t.type) {
      case Tk::END: return "the end of the file";
      case Tk::SEP:
        if (!t.bad) return ctx_.is_newline(t) ? "the end of the line" : "`;`";
        return at_ + 1 < tokens_.size() && tokens_[at_ + 1].type == Tk::RBRACE ? "`}`" : "the end of the file";
      case Tk::STRING: return "a string";
      default: return is_hard_word(t.type) ? "the word " + quoted(ctx_.text_of(t)) : quoted(ctx_.text_of(t));
    }
  }

  // An operator at the end of a line takes the next line in; that shows only when the next line makes no sense.
  bool unfinished_line() {
    std::size_t line = at_;
    while (line > start_ && !tokens_[line].line_start) --line;
    if (line <= start_ || at_ - line > 3) return false;
    const Token& op = tokens_[line - 1];
    bool binary = (op.type >= Tk::PLUS && op.type <= Tk::GT) || op.type == Tk::AND || op.type == Tk::OR ||
                  op.type == Tk::NOT || op.type == Tk::IN || (op.type >= Tk::ASSIGN && op.type <= Tk::SLASH_EQ);
    if (!binary || op.bad) return false;
    std::size_t depth = 0;
    for (std::size_t i = start_; i < line; ++i) {
      if (opens(tokens_[i].type)) ++depth;
      if (closes(tokens_[i].type) && depth > 0) --depth;
    }
    if (depth > 0) return false;
    std::string word(ctx_.text_of(op));
    ctx_.report(Diag::missing_operand, ctx_.span(op), {word})
        .note(Diag::note_line_goes_on, ctx_.span(tokens_[line]), {word});
    return true;
  }

  // `x[:, 0]` and `x[..., 0]`.
  bool several_indices(const Token& t) {
    if (t.type != Tk::COMMA && t.type != Tk::ELLIPSIS) return false;
    std::size_t depth = 0, open = at_;
    while (open > start_ && !(opens(tokens_[open - 1].type) && depth == 0)) {
      --open;
      if (closes(tokens_[open].type)) ++depth;
      if (opens(tokens_[open].type)) --depth;
    }
    bool subscript =
        open > start_ + 1 && tokens_[open - 1].type == Tk::LBRACKET && ends_operand(tokens_[open - 2].type);
    if (!subscript || (t.type == Tk::ELLIPSIS && open != at_)) return false;
    report(Diag::several_indices, {})
        .help(Diag::help_text, {"`nn.gather`, `nn.slice` and `nn.split` take parts of a tensor; an item of a list in a "
                                "list is `x[i][j]`"});
    return true;
  }

  // `import a, b`, `from nn import (a, b)` and the like.
  bool import_habit(const Token& t) {
    const Token& first = tokens_[start_];
    if (at_ == start_ || (first.type != Tk::FROM && first.type != Tk::IMPORT)) return false;
    Tk previous = tokens_[at_ - 1].type;
    std::string help;
    if (first.type == Tk::IMPORT && (t.type == Tk::COMMA || t.type == Tk::FROM || previous == Tk::IMPORT))
      help = t.type == Tk::COMMA                          ? "write an `import` statement for each"
             : t.type == Tk::LBRACE || t.type == Tk::FROM ? "write `from nn import name`"
                                                          : "";
    if (first.type == Tk::FROM && previous == Tk::IMPORT && t.type == Tk::LPAREN)
      help = "the names stand without parentheses";
    if (t.type == Tk::SLASH || t.type == Tk::DOT || t.type == Tk::ELLIPSIS)
      help = "a file is imported by its path: `import \"blocks/common.rcn\"`";
    if (help.empty()) return false;
    std::string wanted = previous == Tk::IMPORT || previous == Tk::FROM ? "a name" : "the end of the statement";
    report(Diag::unexpected_token, {wanted + before(), found(t)}).help(Diag::help_text, {help});
    return true;
  }

  // `c ? a : b`
  bool question_mark(const Token& t) {
    if (t.type != Tk::QUESTION) return false;
    report(Diag::foreign_operator, {"?"}).help(Diag::help_text, {"write `a if condition else b`"});
    return true;
  }

  void without_if() {
    report(Diag::else_without_if, {text(at_)})
        .help(Diag::help_text, {"it follows the `}` of an `if` block, with nothing between"});
  }

  void statement(const Token& t) {
    if (t.type == Tk::ELSE || t.type == Tk::ELIF) return without_if();
    auto r = report(Diag::not_a_statement, {found(t)});
    if (t.type == Tk::PLUS || t.type == Tk::STAR || t.type == Tk::SLASH || t.type == Tk::AND || t.type == Tk::OR ||
        t.type == Tk::DOT)
      r.help(Diag::help_text, {"to go on with the line above, end that line with the operator or use parentheses"});
    if (t.type == Tk::WITH) r.help(Diag::help_text, {"`with` declares the state of a `loop`"});
  }

  void end_of_statement(const Token& t) {
    const Token& first = tokens_[start_];
    if ((t.type == Tk::ELSE || t.type == Tk::ELIF) && t.line_start) return without_if();
    if (t.type == Tk::ASSIGN) {
      bool assigned = std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(start_),
                                  tokens_.begin() + static_cast<std::ptrdiff_t>(at_),
                                  [](const Token& x) { return x.type == Tk::ASSIGN; });
      if (assigned || first.type == Tk::RETURN || first.type == Tk::ASSERT) {
        report(assigned ? Diag::chained_assignment : Diag::assign_in_condition, {})
            .help(Diag::help_text,
                  {assigned ? "write one assignment a line; to compare write `==`" : "to compare write `==`"});
        return;
      }
    }
    if (t.type == Tk::PLUS || t.type == Tk::PLUS_EQ || t.type == Tk::MINUS_EQ) return other(t);
    auto r = report(Diag::unexpected_token, {"the end of the statement" + before(), found(t)});
    if (at_ == start_ + 1 && tokens_[start_].type == Tk::NAME && (is_name(t.type) || t.type == Tk::STRING)) {
      first_word_help(r, text(start_));
    } else if (slashes_before(t)) {
      r.help(Diag::help_text, {"`//` is division without a rest; comments start with `#`"});
    } else if (t.type == Tk::LBRACE) {
      r.help(
          Diag::help_text,
          {"a block follows only `if`, `elif`, `else`, `for`, `loop`, `masked`, `fn`, `module`, `network` and `mode`"});
    } else if (t.type == Tk::COLON && is_soft_word(first.type)) {
      r.help(Diag::help_text, {quoted(ctx_.text_of(first)) + " declares something only where a name follows"});
    } else if (tokens_[start_].type == Tk::IF && t.type == Tk::IF) {
      r.help(Diag::help_text, {"write `elif`"});
    } else if (t.type == Tk::WITH) {
      r.help(Diag::help_text, {"`with` declares the state of a `loop`"});
    } else if (t.type == Tk::STRING && at_ > 0 && tokens_[at_ - 1].type == Tk::STRING) {
      r.help(Diag::help_text, {"`+` joins strings"});
    } else if (at_ > 0 && text(at_ - 1) == "new" && is_name(t.type)) {
      r.help(Diag::help_text, {"an instance is made by a call: `" + text(at_) + "(...)`"});
    }
  }

  bool slashes_before(const Token& t) const {
    for (std::size_t i = at_; i-- > start_ && !t.line_start;) {
      if (tokens_[i].type == Tk::FLOORDIV) return true;
      if (tokens_[i].line_start) break;
    }
    return false;
  }

  void first_word_help(DiagnosticSink::Builder& r, const std::string& word) {
    static const std::vector<std::string> kWords = {
        "import", "from",  "option", "extern", "dim", "param", "flag",   "fn",     "module", "network", "mode",
        "loss",   "error", "output", "stack",  "for", "loop",  "masked", "return", "assert", "if"};
    static constexpr std::string_view kDeclare[] = {"let",   "var",  "val", "const",  "auto",  "int",
                                                    "float", "bool", "str", "tensor", "Tensor"};
    static constexpr std::string_view kFunction[] = {"func", "function", "fun", "sub", "proc"};
    static constexpr std::string_view kModule[] = {"struct", "object", "type", "layer", "net"};
    static constexpr std::string_view kImport[] = {"include", "require", "use", "using"};
    static constexpr std::string_view kScope[] = {"del", "global", "nonlocal"};
    static constexpr std::string_view kChoice[] = {"case", "match", "switch", "unless"};
    auto is_one_of = [&](auto& list) { return std::find(std::begin(list), std::end(list), word) != std::end(list); };
    if (is_one_of(kDeclare)) {
      r.help(Diag::help_text, {"write `name = value`, or `name: type = value`"});
    } else if (is_one_of(kFunction)) {
      r.help(Diag::help_text, {"write `fn name(parameters) { ... }`"});
    } else if (is_one_of(kModule)) {
      r.help(Diag::help_text, {"write `module Name(parameters) { ... }`"});
    } else if (is_one_of(kImport)) {
      r.help(Diag::help_text, {"write `import nn` or `import \"file.rcn\"`"});
    } else if (is_one_of(kScope)) {
      r.help(Diag::help_text, {"a name belongs to the function, module or file that assigns it"});
    } else if (is_one_of(kChoice)) {
      r.help(Diag::help_text, {"write `if condition { ... } elif condition { ... } else { ... }`"});
    } else if (word == "print") {
      r.help(Diag::help_text, {"`rcnc --eager --print NAME` shows a value"});
    } else if (std::vector<std::string> near = nearest_names(word, kWords); !near.empty()) {
      r.help(Diag::help_did_you_mean, {quoted_list(near)});
    }
  }

  void block(const Token& t) {
    const Token& first = tokens_[start_];
    if (t.type == Tk::ASSIGN) {
      report(Diag::assign_in_condition, {}).help(Diag::help_text, {"to compare write `==`"});
    } else if (t.type == Tk::COLON) {
      report(Diag::colon_block, {}).help(Diag::help_text, {"write `{` in place of `:` and `}` after the block"});
    } else {
      auto r = report(Diag::unexpected_token, {"`{`" + before(), found(t)});
      if (slashes_before(t))
        r.help(Diag::help_text, {"`//` is division without a rest; comments start with `#`"});
      else if (t.type == Tk::SEP && first.type == Tk::IF)
        r.help(Diag::help_text, {"the block of an `if` stands in `{ }`"});
    }
  }

  bool entry_may_follow() const {
    return at_ > 0 && (opens(tokens_[at_ - 1].type) || tokens_[at_ - 1].type == Tk::COMMA);
  }

  std::string expected() const {
    if (expected_.expression) return "an expression";
    if (expected_.name) return "a name";
    std::vector<std::string> list;
    bool first_entry = expected_.where == Expectation::Where::closer && entry_may_follow();
    if (expected_.where == Expectation::Where::closer && !first_entry) list.push_back(",");
    for (Tk t : expected_.tokens)
      if (const char* word = spelling(t); word != nullptr && std::find(list.begin(), list.end(), word) == list.end())
        list.push_back(word);
    if (list.empty()) return "something else";
    return (first_entry ? "an entry or " : "") + quoted_list(list);
  }

  void other(const Token& t) {
    bool after_fn = at_ == start_ + 1 && tokens_[start_].type == Tk::FN;
    bool as_entry = expected_.where == Expectation::Where::closer && entry_may_follow();
    if ((expected_.name || after_fn || as_entry) && is_hard_word(t.type)) {
      report(Diag::reserved_word, {text(at_)}).help(Diag::help_text, {"choose another name"});
      return;
    }
    const Token& first = tokens_[start_];
    Tk previous = at_ > 0 ? tokens_[at_ - 1].type : Tk::SEP;
    if (is_soft_word(first.type) && at_ == start_ + 1 && first.type != Tk::OVER && first.type != Tk::MAX &&
        t.type != Tk::SEP) {
      report(Diag::unexpected_token, {"a name or an operator" + before(), found(t)});
      return;
    }
    if (expected_.expression && t.type == Tk::PLUS) {
      report(Diag::unexpected_token, {"an expression" + before(), "`+`"})
          .help(Diag::help_text, {"there is no unary `+`, and `x++` is written `x += 1`"});
      return;
    }
    auto r = report(Diag::unexpected_token, {expected() + before(), found(t)});
    if (first.type == Tk::PARAM && t.type == Tk::SEP &&
        std::count(expected_.tokens.begin(), expected_.tokens.end(), Tk::ASSIGN) > 0) {
      r.help(Diag::help_text, {"a parameter has an initial value: `= 0.0`, `= nn.init.glorot()`"});
    } else if (expected_.expression && t.type == Tk::ASSIGN && previous == Tk::EQ) {
      r.help(Diag::help_text, {"equality is `==`"});
    } else if (expected_.where == Expectation::Where::closer && t.type == Tk::ASSIGN) {
      r.help(Diag::help_text, {"to compare write `==`; an argument is given as `name=value`"});
    } else if (entry_may_follow() && t.type == Tk::STAR && previous == Tk::LBRACKET) {
      r.help(Diag::help_text, {"`+` joins lists"});
    } else if (entry_may_follow() && previous == Tk::LBRACE && !tokens_[at_ - 1].block) {
      r.help(Diag::help_text, {"a list is `[1, 2]`; the fields of a record have names, `{a: 1, b: 2}`"});
    } else if (expected_.where == Expectation::Where::closer && t.type == Tk::FOR) {
      r.help(Diag::help_text, {"a comprehension stands in `[ ]`, its item first: `[f(x) for x in xs]`"});
    } else if (expected_.expression && is_hard_word(t.type) && previous != Tk::SEP) {
      if (t.type == Tk::LOOP || t.type == Tk::MODULE || t.type == Tk::FROM || t.type == Tk::NETWORK ||
          t.type == Tk::MASKED || t.type == Tk::WITH)
        r.help(Diag::help_text, {quoted(ctx_.text_of(t)) + " is a reserved word and cannot be a name"});
    }
  }

  ParseContext& ctx_;
  const std::vector<Token>& tokens_;
  std::size_t at_;
  const Expectation& expected_;
  std::size_t start_;
};

}  // namespace

void report_unexpected(ParseContext& context, const std::vector<Token>& tokens, std::size_t at,
                       const Expectation& expected) {
  Report(context, tokens, at, expected).make();
}

}  // namespace rcn
