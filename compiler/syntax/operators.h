// Operator tokens to operators.
#pragma once

#include "compiler/syntax/ast.h"
#include "compiler/syntax/token.h"

namespace rcn {

// `t` is the first token of the operator: `not` of `not in`.
inline ast::CompareOp compare_op(Tk t) {
  switch (t) {
    case Tk::EQ: return ast::CompareOp::eq;
    case Tk::NE: return ast::CompareOp::ne;
    case Tk::LT: return ast::CompareOp::lt;
    case Tk::LE: return ast::CompareOp::le;
    case Tk::GT: return ast::CompareOp::gt;
    case Tk::GE: return ast::CompareOp::ge;
    case Tk::IN: return ast::CompareOp::in;
    default: return ast::CompareOp::not_in;
  }
}

inline ast::BinaryOp binary_op(Tk t) {
  switch (t) {
    case Tk::PLUS:
    case Tk::PLUS_EQ: return ast::BinaryOp::add;
    case Tk::MINUS:
    case Tk::MINUS_EQ: return ast::BinaryOp::sub;
    case Tk::STAR:
    case Tk::STAR_EQ: return ast::BinaryOp::mul;
    case Tk::SLASH:
    case Tk::SLASH_EQ: return ast::BinaryOp::div;
    case Tk::FLOORDIV: return ast::BinaryOp::floordiv;
    case Tk::PERCENT: return ast::BinaryOp::mod;
    default: return ast::BinaryOp::pow;
  }
}

}  // namespace rcn
