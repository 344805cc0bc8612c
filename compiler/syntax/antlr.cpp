// The generated lexer and parser, behind scan() and run_parser(). Only this file and build.cpp know ANTLR.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "RcnLexer.h"
#include "RcnParser.h"
#include "compiler/syntax/build.h"
#include "compiler/syntax/run_parser.h"
#include "compiler/syntax/scan.h"
#include "compiler/syntax/unexpected.h"

namespace rcn {

namespace {

#define X(name) static_assert(static_cast<std::size_t>(Tk::name) == RcnLexer::name);
RCN_TOKENS(X)
#undef X

// ---- lexer ---------------------------------------------------------------------------------------------------------

// The text as bytes: offsets are ours, and nothing is converted or copied.
class ByteStream final : public antlr4::CharStream {
 public:
  ByteStream(std::string_view text, std::size_t start) : text_(text), at_(start) {}

  void consume() override { ++at_; }
  std::size_t LA(ssize_t i) override {
    std::size_t at = i > 0 ? at_ + static_cast<std::size_t>(i) - 1 : at_ - static_cast<std::size_t>(-i);
    return i != 0 && at < text_.size() ? static_cast<unsigned char>(text_[at]) : antlr4::IntStream::EOF;
  }
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  std::size_t index() override { return at_; }
  void seek(std::size_t index) override { at_ = index; }
  std::size_t size() override { return text_.size(); }
  std::string getSourceName() const override { return "text"; }
  std::string getText(const antlr4::misc::Interval& i) override {
    return std::string(text_.substr(static_cast<std::size_t>(i.a), static_cast<std::size_t>(i.b - i.a + 1)));
  }
  std::string toString() const override { return std::string(text_); }

 private:
  std::string_view text_;
  std::size_t at_;
};

// Collects `##` lines until the token they belong to.
class DocCollector {
 public:
  DocCollector(TokenList& list, Arena& arena) : list_(list), arena_(arena) {}

  void line(std::string_view text) {
    text.remove_prefix(2);
    if (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
    if (pending_) joined_ += '\n';
    joined_ += text;
    pending_ = true;
  }
  // An empty line: the lines above belong to nothing, or to the file if they are its first.
  void gap() { take(); }
  void token(const Token& t) {
    if (!pending_) {
      first_ = false;
      return;
    }
    if (t.type == Tk::IMPORT || t.type == Tk::FROM) {
      take();
      return;
    }
    list_.docs.push_back({t.begin, arena_.copy(std::string_view(joined_))});
    first_ = false;
    drop();
  }

 private:
  void take() {
    if (!pending_) return;
    if (first_) list_.file_doc = arena_.copy(std::string_view(joined_));
    first_ = false;
    drop();
  }
  void drop() {
    joined_.clear();
    pending_ = false;
  }

  TokenList& list_;
  Arena& arena_;
  std::string joined_;
  bool pending_ = false;
  bool first_ = true;
};

}  // namespace

TokenList scan(std::string_view text, std::uint32_t start, Arena& arena) {
  ByteStream stream(text, start);
  RcnLexer lexer(&stream);
  // Straight to the automaton: the Lexer class would make an object on the heap of each token, blanks too.
  auto* automaton = lexer.getInterpreter<antlr4::atn::LexerATNSimulator>();
  TokenList list;
  list.items.reserve(text.size() / 4 + 16);
  DocCollector docs(list, arena);
  bool line_start = true;
  bool line_empty = true;  // nothing but blanks so far, no comment either
  while (stream.index() < text.size()) {
    Token t;
    t.begin = static_cast<std::uint32_t>(stream.index());
    t.type = static_cast<Tk>(automaton->match(&stream, 0));
    t.end = static_cast<std::uint32_t>(stream.index());
    switch (t.type) {
      case Tk::WS: continue;
      case Tk::COMMENT: line_empty = false; continue;
      case Tk::DOC:
        // After code it is a remark on that line.
        if (line_start) docs.line(text.substr(t.begin, t.end - t.begin));
        line_empty = false;
        continue;
      case Tk::SEP:
        if (text[t.begin] == ';') {
          line_empty = line_start = false;
        } else {
          if (line_empty) docs.gap();
          line_empty = line_start = true;
        }
        list.items.push_back(t);
        continue;
      default:
        t.line_start = line_start;
        line_empty = line_start = false;
        docs.token(t);
        list.items.push_back(t);
    }
  }
  docs.gap();
  Token end;
  end.begin = end.end = static_cast<std::uint32_t>(text.size());
  end.line_start = line_start;
  list.items.push_back(end);
  return list;
}

namespace {

// ---- parser --------------------------------------------------------------------------------------------------------

// One of our tokens in ANTLR's clothes; the texts are never asked for.
class ParserToken final : public antlr4::Token {
 public:
  ParserToken(const rcn::Token& token, std::size_t index)
      : type_(token.type == Tk::END ? antlr4::Token::EOF : static_cast<std::size_t>(token.type)), index_(index) {}

  std::string getText() const override { return {}; }
  std::size_t getType() const override { return type_; }
  std::size_t getLine() const override { return 0; }
  std::size_t getCharPositionInLine() const override { return 0; }
  std::size_t getChannel() const override { return antlr4::Token::DEFAULT_CHANNEL; }
  std::size_t getTokenIndex() const override { return index_; }
  std::size_t getStartIndex() const override { return 0; }
  std::size_t getStopIndex() const override { return 0; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  antlr4::CharStream* getInputStream() const override { return nullptr; }
  std::string toString() const override { return {}; }

 private:
  std::size_t type_;
  std::size_t index_;
};

class ParserTokens final : public antlr4::TokenStream {
 public:
  explicit ParserTokens(const std::vector<rcn::Token>& tokens) {
    tokens_.reserve(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens_.emplace_back(tokens[i], i);
  }

  antlr4::Token* LT(ssize_t k) override {
    if (k < 0) return at_ < static_cast<std::size_t>(-k) ? nullptr : &tokens_[at_ - static_cast<std::size_t>(-k)];
    return &tokens_[std::min(at_ + static_cast<std::size_t>(k) - 1, tokens_.size() - 1)];
  }
  std::size_t LA(ssize_t i) override {
    antlr4::Token* t = LT(i);
    return t == nullptr ? antlr4::Token::INVALID_TYPE : t->getType();
  }
  antlr4::Token* get(std::size_t index) const override { return const_cast<ParserToken*>(&tokens_[index]); }
  void consume() override {
    if (at_ + 1 < tokens_.size()) ++at_;
  }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  std::size_t index() override { return at_; }
  void seek(std::size_t index) override { at_ = std::min(index, tokens_.size() - 1); }
  std::size_t size() override { return tokens_.size(); }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getSourceName() const override { return "tokens"; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext*) override { return {}; }
  std::string getText(antlr4::Token*, antlr4::Token*) override { return {}; }

 private:
  std::vector<ParserToken> tokens_;
  std::size_t at_ = 0;
};

bool begins_statement(Tk t) {
  switch (t) {
    case Tk::FN:
    case Tk::FOR:
    case Tk::FROM:
    case Tk::IF:
    case Tk::IMPORT:
    case Tk::LOOP:
    case Tk::MASKED:
    case Tk::MODULE:
    case Tk::NETWORK:
    case Tk::ASSERT:
    case Tk::RETURN: return true;
    default: return begins_operand(t);
  }
}

// Reports an error once for each statement and goes on behind it. Brackets come in pairs and every statement ends with
// a SEP (layout.h), so that the way out is always there.
class Recovery final : public antlr4::ANTLRErrorStrategy {
 public:
  Recovery(const std::vector<rcn::Token>& tokens, ParseContext& context) : tokens_(tokens), ctx_(context) {
    statement_.reserve(tokens.size());
    std::size_t number = 0;
    for (const rcn::Token& t : tokens) {
      statement_.push_back(number);
      if (t.type == Tk::SEP || t.block) ++number;
    }
    told_.assign(number + 1, false);
    for (std::uint32_t mark : context.marks) {
      auto before = [&](const rcn::Token& t) { return t.end < mark || (t.end == mark && t.begin < mark); };
      auto it = std::partition_point(tokens.begin(), tokens.end(), before);
      // Nothing may be left of its line.
      bool gone = it == tokens.end() || (it->begin > mark && context.text.substr(mark, it->begin - mark).find('\n') !=
                                                                 std::string_view::npos);
      if (!gone) told_[statement_[static_cast<std::size_t>(it - tokens.begin())]] = true;
    }
  }

  void reset(antlr4::Parser*) override {}
  void reportMatch(antlr4::Parser*) override {}
  bool inErrorRecoveryMode(antlr4::Parser*) override { return skipping_; }
  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException& e) override {
    report(parser, e.getOffendingToken()->getTokenIndex());
  }

  antlr4::Token* recoverInline(antlr4::Parser* parser) override {
    report(parser, parser->getTokenStream()->index());
    const antlr4::atn::ATN& atn = parser->getATN();
    antlr4::misc::IntervalSet wanted = atn.nextTokens(atn.states[parser->getState()]);
    for (Tk t : {Tk::SEP, Tk::RPAREN, Tk::RBRACKET, Tk::RBRACE, Tk::LBRACE})
      if (wanted.contains(static_cast<std::size_t>(t)) && !wanted.contains(static_cast<std::size_t>(Tk::NAME)) &&
          skip_to(parser, t))
        return parser->consume();
    throw antlr4::InputMismatchException(parser);
  }

  void recover(antlr4::Parser* parser, std::exception_ptr) override {
    bool header = waits_for_block(parser->getContext());
    std::size_t depth = 0;
    for (;;) {
      std::size_t i = parser->getTokenStream()->index();
      Tk t = tokens_[i].type;
      if (t == Tk::END) return;
      if (depth == 0 && closes(t) && opened_in(parser->getContext(), t)) return skip_one(parser);
      if (depth == 0 && (t == Tk::SEP || closes(t))) return;
      if (depth == 0 && header && t == Tk::LBRACE && tokens_[i].block) return;
      if (opens(t)) ++depth;
      if (closes(t)) --depth;
      skip_one(parser);
    }
  }

  // Asked before each round of a loop. In those over statements a token that begins none is an error of its own, not
  // the end of the loop.
  void sync(antlr4::Parser* parser) override {
    antlr4::ParserRuleContext* context = parser->getContext();
    bool block = context->getRuleIndex() == RcnParser::RuleBlock;
    if (!block && context->getRuleIndex() != RcnParser::RuleProgram) return;
    for (;;) {
      std::size_t i = parser->getTokenStream()->index();
      Tk t = tokens_[i].type;
      if (t == Tk::END || (block && t == Tk::RBRACE) || begins_statement(t)) return;
      Expectation expected;
      expected.where = Expectation::Where::statement;
      tell(i, expected);
      damaged_ = true;
      skip_to(parser, Tk::SEP);
      if (tokens_[parser->getTokenStream()->index()].type != Tk::END) skip_one(parser);
    }
  }

 private:
  void skip_one(antlr4::Parser* parser) {
    skipping_ = true;
    parser->consume();
    skipping_ = false;
  }

  // Skips to the next token of this type outside of brackets that begin on the way.
  bool skip_to(antlr4::Parser* parser, Tk wanted) {
    std::size_t depth = 0;
    std::size_t i = parser->getTokenStream()->index();
    for (std::size_t k = i; k < tokens_.size(); ++k) {
      Tk t = tokens_[k].type;
      if (depth == 0 && t == wanted) {
        for (; i < k; ++i) skip_one(parser);
        return true;
      }
      if (t == Tk::END || (depth == 0 && closes(t))) return false;
      if (depth == 0 && t == Tk::SEP && !closes(wanted)) return false;
      if (opens(t)) ++depth;
      if (closes(t)) --depth;
    }
    return false;
  }

  // The rule in work matched the bracket that this one closes.
  bool opened_in(antlr4::ParserRuleContext* context, Tk closer) const {
    int open = 0;
    for (antlr4::tree::ParseTree* child : context->children) {
      auto* terminal = dynamic_cast<antlr4::tree::TerminalNode*>(child);
      if (terminal == nullptr) continue;
      Tk t = tokens_[terminal->getSymbol()->getTokenIndex()].type;
      if (opens(t) && static_cast<int>(t) + 1 == static_cast<int>(closer)) ++open;
      if (t == closer) --open;
    }
    return open > 0;
  }

  static bool waits_for_block(antlr4::tree::ParseTree* node) {
    for (; node != nullptr; node = node->parent) {
      auto* rule = static_cast<antlr4::ParserRuleContext*>(node);
      switch (rule->getRuleIndex()) {
        case RcnParser::RuleBlock: return rule->children.empty();
        case RcnParser::RuleIfStmt:
        case RcnParser::RuleForStmt:
        case RcnParser::RuleFnDecl:
        case RcnParser::RuleModuleDecl:
        case RcnParser::RuleNetworkDecl:
        case RcnParser::RuleModeDecl:
        case RcnParser::RuleLoopStmt:
        case RcnParser::RuleMaskedStmt: return true;
        default: break;
      }
    }
    return false;
  }

  void tell(std::size_t at, const Expectation& expected) {
    std::size_t statement = statement_[at];
    if (told_[statement]) return;
    told_[statement] = true;
    report_unexpected(ctx_, tokens_, at, expected);
  }

  void report(antlr4::Parser* parser, std::size_t at) {
    damaged_ = true;
    if (told_[statement_[at]]) return;
    Expectation expected;
    antlr4::misc::IntervalSet set = parser->getExpectedTokens();
    auto has = [&](Tk t) { return set.contains(static_cast<std::size_t>(t)); };
    expected.expression = has(Tk::INT);
    expected.name = !expected.expression && has(Tk::NAME);
    for (std::size_t t = 1; t <= static_cast<std::size_t>(Tk::BAD); ++t)
      if (set.contains(t)) expected.tokens.push_back(static_cast<Tk>(t));
    switch (parser->getContext()->getRuleIndex()) {
      case RcnParser::RuleItem: expected.where = Expectation::Where::end_of_statement; break;
      case RcnParser::RuleBlock: expected.where = Expectation::Where::block; break;
      default:
        if (!expected.expression && !expected.name && (has(Tk::RPAREN) || has(Tk::RBRACKET) || has(Tk::RBRACE)))
          expected.where = Expectation::Where::closer;
    }
    tell(at, expected);
  }

  const std::vector<rcn::Token>& tokens_;
  ParseContext& ctx_;
  std::vector<std::size_t> statement_;  // of each token
  std::vector<bool> told_;              // of each statement
  bool skipping_ = false;
  bool damaged_ = false;

 public:
  bool damaged() const { return damaged_; }
};

}  // namespace

bool is_damaged(antlr4::tree::ParseTree* root) {
  std::vector<antlr4::tree::ParseTree*> open{root};
  while (!open.empty()) {
    antlr4::tree::ParseTree& n = *open.back();
    open.pop_back();
    if (dynamic_cast<antlr4::tree::ErrorNode*>(&n) != nullptr) return true;
    if (dynamic_cast<antlr4::tree::TerminalNode*>(&n) != nullptr) continue;
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a cast of a pointer to it failed, so clang-tidy 14 takes that for null
    auto& rule = static_cast<antlr4::ParserRuleContext&>(n);
    if (rule.exception || rule.start == nullptr || rule.stop == nullptr || rule.children.empty()) return true;
    open.insert(open.end(), rule.children.begin(), rule.children.end());
  }
  return false;
}

// Owns a parser; that of a long file is not taken apart: freeing its tree would be a tenth of the whole compilation, and
// the process ends soon after.
struct LastingParser {
  static constexpr std::size_t kLong = 20'000;  // tokens
  std::unique_ptr<RcnParser> parser;
  bool lasting;
  LastingParser(ParserTokens& stream, std::size_t tokens) : parser(std::make_unique<RcnParser>(&stream)), lasting(tokens > kLong) {}
  LastingParser(const LastingParser&) = delete;
  LastingParser& operator=(const LastingParser&) = delete;
  ~LastingParser() {
    static auto* kept = new std::vector<RcnParser*>;  // never freed, never lost
    if (lasting) kept->push_back(parser.release());
  }
};

ast::File run_parser(const TokenList& tokens, ParseContext& context, Arena& arena, ParseStats* stats) {
  ParserTokens stream(tokens.items);
  LastingParser owner(stream, tokens.items.size());
  RcnParser& parser = *owner.parser;
  parser.removeErrorListeners();
  auto* predictor = parser.getInterpreter<antlr4::atn::ParserATNSimulator>();
  predictor->setPredictionMode(antlr4::atn::PredictionMode::SLL);
  parser.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
  try {
    return build_tree(parser.program(), true, tokens, context, arena);
  } catch (const antlr4::ParseCancellationException&) {}
  // SLL prediction may in principle refuse what the grammar allows; LL decides, and tells where and why.
  parser.reset();
  predictor->setPredictionMode(antlr4::atn::PredictionMode::LL);
  auto recovery = std::make_shared<Recovery>(tokens.items, context);
  parser.setErrorHandler(recovery);
  antlr4::tree::ParseTree* program = parser.program();
  if (stats != nullptr && !recovery->damaged()) ++stats->fallbacks;
  return build_tree(program, !recovery->damaged(), tokens, context, arena);
}

}  // namespace rcn
