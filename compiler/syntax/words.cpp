#include "compiler/syntax/words.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "compiler/syntax/text.h"

namespace rcn {

namespace {

struct ForeignWord {
  std::string_view word;
  Tk becomes;  // where it is used as in Python; NAME: left out, its statement is not looked at again
  std::string_view help;
};

// Reserved so that the message can say what to write instead.
constexpr ForeignWord kForeignWords[] = {
    {"False", Tk::FALSE, "write `false`"},
    {"None", Tk::NONE, "write `none`"},
    {"True", Tk::TRUE, "write `true`"},
    {"class", Tk::MODULE, "write `module Name(parameters) { ... }`"},
    {"def", Tk::FN, "write `fn name(parameters) { ... }`"},
    {"is", Tk::EQ, "compare with `==`; `x == none` is static"},
    {"lambda", Tk::NAME, "write `fn(x) => ...`"},
    {"pass", Tk::NAME, "an empty block is `{ }`"},
    {"raise", Tk::NAME, "write `assert condition, \"message\"`"},
    {"self", Tk::NAME, "members are read by their name alone"},
    {"try", Tk::NAME, "there are no exceptions"},
    {"while", Tk::IF, "write `for x in list { ... }`, or `loop t over dim { ... }` for a loop over tensors"},
    {"yield", Tk::NAME, "collect frames with `stack y = ...` in a `loop`, or build a list"},
};

const ForeignWord* find_foreign(std::string_view text) {
  auto it = std::lower_bound(std::begin(kForeignWords), std::end(kForeignWords), text,
                             [](const ForeignWord& a, std::string_view b) { return a.word < b; });
  return it != std::end(kForeignWords) && it->word == text ? it : nullptr;
}

bool is_string_prefix(std::string_view text) {
  static constexpr std::string_view kPrefixes[] = {"f", "r", "b", "u", "F", "R", "B", "U", "fr", "rf", "rb", "br"};
  return std::find(std::begin(kPrefixes), std::end(kPrefixes), text) != std::end(kPrefixes);
}

// A word that declares the name behind it.
bool declares(Tk t) { return t == Tk::FN || t == Tk::MODULE || (is_soft_word(t) && t != Tk::OVER && t != Tk::MAX); }

// After one of these at the end of a line, the next line goes on with the statement.
bool goes_on_after(Tk t) {
  return t == Tk::COMMA || (t >= Tk::ASSIGN && t <= Tk::GT) || t == Tk::AND || t == Tk::OR || t == Tk::NOT ||
         t == Tk::IN || t == Tk::ELSE;
}

// Where an expression stops, or goes on behind a name.
bool follows_name(Tk t) {
  return closes(t) || t == Tk::COMMA || t == Tk::SEP || t == Tk::END || t == Tk::DOT || t == Tk::COLON ||
         (t >= Tk::PLUS && t <= Tk::GT);
}

class WordMender {
 public:
  WordMender(std::vector<Token>& tokens, ParseContext& context) : in_(tokens), ctx_(context) {}

  void run() {
    out_.reserve(in_.size() + 8);
    while (at_ < in_.size()) {
      const Token t = in_[at_];
      if (out_.empty() || out_.back().type == Tk::SEP || out_.back().type == Tk::LBRACE ||
          out_.back().type == Tk::RBRACE)
        statement_ = out_.size();
      if (reserved(t)) continue;
      switch (t.type) {
        case Tk::NAME: name(t); break;
        case Tk::FOR: for_word(t); break;
        case Tk::INT: integer(t); break;
        case Tk::DOT: dot(t); break;
        case Tk::STRING: string(t); break;
        case Tk::PLUS:
        case Tk::MINUS: step(t); break;
        case Tk::STAR:
        case Tk::POWER: star(t); break;
        case Tk::SLASH:
        case Tk::FLOORDIV: slash(t); break;
        case Tk::PERCENT:
          if (!update(t)) keep(t);
          break;
        case Tk::LT:
        case Tk::GT:
        case Tk::LE:
        case Tk::EQ:
        case Tk::NE: two_signs(t); break;
        case Tk::ELSE: else_word(t); break;
        case Tk::COLON: colon(t); break;
        case Tk::ASSIGN: assign(t); break;
        case Tk::BAD_NUMBER: bad_number(t); break;
        case Tk::BAD_NAME: bad_name(t); break;
        case Tk::OPEN_STRING: open_string(t); break;
        case Tk::SINGLE_QUOTED:
          ctx_.report(Diag::single_quotes, ctx_.span(t)).help(Diag::help_text, {"write `\"...\"`"});
          keep_as(t, Tk::STRING);
          break;
        case Tk::BAD: bad(t); break;
        case Tk::LPAREN:
        case Tk::LBRACKET:
          ++depth_;
          keep(t);
          break;
        case Tk::RPAREN:
        case Tk::RBRACKET:
          if (depth_ > 0) --depth_;
          keep(t);
          break;
        case Tk::LBRACE:
        case Tk::RBRACE:
          depth_ = 0;
          keep(t);
          break;
        default: keep(t);
      }
    }
    in_.swap(out_);
  }

 private:
  const Token& next(std::size_t ahead = 1) const { return in_[std::min(at_ + ahead, in_.size() - 1)]; }
  bool adjacent(const Token& a, const Token& b) const { return a.end == b.begin; }
  Tk last() const { return out_.empty() ? Tk::SEP : out_.back().type; }
  bool at_statement_start() const { return out_.size() == statement_; }

  void keep(const Token& t) {
    out_.push_back(t);
    ++at_;
  }
  // Kept as the token that was meant; `used` raw tokens are done with.
  void keep_as(Token t, Tk type, std::size_t used = 1) {
    t.type = type;
    t.bad = true;
    out_.push_back(t);
    at_ += used;
  }
  void skip(std::size_t used = 1) { at_ += used; }
  void skip_to(std::size_t offset) {
    while (at_ + 1 < in_.size() && in_[at_].begin < offset) ++at_;
  }
  void skip_line() {
    while (in_[at_].type != Tk::END && !ctx_.is_newline(in_[at_])) ++at_;
  }

  void name(const Token& t) {
    std::string_view text = ctx_.text_of(t);
    if (const ForeignWord* word = find_foreign(text)) return foreign(t, *word);
    Tk following = next().type;
    if (adjacent(t, next()) &&
        (following == Tk::STRING || following == Tk::SINGLE_QUOTED || following == Tk::OPEN_STRING) &&
        is_string_prefix(text)) {
      auto report = ctx_.report(text == "f" || text == "F" ? Diag::format_string : Diag::string_prefix, ctx_.span(t),
                                {std::string(text)});
      if (text == "f" || text == "F")
        report.help(Diag::help_text, {"join strings with `+`: `\"layer \" + str(i)`"});
      else
        report.help(Diag::help_text, {"a backslash in a string is written `\\\\`"});
      skip();
      if (following == Tk::SINGLE_QUOTED) keep_as(in_[at_], Tk::STRING);
      return;
    }
    if (last() == Tk::RBRACE && (text == "elseif" || text == "elsif")) {
      ctx_.report(Diag::else_if, ctx_.span(t), {std::string(text)}).help(Diag::help_text, {"write `elif`"});
      return keep_as(t, Tk::ELIF);
    }
    keep(t);
  }

  // A reserved word where only a name makes sense: behind a word that declares one, left of `=`, or where such a name
  // is used. It is told where the name is declared, and is an ordinary name from there on.
  bool reserved(const Token& t) {
    bool hard = is_hard_word(t.type);
    if (!hard && (t.type != Tk::NAME || find_foreign(ctx_.text_of(t)) == nullptr)) return false;
    std::string word(ctx_.text_of(t));
    bool known = std::find(reserved_.begin(), reserved_.end(), word) != reserved_.end();
    if (known && used_as_name(t)) {
      keep_as(t, Tk::NAME);
      return true;
    }
    if (!(hard ? declared_here(t) : behind_declaring_word())) return false;
    as_name(t);
    return true;
  }

  void as_name(const Token& t) {
    std::string word(ctx_.text_of(t));
    if (std::find(reserved_.begin(), reserved_.end(), word) == reserved_.end()) {
      ctx_.report(Diag::reserved_word, ctx_.span(t), {word}).help(Diag::help_text, {"choose another name"});
      reserved_.push_back(word);
    }
    keep_as(t, Tk::NAME);
  }

  bool used_as_name(const Token& t) const {
    Tk following = next().type;
    if (behind_declaring_word()) return follows_name(following) || !begins_operand(following);
    if (ends_operand(previous())) return false;
    if (at_statement_start() && depth_ == 0) {
      bool header =
          t.type == Tk::IF || t.type == Tk::ELIF || t.type == Tk::FOR || t.type == Tk::RETURN || t.type == Tk::ASSERT;
      return following == Tk::DOT || (following == Tk::LPAREN && adjacent(t, next()) && !header);
    }
    if (following == Tk::LPAREN || following == Tk::LBRACKET) return t.type != Tk::NOT && t.type != Tk::FN;
    return follows_name(following) || !begins_operand(following);
  }
  Tk previous() const {
    std::size_t i = out_.size();
    while (depth_ > 0 && i > 0 && out_[i - 1].type == Tk::SEP) --i;
    return i == 0 ? Tk::SEP : out_[i - 1].type;
  }

  // The word before begins a statement and declares what stands behind it.
  bool behind_declaring_word() const {
    return depth_ == 0 && out_.size() == statement_ + 1 && declares(last()) && !statement_goes_on();
  }
  bool statement_goes_on() const {
    std::size_t i = statement_;
    while (i > 0 && out_[i - 1].type == Tk::SEP && ctx_.is_newline(out_[i - 1])) --i;
    return i > 0 && i < statement_ && goes_on_after(out_[i - 1].type);
  }

  bool declared_here(const Token& t) const {
    Tk following = next().type;
    if (behind_declaring_word()) {
      // `fn(x) => x` is an expression; the rest of what may follow a declared name stands behind no operator.
      return following == Tk::COLON || following == Tk::ASSIGN || following == Tk::LPAREN ||
             following == Tk::LBRACKET || following == Tk::LBRACE || following == Tk::SEP || following == Tk::RBRACE ||
             following == Tk::END;
    }
    if (at_statement_start() && depth_ == 0)
      return !statement_goes_on() &&
             (following == Tk::ASSIGN || (following >= Tk::PLUS_EQ && following <= Tk::SLASH_EQ));
    if (last() == Tk::FOR) return t.type != Tk::NOT && (following == Tk::IN || following == Tk::COMMA);
    if (last() == Tk::AS || last() == Tk::IMPORT) return true;
    bool params = statement_ + 2 < out_.size() && depth_ == 1 && is_name(out_[statement_ + 1].type) &&
                  (out_[statement_].type == Tk::FN || out_[statement_].type == Tk::MODULE);
    return params && (last() == Tk::LPAREN || last() == Tk::COMMA) &&
           (following == Tk::COMMA || following == Tk::RPAREN || following == Tk::COLON || following == Tk::ASSIGN);
  }

  // `for (i = 0; i < n; i += 1)`
  void for_word(const Token& t) {
    std::size_t end = at_ + 1;
    bool separated = false;
    if (in_[end].type == Tk::LPAREN)
      for (int depth = 0; in_[end].type != Tk::END && !ctx_.is_newline(in_[end]); ++end) {
        if (opens(in_[end].type)) ++depth;
        if (closes(in_[end].type) && --depth == 0) break;
        separated = separated || in_[end].type == Tk::SEP;
      }
    if (!separated || in_[end].type != Tk::RPAREN) return keep(t);
    ctx_.report(Diag::foreign_word, ctx_.span(t.begin, in_[end].end), {"for (...; ...; ...)"})
        .help(Diag::help_text, {"write `for i in range(n) { ... }`"});
    // The first name is most likely the one that counts.
    Token variable = in_[end];
    for (std::size_t i = end; i-- > at_;)
      if (in_[i].type == Tk::NAME && in_[i + 1].type == Tk::ASSIGN) variable = in_[i];
    keep_as(t, Tk::FOR, end + 1 - at_);
    for (Tk type : {Tk::NAME, Tk::IN, Tk::LBRACKET, Tk::RBRACKET}) {
      Token made = type == Tk::NAME ? variable : in_[end];
      made.type = type;
      made.bad = true;
      out_.push_back(made);
    }
  }

  // `x //= 2`: the operators that do not assign. False if this is none.
  bool update(const Token& t) {
    const Token& equals = next();
    if (equals.type != Tk::ASSIGN || !adjacent(t, equals) || depth_ > 0 || !is_name(last())) return false;
    report_update(t, equals.end, std::string(ctx_.text_of(t)), std::string(ctx_.text_of(out_.back())));
    keep_as(t, Tk::ASSIGN, 2);
    return true;
  }
  void report_update(const Token& t, std::uint32_t end, const std::string& sign, const std::string& variable) {
    static constexpr std::pair<std::string_view, std::string_view> kMeant[] = {
        {"&", "and"}, {"&&", "and"}, {"|", "or"}, {"||", "or"}, {"^", "**"}, {"//", "//"}, {"%", "%"}, {"**", "**"}};
    auto meant = std::find_if(std::begin(kMeant), std::end(kMeant), [&](auto& m) { return m.first == sign; });
    std::string help = "the operators that assign are `+=`, `-=`, `*=` and `/=`";
    if (meant != std::end(kMeant))
      help += "; write `" + variable + " = " + variable + " " + std::string(meant->second) + " ...`";
    ctx_.report(Diag::foreign_operator, ctx_.span(t.begin, end), {sign + "="}).help(Diag::help_text, {help});
  }

  // `<>`, `===`, `!==`, `<=>`, `<<` and `>>`, which the lexer takes apart.
  void two_signs(const Token& t) {
    const Token& second = next();
    if (!adjacent(t, second)) return keep(t);
    struct Pair {
      Tk first, second, becomes;
      std::string_view help;
    };
    static constexpr Pair kPairs[] = {
        {Tk::LT, Tk::GT, Tk::NE, "write `!=`"},           {Tk::EQ, Tk::ASSIGN, Tk::EQ, "write `==`"},
        {Tk::NE, Tk::ASSIGN, Tk::NE, "write `!=`"},       {Tk::LE, Tk::GT, Tk::LE, "write `<`, `==` or `>`"},
        {Tk::LT, Tk::LT, Tk::STAR, "write `x * 2 ** n`"}, {Tk::GT, Tk::GT, Tk::FLOORDIV, "write `x // 2 ** n`"},
    };
    if ((t.type == Tk::LT && second.type == Tk::LE) || (t.type == Tk::GT && second.type == Tk::GE)) {
      report_update(t, second.end, t.type == Tk::LT ? "<<" : ">>", {});
      return keep_as(t, Tk::ASSIGN, 2);
    }
    for (const Pair& p : kPairs)
      if (p.first == t.type && p.second == second.type) {
        ctx_.report(Diag::foreign_operator, ctx_.span(t.begin, second.end),
                    {std::string(ctx_.text.substr(t.begin, second.end - t.begin))})
            .help(Diag::help_text, {std::string(p.help)});
        return keep_as(t, p.becomes, 2);
      }
    keep(t);
  }

  void foreign(const Token& t, const ForeignWord& word) {
    std::string text(word.word);
    Tk following = next().type;
    bool start = at_statement_start() && following != Tk::ASSIGN && following != Tk::DOT;
    bool used_as_there = false;
    switch (word.becomes) {
      case Tk::TRUE:
      case Tk::FALSE:
      case Tk::NONE: used_as_there = last() != Tk::DOT && following != Tk::ASSIGN; break;
      case Tk::EQ: used_as_there = ends_operand(last()); break;
      case Tk::FN:
      case Tk::MODULE: used_as_there = start && is_name(following); break;
      default:
        used_as_there = word.word == "lambda" ? is_name(following) || following == Tk::COLON || following == Tk::STAR
                        : word.word == "self" ? last() != Tk::DOT && following != Tk::ASSIGN
                                              : start;
    }
    if (!used_as_there) return as_name(t);
    ctx_.report(Diag::foreign_word, ctx_.span(t), {text}).help(Diag::help_text, {std::string(word.help)});
    if (word.becomes == Tk::EQ && following == Tk::NOT) return keep_as(t, Tk::NE, 2);
    if (word.word == "self") return following == Tk::DOT ? skip(2) : keep_as(t, Tk::NAME);
    if (word.becomes == Tk::NAME) return skip();
    keep_as(t, word.becomes);
  }

  // `1.` and `1.e5`; `1.x` is told as the same mistake.
  void integer(const Token& t) {
    if (next().type != Tk::DOT || !adjacent(t, next()) || (last() == Tk::DOT && adjacent(out_.back(), t)))
      return keep(t);
    std::string digits(ctx_.text_of(t));
    std::string_view after = ctx_.text_of(next(2));
    bool exponent = next(2).type == Tk::NAME && adjacent(next(), next(2)) && (after[0] == 'e' || after[0] == 'E');
    std::string meant = digits + ".0" + (exponent ? std::string(after) : std::string());
    ctx_.report(Diag::float_point, ctx_.span(t.begin, next().end)).help(Diag::help_text, {"write `" + meant + "`"});
    keep_as(t, Tk::FLOAT, exponent ? 3 : 2);
  }

  void dot(const Token& t) {
    Tk following = next().type;
    bool number = (following == Tk::INT || following == Tk::FLOAT) && adjacent(t, next());
    if (!number || ends_operand(last())) return keep(t);
    std::string digits(ctx_.text_of(next()));
    ctx_.report(Diag::float_point, ctx_.span(t.begin, next().end)).help(Diag::help_text, {"write `0." + digits + "`"});
    Token value = next();
    value.line_start = t.line_start;
    keep_as(value, Tk::FLOAT, 2);
  }

  // """ opens no longer string.
  void string(const Token& t) {
    bool empty = t.end - t.begin == 2;
    if (!empty || t.end >= ctx_.text.size() || ctx_.text[t.end] != '"') return keep(t);
    ctx_.report(Diag::triple_quotes, ctx_.span(t.begin, t.end + 1))
        .help(Diag::help_text, {"lines that begin with `##` document what follows them; a string stands on one line"});
    std::size_t close = ctx_.text.find("\"\"\"", t.end + 1);
    Token whole = t;
    whole.type = Tk::STRING;
    whole.bad = true;
    if (at_statement_start()) {
      // A docstring: nothing is left of it.
      skip_to(close == std::string_view::npos ? ctx_.text.size() : close + 3);
      return;
    }
    out_.push_back(whole);
    skip_to(close == std::string_view::npos ? ctx_.text.size() : close + 3);
  }

  // x++ and x--
  void step(const Token& t) {
    const Token& second = next();
    Tk after = next(2).type;
    bool twice = second.type == t.type && adjacent(t, second) && is_name(last()) &&
                 (after == Tk::SEP || after == Tk::RBRACE || after == Tk::END);
    if (!twice) return keep(t);
    std::string op(t.type == Tk::PLUS ? "++" : "--");
    std::string variable(ctx_.text_of(out_.back()));
    ctx_.report(Diag::no_increment, ctx_.span(t.begin, second.end), {op})
        .help(Diag::help_text, {"write `" + variable + " " + op.substr(1) + "= 1`"});
    skip(2);
  }

  // *args and **kwargs
  void star(const Token& t) {
    if (t.type == Tk::STAR && statement_ < out_.size() &&
        (out_[statement_].type == Tk::FROM || out_[statement_].type == Tk::IMPORT)) {
      ctx_.report(Diag::foreign_word, ctx_.span(t), {"import *"})
          .help(Diag::help_text,
                {"write `import nn` and then `nn.relu`, or name what is imported: `from nn import relu`"});
      return keep_as(t, Tk::BAD);  // no operator: the line ends here
    }
    bool argument = (last() == Tk::LPAREN || last() == Tk::COMMA) && depth_ > 0 && is_name(next().type);
    if (!argument) {
      if (t.type == Tk::STAR || !update(t)) keep(t);
      return;
    }
    ctx_.report(Diag::no_catch_all, ctx_.span(t.begin, next().end))
        .help(Diag::help_text, {"name each argument, pass a list, or hand over a function"});
    skip();
  }

  void slash(const Token& t) {
    if (t.type == Tk::SLASH && next().type == Tk::STAR && adjacent(t, next())) {
      ctx_.report(Diag::foreign_comment, ctx_.span(t.begin, t.begin + 2), {"/*"})
          .help(Diag::help_text, {"comments start with `#`"});
      std::size_t close = ctx_.text.find("*/", t.begin + 2);
      return skip_to(close == std::string_view::npos ? ctx_.text.size() : close + 2);
    }
    bool comment = t.type == Tk::FLOORDIV && t.line_start && (depth_ == 0 || !ends_operand(last()));
    if (!comment) {
      if (t.type == Tk::SLASH || !update(t)) keep(t);
      return;
    }
    ctx_.report(Diag::foreign_comment, ctx_.span(t), {"//"})
        .help(Diag::help_text, {"comments start with `#`; `//` is division without a rest"});
    skip_line();
  }

  void else_word(const Token& t) {
    bool of_statement = last() == Tk::RBRACE || t.line_start;
    if (!of_statement || next().type != Tk::IF) return keep(t);
    ctx_.report(Diag::else_if, ctx_.span(t.begin, next().end), {"else if"}).help(Diag::help_text, {"write `elif`"});
    keep_as(t, Tk::ELIF, 2);
  }

  // A header that ends with a colon, as in Python: the lines below it are read as statements of their own.
  void colon(const Token& t) {
    if (next().type == Tk::ASSIGN && adjacent(t, next())) {
      ctx_.report(Diag::foreign_operator, ctx_.span(t.begin, next().end), {":="})
          .help(Diag::help_text, {"assign in a statement of its own"});
      return skip();
    }
    bool header = depth_ == 0 && (ctx_.is_newline(next()) || next().type == Tk::END) && statement_ < out_.size();
    if (header) switch (out_[statement_].type) {
        case Tk::IF:
        case Tk::ELIF:
        case Tk::ELSE:
        case Tk::FOR:
        case Tk::FN:
        case Tk::MODULE:
        case Tk::LOOP:
        case Tk::MASKED:
        case Tk::NETWORK:
        case Tk::MODE:
        case Tk::WITH:
          ctx_.report(Diag::colon_block, ctx_.span(t))
              .help(Diag::help_text, {"write `{` in place of `:` and `}` after the block"});
          out_.resize(statement_);
          ctx_.blocks_unsure = true;
          return skip();
        default: break;
      }
    keep(t);
  }

  void assign(const Token& t) {
    if (next().type != Tk::LT || !adjacent(t, next())) return keep(t);
    ctx_.report(Diag::foreign_operator, ctx_.span(t.begin, next().end), {"=<"}).help(Diag::help_text, {"write `<=`"});
    keep_as(t, Tk::LE, 2);
  }

  void bad_number(const Token& t) {
    std::string text(ctx_.text_of(t));
    std::string help = "a number is like `12`, `1_000`, `0x1F`, `0.5` or `1e-6`";
    if (text.starts_with("0x") || text.starts_with("0X"))
      help = "a hexadecimal number is `0x` and then digits `0` to `9` and `a` to `f`";
    else if (text.starts_with("0b") || text.starts_with("0B") || text.starts_with("0o") || text.starts_with("0O"))
      help = "numbers are decimal, or hexadecimal with `0x`";
    else if (text.back() == 'e' || text.back() == 'E')
      help = "digits are missing after `" + text.substr(text.size() - 1) + "`";
    ctx_.report(Diag::bad_number, ctx_.span(t), {text}).help(Diag::help_text, {help});
    keep_as(t, Tk::FLOAT);
  }

  static bool is_quote(char32_t c) { return (c >= 0x2018 && c <= 0x201F) || c == 0xAB || c == 0xBB; }

  void bad_name(const Token& t) {
    // The token is as wide as bytes beyond ASCII go; cut it after a character that is in no name anywhere.
    std::string_view text = ctx_.text_of(t);
    std::size_t at = 0;
    while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
    CodePoint c = code_point(text, at);
    bool letter = c.value >= 0xC0 && c.value != 0xD7 && c.value != 0xF7 && !(c.value >= 0x2000 && c.value < 0x2C00) &&
                  !(c.value >= 0x3000 && c.value <= 0x303F) && c.value != 0xFEFF &&
                  !(c.value >= 0xFF00 && c.value < 0xFF21);
    if (letter) {
      ctx_.report(Diag::non_ascii_name, ctx_.span(t), {std::string(text)})
          .help(Diag::help_text, {"names consist of `A` to `Z`, `a` to `z`, `0` to `9` and `_`; comments and strings "
                                  "may have any character"});
      return keep_as(t, Tk::NAME);
    }
    std::uint32_t begin = t.begin + static_cast<std::uint32_t>(at);
    auto report = ctx_.report(Diag::unexpected_character, ctx_.span(begin, begin + c.length),
                              {shown(c.value, text.substr(at, c.length))});
    if (is_quote(c.value)) {
      report.help(Diag::help_text, {"strings stand in `\"`"});
    } else if (c.value == 0xA0 || (c.value >= 0x2000 && c.value <= 0x200F) || c.value == 0xFEFF) {
      report.help(Diag::help_text, {"only the ordinary blank and the tab separate words"});
    }
    skip();
  }

  static std::string shown(char32_t c, std::string_view text) {
    char code[16];
    std::snprintf(code, sizeof code, "U+%04X", static_cast<unsigned>(c));
    bool visible = c > 0x20 && c != '`' && c != 0x7F && c != 0xA0 && c != 0xFEFF && !(c >= 0x80 && c < 0xA0) &&
                   !(c >= 0x2000 && c <= 0x200F) && !(c >= 0x2028 && c <= 0x202F);
    return visible ? quoted(text) : std::string(code);
  }

  // The brackets at the end of the line were most likely meant to stand outside of the string.
  void open_string(const Token& t) {
    ctx_.report(Diag::unterminated_string, ctx_.span(t))
        .help(Diag::help_text, {"a string ends with `\"` on the same line"});
    std::string_view text = ctx_.text_of(t);
    std::size_t tail = text.find_last_not_of("()[]{}, \t");
    tail = tail == std::string_view::npos ? 1 : tail + 1;
    std::uint32_t line_end = t.end;
    keep_as(t, Tk::STRING);
    for (std::size_t i = tail; i < text.size(); ++i) {
      static constexpr std::string_view kChars = "()[]{},";
      std::size_t which = kChars.find(text[i]);
      if (which == std::string_view::npos) continue;
      Token extra;
      extra.type = static_cast<Tk>(static_cast<unsigned>(Tk::LPAREN) + which);
      extra.bad = true;
      extra.begin = extra.end = line_end;
      if (which < 4) depth_ += which % 2 == 0 ? 1 : (depth_ > 0 ? -1 : 0);
      out_.push_back(extra);
    }
  }

  void bad(const Token& t) {
    std::string_view text = ctx_.text_of(t);
    struct Operator {
      std::string_view text;
      Tk becomes;
      std::string_view help;
    };
    static constexpr Operator kOperators[] = {
        {"&&", Tk::AND, "write `and`"},
        {"||", Tk::OR, "write `or`"},
        {"!", Tk::NOT, "write `not`"},
        {"&", Tk::AND, "write `and`"},
        {"|", Tk::OR, "write `or`"},
        {"^", Tk::POWER, "a power is written `**`"},
        {"@", Tk::STAR, "a product over a dim is `nn.dot(a, b, reduce=dim)`"},
        {"~", Tk::NOT, "write `not`"},
    };
    if (text == "@" && at_statement_start()) {
      ctx_.report(Diag::foreign_word, ctx_.span(t), {"@"})
          .help(Diag::help_text, {"there are no decorators: call the function with the other one"});
      return skip_line();
    }
    if (update(t)) return;
    for (const Operator& op : kOperators)
      if (op.text == text) {
        ctx_.report(Diag::foreign_operator, ctx_.span(t), {std::string(text)})
            .help(Diag::help_text, {std::string(op.help)});
        return keep_as(t, op.becomes);
      }
    CodePoint c = code_point(ctx_.text, t.begin);
    auto report = ctx_.report(Diag::unexpected_character, ctx_.span(t), {shown(c.value, text)});
    if (text == "\\") {
      report.help(Diag::help_text, {"a line goes on in the next one inside brackets, or after an operator or a comma"});
      return ctx_.is_newline(next()) ? skip(2) : skip();
    }
    if (text == "'") {
      report.help(Diag::help_text, {"strings stand in `\"`"});
      return skip_line();
    }
    skip();
  }

  std::vector<Token>& in_;
  std::vector<Token> out_;
  ParseContext& ctx_;
  std::size_t at_ = 0;
  std::size_t statement_ = 0;          // where in out_ the statement began
  int depth_ = 0;                      // of ( and [
  std::vector<std::string> reserved_;  // reserved words that were declared as names, and told so
};

}  // namespace

void mend_words(std::vector<Token>& tokens, ParseContext& context) { WordMender(tokens, context).run(); }

}  // namespace rcn
