#include "compiler/sema/placement.h"

#include <string>

#include "compiler/syntax/walk.h"

namespace rcn {

using namespace ast;

namespace {

enum Place : unsigned { kFile = 1, kModule = 2, kNetwork = 4, kFn = 8, kLoop = 16, kMasked = 32, kMode = 64 };
constexpr unsigned kBodies = kFile | kModule | kNetwork | kFn | kLoop | kMasked;

struct Rule {
  StmtKind kind;
  std::string_view word;
  unsigned places;
  std::string_view where;  // "stands ..."
  std::string_view help;
};

constexpr std::string_view kFileTop = "at the top of a file";
constexpr std::string_view kFunctions = "in a function";

constexpr Rule kRules[] = {
    {StmtKind::import, "import", kFile, kFileTop, ""},
    {StmtKind::from_import, "from", kFile, kFileTop, ""},
    {StmtKind::option, "option", kFile, kFileTop, "a module takes parameters instead"},
    {StmtKind::extern_, "extern", kFile, kFileTop, "a function takes tensors as parameters instead"},
    {StmtKind::module, "module", kFile, kFileTop,
     "modules do not nest: hand over what the inner one needs as parameters"},
    {StmtKind::network, "network", kFile, kFileTop, ""},
    {StmtKind::fn, "fn", kFile | kModule | kNetwork, "in a file, a `module` or the `network`",
     "inside a function write `name = fn(x) => ...`"},
    {StmtKind::param, "param", kModule | kNetwork, "in the body of a `module` or of the `network`", ""},
    {StmtKind::flag, "flag", kModule | kNetwork, "in the body of a `module` or of the `network`", ""},
    {StmtKind::mode, "mode", kNetwork, "in the body of the `network`", ""},
    {StmtKind::loop, "loop", kFn | kLoop | kMasked, kFunctions, "over static values write `for x in list`"},
    {StmtKind::return_, "return", kFn, "in a function, outside of `loop` and `masked`", ""},
    {StmtKind::mark, "", kFn, "in a function, outside of `loop` and `masked`", ""},
    {StmtKind::stack, "stack", kLoop, "in the body of a `loop`, outside of `masked`", ""},
    {StmtKind::masked, "masked", kLoop | kMasked, "in the body of a `loop`",
     "elsewhere `nn.where(condition, a, b)` chooses element by element"},
    {StmtKind::dim, "dim", kBodies, "", ""},
    {StmtKind::assert_, "assert", kBodies, "", ""},
    {StmtKind::update, "", kBodies, "", ""},
};

class Placement {
 public:
  explicit Placement(DiagnosticSink& diagnostics) : diagnostics_(diagnostics) {}

  void file(const File& file) {
    find_network(file.body);
    place_ = kFile;
    top_ = true;
    block(file.body);
  }

 private:
  // One in the wrong place is told as that; and it may be the statement that is broken.
  void find_network(Block body) {
    for (Stmt* s : body) {
      has_network_ = has_network_ || s->kind == StmtKind::network || s->kind == StmtKind::error;
      for_each_block(*s, [&](Block inner) { find_network(inner); });
    }
  }

  void block(Block body) {
    for (Stmt* s : body) statement(*s);
  }

  void inside(Place place, Block body) {
    unsigned outer = place_;
    bool top = top_;
    place_ = place;
    top_ = false;
    block(body);
    place_ = outer;
    top_ = top;
  }

  // The word that begins a statement, for messages.
  static Span head(const Stmt& s, std::string_view word) {
    return {s.span.file, s.span.begin, s.span.begin + static_cast<std::uint32_t>(word.size())};
  }

  std::string here() const {
    switch (place_) {
      case kFile: return "a file outside of modules and functions";
      case kModule: return "the body of a `module`";
      case kNetwork: return "the body of the `network`";
      case kFn: return "a function";
      case kLoop: return "the body of a `loop`";
      case kMasked: return "the body of a `masked`";
      default: return "a `mode`";
    }
  }

  void statement(Stmt& s) {
    for (const Rule& rule : kRules)
      if (rule.kind == s.kind) check(s, rule);
    switch (s.kind) {
      case StmtKind::fn: inside(kFn, as<FnStmt>(s).body); break;
      case StmtKind::module: inside(kModule, as<ModuleStmt>(s).body); break;
      case StmtKind::network: network(as<NetworkStmt>(s)); break;
      case StmtKind::mode: inside(kMode, as<ModeStmt>(s).body); break;
      case StmtKind::loop: inside(kLoop, as<LoopStmt>(s).body); break;
      case StmtKind::masked: inside(kMasked, as<MaskedStmt>(s).body); break;
      case StmtKind::if_:
      case StmtKind::for_: {
        bool top = top_;
        top_ = false;
        for_each_block(s, [&](Block b) { block(b); });
        top_ = top;
        break;
      }
      case StmtKind::assign: assign(as<AssignStmt>(s)); break;
      case StmtKind::expr: expression(as<ExprStmt>(s)); break;
      default: break;
    }
  }

  void check(Stmt& s, const Rule& rule) {
    std::string word(rule.word);
    if (s.kind == StmtKind::mark) {
      MarkKind mark = as<MarkStmt>(s).mark;
      word = mark == MarkKind::loss ? "loss" : mark == MarkKind::error ? "error" : "output";
    }
    bool right = (rule.places & place_) != 0 && (rule.places != kFile || top_);
    if (!right) {
      if (rule.places == kBodies) {
        diagnostics_.report(Diag::not_in_mode, s.span)
            .help(Diag::help_text, {"a `mode` holds `if`, `for` and `m.flag = value`"});
        return;
      }
      std::string where = (rule.places & place_) != 0 ? "an `if` or `for`" : here();
      auto report = diagnostics_.report(Diag::misplaced, head(s, word), {word, where});
      report.help(Diag::help_text,
                  {"it stands " + std::string(rule.where) + (rule.help.empty() ? "" : "; " + std::string(rule.help))});
      if (s.kind == StmtKind::mark && (place_ & (kLoop | kMasked)))
        report.help(Diag::help_text, {"collect the value with `stack` and mark it after the loop"});
      return;
    }
    if ((s.kind == StmtKind::option || s.kind == StmtKind::extern_) && !has_network_)
      diagnostics_.report(Diag::needs_network, head(s, word), {word})
          .help(Diag::help_text,
                {s.kind == StmtKind::option ? "in a library file assign a constant, or take a parameter"
                                            : "in a library file take the tensor as a parameter of a function"});
  }

  void network(NetworkStmt& s) {
    bool first = top_ && place_ == kFile && !first_network_.valid();
    if (first)
      first_network_ = head(s, "network");
    else if (top_ && place_ == kFile)
      diagnostics_.report(Diag::second_network, head(s, "network")).note(Diag::note_first_here, first_network_);
    bool main = !first;  // one that should not be there has no more to do
    for (Stmt* inner : s.body) {
      if (inner->kind == StmtKind::fn && as<FnStmt>(*inner).name.str() == "main") {
        main = true;
        if (!as<FnStmt>(*inner).params.empty())
          diagnostics_.report(Diag::main_takes_nothing, as<FnStmt>(*inner).params[0].span)
              .help(Diag::help_text, {"what comes from outside is declared with `extern` or `option`"});
      }
      main = main || inner->kind == StmtKind::error || inner->kind == StmtKind::network;
    }
    if (!main)
      diagnostics_.report(Diag::no_main, head(s, "network")).help(Diag::help_text, {"write `fn main() { ... }` in it"});
    inside(kNetwork, s.body);
  }

  void assign(AssignStmt& s) {
    const Target* flag = flag_target(*s.target);
    if (flag != nullptr && (place_ != kMode || flag != s.target)) {
      diagnostics_.report(Diag::member_assigned, flag->span, {flag->name.str()})
          .help(Diag::help_text, {"members are assigned in the body of their own module only, flags in a `mode`"});
      return;
    }
    if (s.type != nullptr && (!s.target->name || flag != nullptr))
      diagnostics_.report(Diag::type_of_several, s.type->span)
          .help(Diag::help_text, {"assign first and give each its type in a line of its own"});
    if (place_ == kMode && (s.type != nullptr || !s.target->name))
      diagnostics_.report(Diag::not_in_mode, s.span)
          .help(Diag::help_text, {"a `mode` holds `if`, `for` and `m.flag = value`"});
  }

  static const Target* flag_target(const Target& t) {
    if (t.flag_owner != nullptr) return &t;
    for (const Target& item : t.items)
      if (const Target* found = flag_target(item)) return found;
    return nullptr;
  }

  void expression(ExprStmt& s) {
    Expr& e = *s.value;
    if (e.kind == ExprKind::error) return;
    if (e.kind != ExprKind::call) return no_effect(e);
    if (place_ == kMode) {
      diagnostics_.report(Diag::not_in_mode, s.span)
          .help(Diag::help_text, {"a `mode` holds `if`, `for` and `m.flag = value`"});
      return;
    }
    Expr& callee = *as<CallExpr>(e).callee;
    bool end = callee.kind == ExprKind::name && as<NameExpr>(callee).name.str() == "end";
    if (end && place_ != kLoop)
      diagnostics_.report(Diag::misplaced, callee.span, {"end", here()})
          .help(Diag::help_text, {"it stands in the body of a `loop`, outside of `masked`"});
  }

  void no_effect(Expr& e) {
    if (e.kind == ExprKind::name) {
      const std::string& word = as<NameExpr>(e).name.str();
      if (word == "break" || word == "continue") {
        diagnostics_.report(Diag::no_break, e.span, {word})
            .help(Diag::help_text,
                  {word == "break" ? "filter the list before the `for`; a `loop` ends with `end(condition)`"
                                   : "put the rest of the body in an `if`"});
        return;
      }
    }
    diagnostics_.report(Diag::no_effect, e.span)
        .help(Diag::help_text, {"to go on with the line above, end that line with the operator or use parentheses"});
  }

  DiagnosticSink& diagnostics_;
  unsigned place_ = kFile;
  bool top_ = true;  // not in an `if` or `for`
  bool has_network_ = false;
  Span first_network_;
};

}  // namespace

void check_placement(const File& file, DiagnosticSink& diagnostics) { Placement(diagnostics).file(file); }

}  // namespace rcn
