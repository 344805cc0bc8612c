// The tokens between lexer and parser, free of ANTLR's types.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rcn {

// In the order of the lexer rules of grammar/Rcn.g4 (antlr.cpp asserts it).
// clang-format off
#define RCN_TOKENS(X)                                                                                               \
  X(AND) X(AS) X(ASSERT) X(ELIF) X(ELSE) X(FALSE) X(FN) X(FOR) X(FROM) X(IF) X(IMPORT) X(IN) X(LOOP) X(MASKED)       \
  X(MODULE) X(NETWORK) X(NONE) X(NOT) X(OR) X(RETURN) X(TRUE) X(WITH)                                                \
  X(DIM) X(ERROR) X(EXTERN) X(FLAG) X(LOSS) X(MAX) X(MODE) X(OPTION) X(OUTPUT) X(OVER) X(PARAM) X(STACK)             \
  X(LPAREN) X(RPAREN) X(LBRACKET) X(RBRACKET) X(LBRACE) X(RBRACE) X(COMMA) X(COLON) X(DOT) X(ELLIPSIS) X(QUESTION)   \
  X(ASSIGN) X(ARROW) X(RESULT) X(PLUS_EQ) X(MINUS_EQ) X(STAR_EQ) X(SLASH_EQ) X(PLUS) X(MINUS) X(STAR) X(POWER)       \
  X(SLASH) X(FLOORDIV) X(PERCENT) X(EQ) X(NE) X(LE) X(LT) X(GE) X(GT)                                                \
  X(INT) X(FLOAT) X(NAME) X(STRING) X(SEP) X(DOC) X(COMMENT) X(WS)                                                   \
  X(BAD_NUMBER) X(BAD_NAME) X(OPEN_STRING) X(SINGLE_QUOTED) X(BAD)
// clang-format on

enum class Tk : std::uint8_t {
  END,  // of the file
#define X(name) name,
  RCN_TOKENS(X)
#undef X
};

struct Token {
  Tk type = Tk::END;
  bool bad = false;         // was reported: put in where it was missing, or changed into what was meant
  bool line_start = false;  // the first token of its line
  bool block = false;       // a brace of a block, not of a record
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// The `##` lines that belong to the token at byte `begin`.
struct DocComment {
  std::uint32_t begin;
  std::string_view text;  // in the arena: lines joined by newlines, without `##` and the blank after it
};

struct TokenList {
  std::vector<Token> items;      // ends with END
  std::vector<DocComment> docs;  // in the order of the file
  std::string_view file_doc;
};

// The comment of the token at byte `begin`, or nothing.
inline std::string_view doc_before(const TokenList& tokens, std::uint32_t begin) {
  auto it = std::partition_point(tokens.docs.begin(), tokens.docs.end(),
                                 [&](const DocComment& d) { return d.begin < begin; });
  return it != tokens.docs.end() && it->begin == begin ? it->text : std::string_view();
}

inline bool is_soft_word(Tk t) { return t >= Tk::DIM && t <= Tk::STACK; }
inline bool is_name(Tk t) { return t == Tk::NAME || is_soft_word(t); }
inline bool is_hard_word(Tk t) { return t >= Tk::AND && t <= Tk::WITH; }
inline bool opens(Tk t) { return t == Tk::LPAREN || t == Tk::LBRACKET || t == Tk::LBRACE; }
inline bool closes(Tk t) { return t == Tk::RPAREN || t == Tk::RBRACKET || t == Tk::RBRACE; }

// Can be the last token of an operand: a `{` after it opens a block, a `-` after it subtracts.
inline bool ends_operand(Tk t) {
  return is_name(t) || closes(t) || t == Tk::INT || t == Tk::FLOAT || t == Tk::STRING || t == Tk::TRUE ||
         t == Tk::FALSE || t == Tk::NONE || t == Tk::QUESTION;
}
// Can be the first token of an operand.
inline bool begins_operand(Tk t) {
  return is_name(t) || opens(t) || t == Tk::INT || t == Tk::FLOAT || t == Tk::STRING || t == Tk::TRUE ||
         t == Tk::FALSE || t == Tk::NONE || t == Tk::MINUS || t == Tk::NOT || t == Tk::FN;
}

}  // namespace rcn
