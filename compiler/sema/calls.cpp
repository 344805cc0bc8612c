#include "compiler/sema/calls.h"

#include <algorithm>

#include "compiler/base/suggest.h"

namespace rcn {

using namespace ast;

namespace {

void unknown_keyword(const Arg& a, const KnownCallee& callee, const std::vector<std::string>& valid,
                     DiagnosticSink& diagnostics) {
  auto report = diagnostics.report(Diag::unknown_keyword, a.name_span, {callee.name, a.name.str()});
  if (std::vector<std::string> near = nearest_names(a.name.str(), valid); !near.empty())
    report.help(Diag::help_did_you_mean, {quoted_list(near)});
  else
    report.help(Diag::help_text,
                {valid.empty() ? "it has no parameters" : "its parameters are " + quoted_list(valid, "and")});
  if (callee.declared.valid()) report.note(Diag::note_declared_here, callee.declared, {callee.name});
}

}  // namespace

void check_call(const CallExpr& call, const KnownCallee& callee, DiagnosticSink& diagnostics) {
  if (callee.names) {
    for (const Arg& a : call.args)
      if (a.name && std::find(callee.names->begin(), callee.names->end(), a.name.str()) == callee.names->end())
        unknown_keyword(a, callee, *callee.names, diagnostics);
    return;
  }
  std::vector<std::string> valid;
  for (const Param& p : callee.params) valid.push_back(p.name.str());
  std::vector<bool> given(callee.params.size(), false);
  std::size_t positional = 0, accepted = 0;
  while (accepted < callee.params.size() && !callee.params[accepted].keyword_only) ++accepted;
  bool wrong = false, by_name = false;
  for (const Arg& a : call.args) {
    by_name = by_name || a.name;
    if (!a.name) {
      wrong = wrong || by_name;  // told with the form of the call
      if (positional < accepted) given[positional] = true;
      if (positional++ == accepted) {
        auto report =
            diagnostics.report(Diag::too_many_arguments, a.value->span, {callee.name, std::to_string(accepted)});
        if (accepted < callee.params.size()) {
          std::vector<std::string> named(valid.begin() + static_cast<std::ptrdiff_t>(accepted), valid.end());
          report.help(Diag::help_text,
                      {quoted_list(named, "and") + (named.size() == 1 ? " is given by name" : " are given by name")});
        }
        report.note(Diag::note_declared_here, callee.declared, {callee.name});
        wrong = true;
      }
      continue;
    }
    std::size_t i = 0;
    while (i < callee.params.size() && callee.params[i].name != a.name) ++i;
    if (i == callee.params.size()) {
      unknown_keyword(a, callee, valid, diagnostics);
      wrong = true;
    } else if (i < positional && i < accepted) {
      diagnostics.report(Diag::argument_by_position_too, a.name_span, {a.name.str()});
      wrong = true;
    } else {
      given[i] = true;
    }
  }
  // What is missing may be what was misspelt.
  if (wrong) return;
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < callee.params.size(); ++i)
    if (!given[i] && callee.params[i].default_value == nullptr) missing.push_back(callee.params[i].name.str());
  if (!missing.empty())
    diagnostics.report(Diag::missing_argument, call.span, {callee.name, quoted_list(missing, "and")})
        .note(Diag::note_declared_here, callee.declared, {callee.name});
}

}  // namespace rcn
