// Names of instances and parameters: the tree walk, `params(...)` patterns, checks of the names.
#include <algorithm>
#include <cctype>
#include <functional>

#include "compiler/eval/interpreter.h"

namespace rcn {

namespace {

// Calls f(label, instance) for the instances in a member's value: list items by index, record fields by name.
void held_instances(const Value& value, const std::string& label, const std::function<void(const std::string&, Instance*)>& f) {
  if (value.is<Instance*>()) {
    f(label, value.get<Instance*>());
  } else if (value.is_list() || value.is_tuple()) {
    const auto& items = value.is_list() ? value.list() : value.tuple().items;
    for (std::size_t i = 0; i < items.size(); ++i) held_instances(items[i], label + "/" + std::to_string(i), f);
  } else if (value.is_record()) {
    for (const auto& [name, item] : value.record().fields) held_instances(item, label + "/" + name.str(), f);
  }
}

// `*` fits one part of a path, `**` any number of parts, none too.
bool fits(const std::vector<std::string>& pattern, std::size_t p, const std::vector<std::string>& path, std::size_t i) {
  if (p == pattern.size()) return i == path.size();
  if (pattern[p] == "**") {
    for (std::size_t k = i; k <= path.size(); ++k)
      if (fits(pattern, p + 1, path, k)) return true;
    return false;
  }
  if (i == path.size()) return false;
  // `*` also stands for any letters inside a part
  std::function<bool(std::string_view, std::string_view)> part = [&](std::string_view want, std::string_view have) -> bool {
    if (want.empty()) return have.empty();
    if (want[0] == '*') {
      for (std::size_t k = 0; k <= have.size(); ++k)
        if (part(want.substr(1), have.substr(k))) return true;
      return false;
    }
    return !have.empty() && want[0] == have[0] && part(want.substr(1), have.substr(1));
  };
  return part(pattern[p], path[i]) && fits(pattern, p + 1, path, i + 1);
}

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> parts(1);
  for (char c : path) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string join_path(const std::string& a, const std::string& b) { return a.empty() ? b : b.empty() ? a : a + "/" + b; }

}  // namespace

// The instances below `root` with their paths from it. The walk is depth first, members in the order of their first
// assignment; the first path that reaches an instance names it, but a weak member (one that was assigned a module
// parameter) only where nothing else holds the instance.
std::vector<Interpreter::Named> Interpreter::name_tree(Instance& root) const {
  struct Edge { Instance* holder = nullptr; std::string label; bool weak = true; };
  std::unordered_map<Instance*, Edge> edges;
  std::vector<Instance*> order;
  std::function<void(Instance*)> walk = [&](Instance* holder) {
    order.push_back(holder);
    for (const Member& m : holder->members) {
      if (m.kind != MemberKind::assigned) continue;
      held_instances(m.value, m.name.str(), [&](const std::string& label, Instance* child) {
        auto [it, fresh] = edges.try_emplace(child, Edge{holder, label, m.weak});
        if (!fresh && it->second.weak && !m.weak) it->second = Edge{holder, label, false};
        if (fresh) walk(child);
      });
    }
  };
  walk(&root);
  std::unordered_map<Instance*, std::string> paths;
  std::function<const std::string&(Instance*)> path = [&](Instance* instance) -> const std::string& {
    auto found = paths.find(instance);
    if (found != paths.end()) return found->second;
    std::string result;
    if (instance != &root) {
      const Edge& edge = edges.at(instance);
      result = join_path(path(edge.holder), edge.label);
    }
    return paths.emplace(instance, std::move(result)).first->second;
  };
  std::vector<Named> result;
  for (Instance* instance : order) result.push_back({instance, path(instance)});
  return result;
}

void Interpreter::builtin_params(CallArgs& args) {
  if (frame_->kind != FrameKind::module_body) fail(Diag::params_outside_body, args.span);
  if (args.positional.size() != 1 || !args.positional[0].is_str()) fail(Diag::params_pattern, args.span);
  Instance::Directive directive;
  directive.pattern = args.positional[0].str();
  directive.span = args.spans[0];
  for (CallArgs::Keyword& k : args.keywords) {
    directive.options.emplace_back(k.name, k.value);
    directive.option_spans.push_back(k.span);
  }
  frame_->self->directives.push_back(std::move(directive));
}

// At the end of a body, after those of the modules inside it: later wins.
void Interpreter::apply_directives(Instance& instance) {
  if (instance.directives.empty()) return;
  struct Entry { std::vector<std::string> path; ParamState* param; };
  std::vector<Entry> entries;
  for (const Named& named : name_tree(instance))
    for (const Member& m : named.instance->members)
      if (m.kind == MemberKind::parameter) entries.push_back({split_path(join_path(named.path, m.name.str())), m.param});
  for (const Instance::Directive& directive : instance.directives) {
    std::vector<std::string> pattern = split_path(directive.pattern);
    bool any = false;
    for (const Entry& entry : entries) {
      if (!fits(pattern, 0, entry.path, 0)) continue;
      any = true;
      for (std::size_t i = 0; i < directive.options.size(); ++i) {
        try {
          set_param_option(*entry.param, directive.options[i].first, directive.options[i].second, directive.option_spans[i]);
        } catch (const EvalError&) {  // the other lines have their own errors
        }
      }
    }
    if (!any) {
      auto builder = report(Diag::params_fits_nothing, directive.span, {directive.pattern});
      std::string known;
      for (std::size_t i = 0; i < entries.size() && i < 6; ++i) {
        std::string path;
        for (const std::string& part : entries[i].path) path += (path.empty() ? "" : "/") + part;
        known += (known.empty() ? "" : ", ") + ("`" + path + "`");
      }
      if (entries.size() > 6) known += ", ...";
      if (!known.empty()) builder.help(Diag::help_text, {"the parameters here are " + known});
    }
  }
}

void Interpreter::name_network() {
  for (const Named& named : name_tree(*network_)) {
    named.instance->path = named.path;
    named.instance->named = true;
    modules_.push_back(named.instance);
    for (const Member& m : named.instance->members)
      if (m.kind == MemberKind::parameter) m.param->info.path = join_path(named.path, m.name.str());
  }
  check_parameter_names();
}

// TensorFlow would silently rename the second of two names that differ only in case, and refuses scopes with `_` first.
// One message for each instance, where it is made.
void Interpreter::check_parameter_names() {
  std::unordered_map<std::string, const ParamState*> seen;
  std::vector<const Instance*> reported;
  auto place = [](const ParamState& p) { return p.owner->network ? p.info.span : p.owner->made; };
  for (const ParamState& param : params_) {
    if (!param.owner->named || param.info.path.empty()) continue;  // no path: its declaration failed
    const std::string& path = param.info.path;
    std::string lower;
    for (char c : path) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    auto [it, fresh] = seen.try_emplace(lower, &param);
    if ((fresh && path[0] != '_') || std::count(reported.begin(), reported.end(), param.owner)) continue;
    if (!param.owner->network) reported.push_back(param.owner);
    if (path[0] == '_') report(Diag::param_name_underscore, place(param), {path});
    if (!fresh) report(Diag::param_names_case, place(param), {path, it->second->info.path}).note(Diag::note_first_here, place(*it->second));
  }
}

}  // namespace rcn
