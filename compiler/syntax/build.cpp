#include "compiler/syntax/build.h"

#include <string>
#include <typeinfo>
#include <vector>

#include "RcnParser.h"
#include "compiler/syntax/literals.h"
#include "compiler/syntax/operators.h"
#include "compiler/syntax/targets.h"

namespace rcn {

namespace {

using namespace ast;
using Node = antlr4::tree::ParseTree;
using Rule = antlr4::ParserRuleContext;
using Terminal = antlr4::tree::TerminalNode;

// Reads children by position: what the grammar says about a rule is known here, and asking ANTLR's typed accessors
// would search all children for each question.
class Builder {
 public:
  Builder(const TokenList& tokens, ParseContext& context, Arena& arena)
      : tokens_(tokens), ctx_(context), arena_(arena) {}

  File file(Node* program, bool intact) {
    std::vector<Stmt*> statements;
    statements.reserve(program->children.size());
    for (Node* child : program->children) {
      if (is_token(child)) continue;
      auto* item = static_cast<Rule*>(child);
      if (!intact && is_damaged(item)) {
        Span start = item->start != nullptr ? ctx_.span(token_at(item->start)) : Span{};
        statements.push_back(make<ErrorStmt>(StmtKind::error, start));
      } else {
        statements.push_back(statement(item->children[0]->children[0]));
      }
    }
    File result;
    result.file = ctx_.file;
    result.body = arena_.copy(statements);
    result.doc = tokens_.file_doc;
    return result;
  }

 private:
  // ---- tree access

  static bool is_token(Node* n) {
    if (!n->children.empty()) return false;
    const Node& node = *n;
    return typeid(node) == typeid(antlr4::tree::TerminalNodeImpl) || dynamic_cast<Terminal*>(n) != nullptr;
  }
  const Token& token_at(antlr4::Token* t) const { return tokens_.items[t->getTokenIndex()]; }
  const Token& token(Node* terminal) const { return token_at(static_cast<Terminal*>(terminal)->getSymbol()); }
  Tk type(Node* terminal) const { return token(terminal).type; }
  static std::size_t kind(Node* rule) { return static_cast<Rule*>(rule)->getRuleIndex(); }
  const Token& first(Node* rule) const { return token_at(static_cast<Rule*>(rule)->start); }
  Span span(Node* rule) const {
    auto* r = static_cast<Rule*>(rule);
    return {ctx_.file, token_at(r->start).begin, token_at(r->stop).end};
  }
  Span token_span(Node* terminal) const { return ctx_.span(token(terminal)); }

  std::string_view doc(Node* rule) const { return doc_before(tokens_, first(rule).begin); }
  Symbol name(Node* rule) const { return Symbol(ctx_.text_of(first(rule))); }

  template <class T, class Kind, class... Fields>
  T* make(Kind kind_of_node, Span s, Fields&&... fields) {
    using Head = std::conditional_t<std::is_base_of_v<Expr, T>, Expr, Stmt>;
    return arena_.make<T>(Head{kind_of_node, s}, std::forward<Fields>(fields)...);
  }

  // ---- small parts

  // Applies f to the children at `from`, `from + step`, ...
  template <class T, class F>
  std::span<T> collect(Node* parent, std::size_t from, std::size_t step, F&& f) {
    std::vector<T> items;
    items.reserve(parent->children.size() / step + 1);
    for (std::size_t i = from; i < parent->children.size(); i += step) items.push_back(f(parent->children[i]));
    return arena_.copy(items);
  }

  // The expressions between the brackets of an atom.
  std::span<Expr*> bracketed(Node* atom) {
    std::vector<Expr*> items;
    for (std::size_t i = 1; i + 1 < atom->children.size(); i += 2) items.push_back(expr(atom->children[i]));
    return arena_.copy(items);
  }

  std::span<Arg> args(Node* rule) {
    return collect<Arg>(rule, 0, 2, [&](Node* arg) {
      if (arg->children.size() == 1) return Arg{Symbol(), Span{}, expr(arg->children[0])};
      return Arg{name(arg->children[0]), span(arg->children[0]), expr(arg->children[2])};
    });
  }
  std::span<Arg> options(Node* decl_opts) { return args(decl_opts->children[1]); }

  std::span<Param> params(Node* rule) {
    std::vector<Param> items;
    bool keyword_only = false;
    bool star = false;
    for (std::size_t i = 0; i < rule->children.size(); i += 2) {
      Node* child = rule->children[i];
      if (is_token(child->children[0])) {
        if (star) ctx_.report(Diag::second_star, span(child));
        star = keyword_only = true;
        bool last = i + 2 >= rule->children.size();
        if (last)
          ctx_.report(Diag::star_at_end, span(child)).help(Diag::help_text, {"parameters after `*` are given by name"});
        continue;
      }
      Param p{name(child->children[0]), span(child->children[0]), nullptr, nullptr, keyword_only, doc(child)};
      for (std::size_t k = 1; k + 1 < child->children.size(); k += 2) {
        if (type(child->children[k]) == Tk::COLON)
          p.type = type_expr(child->children[k + 1]);
        else
          p.default_value = expr(child->children[k + 1]);
      }
      items.push_back(p);
    }
    return arena_.copy(items);
  }

  TypeExpr* type_expr(Node* rule) {
    Node* base = rule->children[0];
    auto* t = arena_.make<TypeExpr>();
    t->span = span(rule);
    t->optional = rule->children.size() > 1;
    std::vector<Symbol> path;
    for (std::size_t i = 0; i < base->children.size(); ++i) {
      Node* child = base->children[i];
      if (!is_token(child)) {
        switch (kind(child)) {
          case RcnParser::RuleName: path.push_back(name(child)); break;
          case RcnParser::RuleExpr: t->index_dim = expr(child); break;
          default: dims(child, *t);
        }
      } else if (type(child) == Tk::LBRACKET) {
        t->tensor = true;
      }
    }
    t->path = arena_.copy(path);
    return t;
  }

  void dims(Node* rule, TypeExpr& t) {
    std::vector<Expr*> items;
    for (std::size_t i = 0; i < rule->children.size(); i += 2) {
      Node* item = rule->children[i]->children[0];
      if (!is_token(item)) {
        items.push_back(expr(item));
        continue;
      }
      if (t.any_dims) ctx_.report(Diag::second_ellipsis, token_span(item));
      t.any_dims = true;
    }
    t.dims = arena_.copy(items);
  }

  // ---- targets

  Target* targets(Node* rule) { return arena_.make<Target>(targets_value(rule)); }
  Target targets_value(Node* rule) {
    if (rule->children.size() == 1) return target_value(rule->children[0]);
    return {span(rule), Symbol(), collect<Target>(rule, 0, 2, [&](Node* t) { return target_value(t); }), nullptr};
  }
  Target target_value(Node* rule) {
    if (rule->children.size() == 1) return {span(rule), name(rule), {}, nullptr};
    return targets_value(rule->children[1]);
  }

  // ---- expressions

  Expr* expr(Node* n) {
    for (;;) {
      // Down to where something happens: most rules of the precedence ladder have one child.
      switch (kind(n)) {
        case RcnParser::RulePostfix: return n->children.size() == 1 ? atom(n->children[0]) : postfix(n);
        case RcnParser::RuleAtom: return atom(n);
        default: break;
      }
      if (n->children.size() != 1) break;
      n = n->children[0];
    }
    Span s = span(n);
    auto& c = n->children;
    switch (kind(n)) {
      case RcnParser::RuleExpr: {
        if (first(n).type == Tk::FN) {
          bool has_params = c.size() == 6;
          std::span<Param> ps = has_params ? params(c[2]) : std::span<Param>();
          return make<LambdaExpr>(ExprKind::lambda, s, ps, expr(c.back()));
        }
        Expr* then = expr(c[0]);
        Expr* condition = expr(c[2]);
        return make<ConditionalExpr>(ExprKind::conditional, s, condition, then, expr(c[4]));
      }
      case RcnParser::RuleOrTest:
      case RcnParser::RuleAndTest: {
        LogicalOp op = kind(n) == RcnParser::RuleOrTest ? LogicalOp::or_ : LogicalOp::and_;
        return make<LogicalExpr>(ExprKind::logical, s, op, collect<Expr*>(n, 0, 2, [&](Node* x) { return expr(x); }));
      }
      case RcnParser::RuleNotTest: return make<NotExpr>(ExprKind::not_, s, expr(c[1]));
      case RcnParser::RuleComparison: {
        Expr* head = expr(c[0]);
        std::vector<CompareLink> links;
        for (std::size_t i = 1; i + 1 < c.size(); i += 2)
          links.push_back({compare_op(first(c[i]).type), span(c[i]), expr(c[i + 1])});
        return make<CompareExpr>(ExprKind::compare, s, head, arena_.copy(links));
      }
      case RcnParser::RuleAddExpr:
      case RcnParser::RuleMulExpr:
      case RcnParser::RulePower: {
        Expr* head = expr(c[0]);
        std::vector<BinaryLink> links;
        for (std::size_t i = 1; i + 1 < c.size(); i += 2)
          links.push_back({binary_op(type(c[i])), token_span(c[i]), expr(c[i + 1])});
        return make<BinaryExpr>(ExprKind::binary, s, head, arena_.copy(links));
      }
      case RcnParser::RuleUnary: return negate(n, s);
      default: return make<ErrorExpr>(ExprKind::error, s);
    }
  }

  Expr* negate(Node* n, Span s) {
    Node* operand = n->children[1];
    const Token& t = first(operand);
    bool literal =
        static_cast<Rule*>(operand)->start == static_cast<Rule*>(operand)->stop && t.type == Tk::INT && !t.bad;
    if (literal && is_smallest_int(ctx_.text_of(t)))
      return make<IntExpr>(ExprKind::int_literal, s, int_value(ctx_.text_of(t), true, s, ctx_.diagnostics));
    return make<NegateExpr>(ExprKind::negate, s, expr(operand));
  }

  Expr* postfix(Node* n) {
    Expr* e = atom(n->children[0]);
    std::uint32_t begin = first(n).begin;
    for (std::size_t i = 1; i < n->children.size(); ++i) {
      Node* trailer = n->children[i];
      auto& c = trailer->children;
      Span s{ctx_.file, begin, span(trailer).end};
      switch (type(c[0])) {
        case Tk::LPAREN: e = make<CallExpr>(ExprKind::call, s, e, c.size() == 3 ? args(c[1]) : std::span<Arg>()); break;
        case Tk::LBRACKET: e = subscript(e, c[1], s); break;
        default: e = make<MemberExpr>(ExprKind::member, s, e, name(c[1]), span(c[1]));
      }
    }
    return e;
  }

  Expr* subscript(Expr* object, Node* rule, Span s) {
    auto& c = rule->children;
    if (c.size() == 1 && !is_token(c[0])) return make<IndexExpr>(ExprKind::index, s, object, expr(c[0]));
    Expr* parts[3] = {nullptr, nullptr, nullptr};
    std::size_t at = 0;
    for (Node* child : c) {
      if (is_token(child))
        ++at;
      else
        parts[at] = expr(child);
    }
    return make<SliceExpr>(ExprKind::slice, s, object, parts[0], parts[1], parts[2]);
  }

  Expr* atom(Node* n) {
    auto& c = n->children;
    const Token& t = first(n);
    Span s = span(n);
    if (c.size() == 1) {
      if (is_name(t.type)) return make<NameExpr>(ExprKind::name, s, Symbol(ctx_.text_of(t)));
      if (t.bad) return make<ErrorExpr>(ExprKind::error, s);
      switch (t.type) {
        case Tk::INT:
          return make<IntExpr>(ExprKind::int_literal, s, int_value(ctx_.text_of(t), false, s, ctx_.diagnostics));
        case Tk::FLOAT:
          return make<FloatExpr>(ExprKind::float_literal, s, float_value(ctx_.text_of(t), s, ctx_.diagnostics));
        case Tk::STRING:
          return make<StringExpr>(ExprKind::string_literal, s,
                                  string_value(ctx_.text_of(t), s, arena_, ctx_.diagnostics));
        case Tk::TRUE: return make<BoolExpr>(ExprKind::bool_literal, s, true);
        case Tk::FALSE: return make<BoolExpr>(ExprKind::bool_literal, s, false);
        default: return make<NoneExpr>(ExprKind::none_literal, s);
      }
    }
    switch (t.type) {
      case Tk::LPAREN:
        if (c.size() == 3) return expr(c[1]);
        return make<TupleExpr>(ExprKind::tuple, s, bracketed(n));
      case Tk::LBRACKET:
        if (c.size() == 4 && !is_token(c[2])) return comprehension(c[1], c[2], s);
        return make<ListExpr>(ExprKind::list, s, bracketed(n));
      default: return record(n, s);
    }
  }

  Expr* comprehension(Node* item, Node* rule, Span s) {
    auto& c = rule->children;  // 'for' targets 'in' orTest ('if' orTest)?
    Expr* value = expr(item);
    Target* target = targets(c[1]);
    Expr* source = expr(c[3]);
    return make<ComprehensionExpr>(ExprKind::comprehension, s, value, target, source,
                                   c.size() > 5 ? expr(c[5]) : nullptr);
  }

  Expr* record(Node* n, Span s) {
    std::vector<RecordField> fields;
    for (std::size_t i = 1; i + 1 < n->children.size(); i += 2) {
      Node* field = n->children[i];
      const Token& key = first(field);
      Symbol key_name = key.type == Tk::STRING && !key.bad
                            ? Symbol(string_value(ctx_.text_of(key), ctx_.span(key), arena_, ctx_.diagnostics))
                            : Symbol(ctx_.text_of(key));
      fields.push_back({key_name, ctx_.span(key), expr(field->children[2])});
    }
    return make<RecordExpr>(ExprKind::record, s, arena_.copy(fields));
  }

  // One expression, or several as a tuple.
  Expr* exprs(Node* rule) {
    if (rule->children.size() == 1) return expr(rule->children[0]);
    return arena_.make<TupleExpr>(Expr{ExprKind::tuple, span(rule)},
                                  collect<Expr*>(rule, 0, 2, [&](Node* e) { return expr(e); }));
  }

  // ---- statements

  Block block(Node* rule) {
    std::vector<Stmt*> statements;
    for (std::size_t i = 1; i + 1 < rule->children.size(); ++i)
      statements.push_back(statement(rule->children[i]->children[0]->children[0]));
    return arena_.copy(statements);
  }

  Stmt* statement(Node* n) {
    auto& c = n->children;
    Span s = span(n);
    auto at_end = [&](std::size_t from) { return c.size() > from ? expr(c.back()) : nullptr; };
    switch (kind(n)) {
      case RcnParser::RuleImportStmt: return import_statement(n, s);
      case RcnParser::RuleOptionDecl:
        return make<OptionStmt>(StmtKind::option, s, name(c[1]), span(c[1]), type_expr(c[3]), expr(c[5]), doc(n));
      case RcnParser::RuleExternDecl:
        return make<ExternStmt>(StmtKind::extern_, s, name(c[1]), span(c[1]),
                                c.size() == 5 ? options(c[2]) : std::span<Arg>(), type_expr(c.back()), doc(n));
      case RcnParser::RuleDimDecl:
        return make<DimStmt>(StmtKind::dim, s, name(c[1]), span(c[1]), name(c[3]), span(c[3]), at_end(4), doc(n));
      case RcnParser::RuleParamDecl: {
        bool has_options = c.size() == 7;
        std::span<Arg> opts = has_options ? options(c[2]) : std::span<Arg>();
        return make<ParamStmt>(StmtKind::param, s, name(c[1]), span(c[1]), opts, type_expr(c[has_options ? 4 : 3]),
                               expr(c.back()), doc(n));
      }
      case RcnParser::RuleFlagDecl:
        return make<FlagStmt>(StmtKind::flag, s, name(c[1]), span(c[1]), expr(c[3]), doc(n));
      case RcnParser::RuleFnDecl: return function(n, s);
      case RcnParser::RuleModuleDecl:
        return make<ModuleStmt>(StmtKind::module, s, name(c[1]), span(c[1]),
                                c.size() == 6 ? params(c[3]) : std::span<Param>(), block(c.back()), doc(n));
      case RcnParser::RuleNetworkDecl: return make<NetworkStmt>(StmtKind::network, s, block(c[1]), doc(n));
      case RcnParser::RuleModeDecl: return make<ModeStmt>(StmtKind::mode, s, name(c[1]), span(c[1]), block(c[2]));
      case RcnParser::RuleMarkStmt: return mark(n, s);
      case RcnParser::RuleStackStmt: return make<StackStmt>(StmtKind::stack, s, name(c[1]), span(c[1]), expr(c[3]));
      case RcnParser::RuleIfStmt: return if_statement(n, s);
      case RcnParser::RuleForStmt: {
        Target* target = targets(c[1]);
        Expr* source = expr(c[3]);
        return make<ForStmt>(StmtKind::for_, s, target, source, block(c[4]));
      }
      case RcnParser::RuleLoopStmt: return loop(n, s);
      case RcnParser::RuleMaskedStmt: {
        Expr* mask = expr(c[1]);
        return make<MaskedStmt>(StmtKind::masked, s, mask, block(c[2]));
      }
      case RcnParser::RuleReturnStmt:
        return make<ReturnStmt>(StmtKind::return_, s, c.size() > 1 ? exprs(c[1]) : nullptr);
      case RcnParser::RuleAssertStmt: {
        Expr* condition = expr(c[1]);
        return make<AssertStmt>(StmtKind::assert_, s, condition, c.size() > 3 ? expr(c[3]) : nullptr);
      }
      default: return simple(n, s);
    }
  }

  Stmt* import_statement(Node* n, Span s) {
    auto& c = n->children;
    Node* from = c[1];
    Source source{span(from), {}, first(from).type == Tk::STRING};
    if (source.is_path) {
      source.text = string_value(ctx_.text_of(first(from)), source.span, arena_, ctx_.diagnostics);
    } else {
      std::string dotted(ctx_.text.substr(source.span.begin, source.span.end - source.span.begin));
      std::erase_if(dotted, [](char ch) { return ch == ' ' || ch == '\t'; });
      source.text = arena_.copy(std::string_view(dotted));
    }
    if (type(c[0]) == Tk::IMPORT) {
      bool renamed = c.size() == 4;
      return make<ImportStmt>(StmtKind::import, s, source, renamed ? name(c[3]) : Symbol(),
                              renamed ? span(c[3]) : Span{});
    }
    std::span<ImportedName> names = collect<ImportedName>(n, 3, 2, [&](Node* alias) {
      Symbol original = name(alias->children[0]);
      return ImportedName{original, span(alias), alias->children.size() == 3 ? name(alias->children[2]) : original};
    });
    return make<FromImportStmt>(StmtKind::from_import, s, source, names);
  }

  Stmt* function(Node* n, Span s) {
    auto& c = n->children;  // 'fn' name '(' params? ')' ('->' typeExpr (',' typeExpr)*)? block
    std::span<Param> ps;
    std::vector<TypeExpr*> results;
    for (std::size_t i = 3; i + 1 < c.size(); ++i) {
      if (is_token(c[i])) continue;
      if (kind(c[i]) == RcnParser::RuleParams)
        ps = params(c[i]);
      else
        results.push_back(type_expr(c[i]));
    }
    return make<FnStmt>(StmtKind::fn, s, name(c[1]), span(c[1]), ps, arena_.copy(results), block(c.back()), doc(n));
  }

  Stmt* mark(Node* n, Span s) {
    auto& c = n->children;  // word name ('[' expr ']')? declOpts? ('=' expr)?
    Tk word = type(c[0]);
    MarkKind mark = word == Tk::LOSS ? MarkKind::loss : word == Tk::ERROR ? MarkKind::error : MarkKind::output;
    auto* m = make<MarkStmt>(StmtKind::mark, s, mark, name(c[1]), span(c[1]), nullptr, std::span<Arg>(), nullptr);
    for (std::size_t i = 2; i < c.size(); ++i) {
      if (!is_token(c[i]))
        m->options = options(c[i]);
      else if (type(c[i]) == Tk::LBRACKET)
        m->index = expr(c[i + 1]), i += 2;
      else
        m->value = expr(c[i + 1]), ++i;
    }
    return m;
  }

  Stmt* if_statement(Node* n, Span s) {
    auto& c = n->children;
    std::vector<IfBranch> branches;
    auto* result = make<IfStmt>(StmtKind::if_, s, std::span<IfBranch>(), false, Block());
    for (std::size_t i = 0; i < c.size();) {
      if (type(c[i]) == Tk::ELSE) {
        result->has_else = true;
        result->otherwise = block(c[i + 1]);
        i += 2;
      } else {
        Expr* condition = expr(c[i + 1]);
        branches.push_back({condition, block(c[i + 2])});
        i += 3;
      }
    }
    result->branches = arena_.copy(branches);
    return result;
  }

  Stmt* loop(Node* n, Span s) {
    auto& c = n->children;  // 'loop' name 'over' expr ('max' expr)? ('with' binding (',' binding)*)? block
    Expr* over = expr(c[3]);
    std::size_t at = 4;
    Expr* max = nullptr;
    if (is_token(c[at]) && type(c[at]) == Tk::MAX) {
      max = expr(c[at + 1]);
      at += 2;
    }
    std::vector<LoopState> state;
    for (++at; at + 1 <= c.size() - 1; at += 2) {
      auto& b = c[at]->children;  // name (':' typeExpr)? '=' expr
      TypeExpr* t = b.size() == 5 ? type_expr(b[2]) : nullptr;
      state.push_back({name(b[0]), span(b[0]), t, expr(b.back())});
    }
    return make<LoopStmt>(StmtKind::loop, s, name(c[1]), span(c[1]), over, max, arena_.copy(state), block(c.back()));
  }

  Stmt* simple(Node* n, Span s) {
    auto& c = n->children;  // exprs ((':' typeExpr)? '=' exprs | augop expr)?
    Expr* left = exprs(c[0]);
    if (c.size() == 1) return make<ExprStmt>(StmtKind::expr, s, left);
    if (!is_token(c[1])) {  // augop
      Expr* value = expr(c[2]);
      if (!is_update_target(*left, ctx_.text_of(first(c[1])), ctx_)) return make<ErrorStmt>(StmtKind::error, s);
      Symbol target = as<NameExpr>(*left).name;
      return make<UpdateStmt>(StmtKind::update, s, target, left->span, binary_op(first(c[1]).type), value);
    }
    TypeExpr* t = c.size() == 5 ? type_expr(c[2]) : nullptr;
    Target* target = arena_.make<Target>(to_target(*left, ctx_, arena_));
    return make<AssignStmt>(StmtKind::assign, s, target, t, exprs(c.back()), doc(n));
  }

  const TokenList& tokens_;
  ParseContext& ctx_;
  Arena& arena_;
};

}  // namespace

ast::File build_tree(antlr4::tree::ParseTree* program, bool intact, const TokenList& tokens, ParseContext& context,
                     Arena& arena) {
  return Builder(tokens, context, arena).file(program, intact);
}

}  // namespace rcn
