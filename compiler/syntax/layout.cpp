#include "compiler/syntax/layout.h"

#include <algorithm>
#include <string>

namespace rcn {

namespace {

// A line that ends with one of these goes on in the next one.
bool continues_line(Tk t) {
  switch (t) {
    case Tk::LBRACE:
    case Tk::COMMA:
    case Tk::ASSIGN:
    case Tk::ARROW:
    case Tk::RESULT:
    case Tk::PLUS_EQ:
    case Tk::MINUS_EQ:
    case Tk::STAR_EQ:
    case Tk::SLASH_EQ:
    case Tk::PLUS:
    case Tk::MINUS:
    case Tk::STAR:
    case Tk::POWER:
    case Tk::SLASH:
    case Tk::FLOORDIV:
    case Tk::PERCENT:
    case Tk::EQ:
    case Tk::NE:
    case Tk::LT:
    case Tk::LE:
    case Tk::GT:
    case Tk::GE:
    case Tk::AND:
    case Tk::OR:
    case Tk::NOT:
    case Tk::IN:
    case Tk::ELSE: return true;
    default: return false;
  }
}

// A line that begins with one of these goes on with the one before.
bool continues_previous(Tk t) {
  return t == Tk::RBRACE || t == Tk::ELSE || t == Tk::ELIF || t == Tk::WITH || t == Tk::RESULT;
}

Tk closer_of(Tk opener) {
  return opener == Tk::LPAREN ? Tk::RPAREN : opener == Tk::LBRACKET ? Tk::RBRACKET : Tk::RBRACE;
}
std::string_view spelling(Tk t) {
  switch (t) {
    case Tk::LPAREN: return "(";
    case Tk::RPAREN: return ")";
    case Tk::LBRACKET: return "[";
    case Tk::RBRACKET: return "]";
    case Tk::LBRACE: return "{";
    default: return "}";
  }
}

class Layout {
 public:
  Layout(std::vector<Token>& tokens, ParseContext& context, const Limits& limits)
      : in_(tokens), ctx_(context), limit_(static_cast<std::size_t>(std::max<std::int64_t>(limits.nesting, 1))) {}

  bool run() {
    out_.reserve(in_.size() + in_.size() / 8 + 8);
    levels_.emplace_back();  // the file itself
    for (; at_ < in_.size(); ++at_) {
      const Token& t = in_[at_];
      if (t.type == Tk::END) break;
      if (t.type == Tk::SEP) {
        separator(t);
        continue;
      }
      if (t.line_start && levels_.size() > 1) close_before_statement(t);
      if (opens(t.type)) {
        open(t);
      } else if (closes(t.type)) {
        close(t);
      } else {
        push(t);
      }
      if (too_deep(t)) return false;
    }
    end();
    in_.swap(out_);
    return true;
  }

 private:
  struct Level {
    Tk opener = Tk::END;
    bool block = true;
    std::uint32_t begin = 0;    // of the opener
    std::size_t statement = 0;  // where in out_ the current statement of a block began
    std::size_t header = 0;     // where in out_ the statement that a block belongs to began
    // What nests without brackets, since the last comma or operator that ends it.
    std::size_t unary = 0;         // `- - x`, `not not x`
    std::size_t powers = 0;        // `a ** b ** c`
    std::size_t trailers = 0;      // `f(x)(y).z`
    std::size_t conditionals = 0;  // `a if b else c if d else e`, `fn() => fn() => x`
    std::size_t depth() const { return 1 + unary + powers + trailers + conditionals; }
  };

  Level& top() { return levels_.back(); }
  Tk last() const { return out_.empty() ? Tk::SEP : out_.back().type; }
  bool in_brackets() { return top().opener == Tk::LPAREN || top().opener == Tk::LBRACKET; }
  const Token& next_of(std::size_t i, std::size_t ahead) const { return in_[std::min(i + ahead, in_.size() - 1)]; }

  Token made(Tk type, std::uint32_t where) const {
    Token t;
    t.type = type;
    t.bad = true;
    t.begin = t.end = where;
    return t;
  }

  // Where the line of `offset` begins, and how many blanks it begins with.
  std::size_t line_begin(std::uint32_t offset) const {
    std::size_t newline = offset == 0 ? std::string_view::npos : ctx_.text.rfind('\n', offset - 1);
    return newline == std::string_view::npos ? 0 : newline + 1;
  }
  std::size_t indent(std::uint32_t offset) const {
    std::size_t begin = line_begin(offset), i = begin;
    while (i < ctx_.text.size() && (ctx_.text[i] == ' ' || ctx_.text[i] == '\t')) ++i;
    return i - begin;
  }

  std::size_t header_indent(const Level& level) const { return indent(out_[level.header].begin); }

  // An error on this line was reported already: brackets are not counted against the user there.
  bool line_is_marked(std::uint32_t offset) const {
    std::size_t begin = line_begin(offset);
    std::size_t end = std::min(ctx_.text.find('\n', offset), ctx_.text.size());
    return std::any_of(ctx_.marks.begin(), ctx_.marks.end(), [&](std::uint32_t m) { return m >= begin && m <= end; });
  }

  // ---- newlines

  void separator(const Token& t) {
    if (!ctx_.is_newline(t)) {
      if (top().block && last() != Tk::SEP && last() != Tk::LBRACE)
        end_statement(t);
      else if (!top().block)
        push(t);
      return;
    }
    std::size_t n = at_;
    while (in_[n].type == Tk::SEP && ctx_.is_newline(in_[n])) ++n;
    const Token& next = in_[n];
    if (in_brackets() || continues_line(last()) || continues_previous(next.type) || last() == Tk::SEP) return;
    if (top().block && next.type == Tk::LBRACE && header_waits()) {
      ctx_.report(Diag::brace_on_next_line, ctx_.span(next))
          .help(Diag::help_text, {"put the `{` at the end of the line above"});
      return;
    }
    if (!top().block) {
      // A record ends its entries with commas; without one the bracket was forgotten, unless an entry follows.
      bool entry = (is_name(next.type) || next.type == Tk::STRING) && next_of(n, 1).type == Tk::COLON;
      if (entry || next.type == Tk::COMMA) return;
      missing_closer(out_.back().end);
      if (!top().block) return;
    }
    end_statement(t);
  }

  void end_statement(const Token& separator) {
    Token t = separator;
    out_.push_back(t);
    begin_statement();
  }
  void begin_statement() {
    Level& level = top();
    level.statement = out_.size();
    level.unary = level.powers = level.trailers = level.conditionals = 0;
  }

  // The current statement is a header whose block has not come yet.
  bool header_waits() {
    std::size_t i = top().statement;
    if (i >= out_.size() || last() == Tk::RBRACE) return false;
    return owns_block(i);
  }
  bool owns_block(std::size_t i) const {
    switch (out_[i].type) {
      case Tk::IF:
      case Tk::ELIF:
      case Tk::ELSE:
      case Tk::FOR:
      case Tk::MODULE:
      case Tk::NETWORK:
      case Tk::LOOP:
      case Tk::MASKED: return true;
      case Tk::FN:
      case Tk::MODE: return i + 1 < out_.size() && is_name(out_[i + 1].type);
      default: return false;
    }
  }

  // ---- brackets

  void open(const Token& t) {
    Level level;
    level.opener = t.type;
    level.begin = t.begin;
    level.block = false;
    if (t.type == Tk::LBRACE) {
      bool else_of_if = last() == Tk::ELSE && (after_else_ || out_.back().line_start);
      bool block = ends_operand(last()) || last() == Tk::NETWORK || else_of_if;
      if (block && in_brackets() && ends_operand(last())) {
        // No operand goes on with `{`: the bracket before it was not closed.
        while (in_brackets() || !top().block) missing_closer(out_.back().end);
      }
      level.block = block && top().block;
      level.header = top().statement;
    }
    push(t);
    out_.back().block = level.block;
    levels_.push_back(level);
    if (level.block) begin_statement();
  }

  void close(const Token& t) {
    if (t.type == Tk::RBRACE) {
      while (levels_.size() > 1 && in_brackets() && has_open(Tk::LBRACE)) missing_closer(out_.back().end);
    } else if (top().opener != (t.type == Tk::RPAREN ? Tk::LPAREN : Tk::LBRACKET)) {
      Tk opener = t.type == Tk::RPAREN ? Tk::LPAREN : Tk::LBRACKET;
      if (has_open(opener, true)) {
        while (top().opener != opener) missing_closer(out_.back().end);
      } else if (in_brackets()) {
        wrong_closer(t);
        return;
      }
    }
    if (levels_.size() == 1 || closer_of(top().opener) != t.type) return superfluous(t);
    pop(t);
  }

  // Is there such a bracket in this block (or anywhere)?
  bool has_open(Tk opener, bool same_block = false) const {
    for (std::size_t i = levels_.size(); i-- > 1;) {
      if (levels_[i].opener == opener) return true;
      if (same_block && levels_[i].block) return false;
    }
    return false;
  }

  void pop(Token t) {
    bool block = top().block;
    if (block) {
      if (last() != Tk::SEP && last() != Tk::LBRACE) out_.push_back(made(Tk::SEP, t.begin));
      // Where the indentation first disagrees with the brackets, one is most likely missing or too many.
      if (t.line_start) {
        std::size_t column = indent(t.begin), header = header_indent(top());
        if (!suspect_ && column < header) suspect_ = top().begin + 1;
        if (!early_ && column > header) early_ = top().begin + 1;
      }
    }
    t.block = block;
    levels_.pop_back();
    out_.push_back(t);
    after_else_ = false;
    closed_block_ = block;
    // What follows a block's `}` on the same line is another part of the statement.
    if (block) top().unary = top().powers = top().trailers = top().conditionals = 0;
  }

  void wrong_closer(const Token& t) {
    Tk wanted = closer_of(top().opener);
    if (!line_is_marked(t.begin))
      ctx_.report(Diag::wrong_closer, ctx_.span(t), {std::string(spelling(wanted)), std::string(spelling(t.type))})
          .note(Diag::note_bracket_opened, ctx_.span(top().begin, top().begin + 1),
                {std::string(spelling(top().opener))});
    Token mended = t;
    mended.type = wanted;
    mended.bad = true;
    pop(mended);
  }

  void superfluous(const Token& t) {
    if (line_is_marked(t.begin)) return;
    if (t.type == Tk::RBRACE && closed_early_ > 0) {
      --closed_early_;  // its block was closed further up, and that was reported
      return;
    }
    auto report = ctx_.report(Diag::superfluous_closer, ctx_.span(t), {std::string(spelling(t.type))});
    if (t.type == Tk::RBRACE) ctx_.blocks_unsure = true;
    if (t.type == Tk::RBRACE && early_) report.note(Diag::note_block_ends_early, ctx_.span(early_ - 1, early_));
    early_ = 0;
  }

  // Closes the innermost bracket at `where` and says so.
  void missing_closer(std::uint32_t where) {
    const Level level = top();
    if (!line_is_marked(level.begin) && !line_is_marked(where)) {
      std::string wanted(spelling(closer_of(level.opener)));
      std::uint32_t blamed = level.block && suspect_ && suspect_ - 1 >= level.begin ? suspect_ - 1 : level.begin;
      ctx_.report(Diag::missing_closer, ctx_.span(where, where), {wanted})
          .note(Diag::note_bracket_opened, ctx_.span(blamed, blamed + 1), {std::string(spelling(level.opener))});
    }
    suspect_ = 0;
    pop(made(closer_of(level.opener), where));
  }

  // A line that can only begin a statement, inside of open brackets: what was open before it was meant to be closed.
  void close_before_statement(const Token& t) {
    if (top().block) {
      close_blocks_before(t);
      return;
    }
    if (!begins_statement(t)) return;
    std::uint32_t where = out_.back().end;
    while (!top().block) missing_closer(where);
    if (last() != Tk::SEP && last() != Tk::LBRACE) end_statement(made(Tk::SEP, where));
  }

  bool begins_statement(const Token& t) {
    const Token& following = next_of(at_, 1);
    switch (t.type) {
      case Tk::MODULE:
      case Tk::NETWORK:
      case Tk::IMPORT:
      case Tk::RETURN:
      case Tk::LOOP:
      case Tk::MASKED:
      case Tk::ASSERT:
      case Tk::FROM: return true;
      case Tk::FN:
        if (is_name(following.type)) return true;
        break;
      case Tk::FOR: return !has_open(Tk::LBRACKET, true);
      case Tk::OVER:
      case Tk::MAX: break;
      default:
        if (is_soft_word(t.type) && is_name(following.type)) return true;
    }
    // Two operands in a row: a comma was forgotten, or the bracket if the line is not indented below the bracket's.
    bool two_operands = ends_operand(last()) && (is_name(t.type) || t.type == Tk::FN || t.type == Tk::INT ||
                                                 t.type == Tk::FLOAT || t.type == Tk::STRING);
    return two_operands && top().opener != Tk::LBRACE && indent(t.begin) <= indent(bracket_begin());
  }
  std::uint32_t bracket_begin() const {
    std::size_t i = levels_.size() - 1;
    while (i > 1 && !levels_[i - 1].block) --i;
    return levels_[i].begin;
  }

  // Declarations that no block (or no function) may hold, and that are indented no more than an open block.
  void close_blocks_before(const Token& t) {
    const Token& following = next_of(at_, 1);
    bool of_file = t.type == Tk::MODULE || (t.type == Tk::NETWORK && following.type == Tk::LBRACE) ||
                   t.type == Tk::IMPORT || t.type == Tk::FROM ||
                   ((t.type == Tk::EXTERN || t.type == Tk::OPTION) && is_name(following.type));
    bool function = t.type == Tk::FN && is_name(following.type);
    if (!of_file && !function) return;
    std::size_t keep = levels_.size();
    std::size_t column = indent(t.begin);
    for (std::size_t i = levels_.size(); i-- > 1;) {
      if (header_indent(levels_[i]) < column) break;
      if (of_file || out_[levels_[i].header].type == Tk::FN) keep = i;
    }
    if (keep == levels_.size()) return;
    // One message: the others are consequences.
    std::uint32_t where = out_.back().type == Tk::SEP && out_.size() > 1 ? out_[out_.size() - 2].end : out_.back().end;
    missing_closer(where);
    ++closed_early_;
    for (; levels_.size() > keep; ++closed_early_) pop(made(Tk::RBRACE, where));
    end_statement(made(Tk::SEP, where));
  }

  void end() {
    std::uint32_t where = static_cast<std::uint32_t>(ctx_.text.size());
    while (where > 0 && (ctx_.text[where - 1] == '\n' || ctx_.text[where - 1] == '\r' || ctx_.text[where - 1] == ' '))
      --where;
    bool told = false;
    while (levels_.size() > 1) {
      if (!told) {
        missing_closer(where);
        told = true;
      } else {
        pop(made(closer_of(top().opener), where));
      }
    }
    if (last() != Tk::SEP) out_.push_back(made(Tk::SEP, where));
    Token end = in_[at_];
    out_.push_back(end);
  }

  // ---- tokens and depth

  void push(const Token& t) {
    bool operand_before = ends_operand(last());
    if (t.type == Tk::ELSE) after_else_ = last() == Tk::RBRACE && closed_block_;
    out_.push_back(t);
    count(t, operand_before);
  }

  void count(const Token& t, bool operand_before) {
    Level& level = top();
    switch (t.type) {
      case Tk::MINUS:
        if (!operand_before) {
          ++level.unary;
          break;
        }
        [[fallthrough]];
      case Tk::PLUS:
      case Tk::STAR:
      case Tk::SLASH:
      case Tk::FLOORDIV:
      case Tk::PERCENT:
      case Tk::EQ:
      case Tk::NE:
      case Tk::LT:
      case Tk::LE:
      case Tk::GT:
      case Tk::GE:
      case Tk::AND:
      case Tk::OR:
      case Tk::IN:
      case Tk::IF: level.unary = level.powers = level.trailers = 0; break;
      case Tk::NOT:
        if (operand_before)
          level.unary = level.powers = level.trailers = 0;
        else
          ++level.unary;
        break;
      case Tk::POWER:
        ++level.powers;
        level.trailers = 0;
        break;
      case Tk::ELSE:
      case Tk::ARROW:
        level.unary = level.powers = level.trailers = 0;
        ++level.conditionals;
        break;
      case Tk::DOT: ++level.trailers; break;
      case Tk::LPAREN:
      case Tk::LBRACKET:
        if (operand_before) ++level.trailers;
        break;
      case Tk::LBRACE:
        if (operand_before) level.unary = level.powers = level.trailers = level.conditionals = 0;
        break;
      case Tk::COMMA:
      case Tk::SEP:
      case Tk::ASSIGN:
      case Tk::COLON: level.unary = level.powers = level.trailers = level.conditionals = 0; break;
      default: break;
    }
  }

  bool too_deep(const Token& t) {
    std::size_t depth = 0;
    for (const Level& level : levels_) depth += level.depth();
    if (depth - 1 <= limit_) return false;
    ctx_.report(Diag::nesting_limit, ctx_.span(t), {std::to_string(limit_)})
        .help(Diag::help_text, {"give parts of it names of their own; a higher limit is set with `--limit nesting=N`"});
    return true;
  }

  std::vector<Token>& in_;
  std::vector<Token> out_;
  ParseContext& ctx_;
  std::size_t limit_;
  std::size_t at_ = 0;
  std::vector<Level> levels_;
  bool closed_block_ = false;     // the last bracket closed was a block's
  bool after_else_ = false;       // the last `else` followed a block
  std::size_t closed_early_ = 0;  // blocks that were taken to end before a declaration
  std::uint32_t suspect_ = 0;     // one more than the place of a `{` that may lack its `}`; 0: none
  std::uint32_t early_ = 0;       // the same for a `{` that may have met a `}` too many
};

}  // namespace

bool lay_out(std::vector<Token>& tokens, ParseContext& context, const Limits& limits) {
  return Layout(tokens, context, limits).run();
}

}  // namespace rcn
