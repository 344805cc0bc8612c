#include "compiler/driver/doc.h"

#include <algorithm>

#include "compiler/base/suggest.h"
#include "compiler/eval/nn_names.h"
#include "compiler/syntax/ast_image.h"

namespace rcn {

namespace {

std::string argument_type(ArgTypes types) {
  std::vector<std::string> words;
  auto add = [&](ArgTypes bits, const char* word) {
    if ((types & bits) == bits) words.emplace_back(word);
  };
  add(arg::tensor, "Tensor");
  if ((types & arg::number) == arg::number) {
    words.emplace_back("float");
  } else {
    add(arg::integer, "int");
    add(arg::real, "float");
  }
  add(arg::boolean, "bool");
  add(arg::str, "str");
  add(arg::dim, "Dim");
  if (types & (arg::dims | arg::list)) words.emplace_back("list");
  add(arg::record, "record");
  add(arg::function, "Function");
  if (types & arg::history) words.emplace_back("State");
  add(arg::dtype, "DType");
  add(arg::none, "none");
  std::string result;
  for (const std::string& word : words) result += (result.empty() ? "" : " | ") + word;
  return result;
}

std::string signature_of(const OpInfo& op) {
  std::string text = "(";
  bool keyword_only = false;
  for (const OpParam& p : op.params) {
    if (text.size() > 1) text += ", ";
    if (p.keyword_only && !keyword_only) text += "*, ";
    keyword_only = keyword_only || p.keyword_only;
    text += std::string(p.name) + ": " + argument_type(p.types);
    if (!p.default_text.empty()) text += " = " + std::string(p.default_text);
  }
  return text + ") -> " + std::string(op.result);
}

// What stands between the name and the body, in one line.
std::string signature_of(const ImageFile& file, Span name, std::size_t end) {
  std::string text;
  int depth = 0;
  char quote = 0;
  for (std::size_t i = name.end; i < end && i < file.text.size(); ++i) {
    char c = file.text[i];
    if (quote) {
      if (c == quote && file.text[i - 1] != '\\') quote = 0;
    } else if (c == '"') {
      quote = c;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if (c == ')' || c == ']') {
      --depth;
    } else if (c == '{' && depth == 0) {
      break;
    }
    bool blank = c == '\n' || c == ' ';
    if (blank && !quote && (text.empty() || text.back() == ' ' || text.back() == '(')) continue;
    text += blank ? ' ' : c;
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

DocEntry entry_of(const ImageFile& file, ast::Stmt& s, const std::string& prefix) {
  if (s.kind == ast::StmtKind::fn) {
    const auto& fn = ast::as<ast::FnStmt>(s);
    return {prefix + fn.name.str(), "fn", signature_of(file, fn.name_span, fn.span.end), std::string(fn.doc), std::string(file.name), {}};
  }
  const auto& module = ast::as<ast::ModuleStmt>(s);
  DocEntry entry{prefix + module.name.str(), "module", signature_of(file, module.name_span, module.span.end), std::string(module.doc),
                 std::string(file.name), {}};
  for (ast::Stmt* member : module.body)
    if (member->kind == ast::StmtKind::fn && ast::as<ast::FnStmt>(*member).name.str()[0] != '_')
      entry.members.push_back(entry_of(file, *member, {}));
  return entry;
}

// The first sentence.
std::string summary(const std::string& text) {
  std::size_t end = std::min(text.find(".\n"), text.find("\n\n"));
  for (std::size_t at = text.find(". "); at < end; at = text.find(". ", at + 1))
    if (std::string_view(text).substr(0, at).ends_with("et al")) continue;
    else end = at;
  std::string line = text.substr(0, end);
  std::replace(line.begin(), line.end(), '\n', ' ');
  while (!line.empty() && (line.back() == '.' || line.back() == ':')) line.pop_back();
  return line;
}

// Broken between parameters where it is long.
std::string broken(const std::string& text, std::size_t indent) {
  constexpr std::size_t kWidth = 110;
  std::string result;
  std::size_t column = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    result += c;
    ++column;
    if (c != ',' || depth != 1) continue;
    std::size_t next = std::min(text.find(',', i + 1), text.size());
    if (column + next - i <= kWidth) continue;
    result += "\n" + std::string(indent, ' ');
    column = indent;
    ++i;  // the blank behind the comma
  }
  return result;
}

std::string indented(const std::string& text, const std::string& indent) {
  std::string result = indent;
  for (char c : text) {
    result += c;
    if (c == '\n') result += indent;
  }
  for (std::size_t at = 0; (at = result.find(indent + "\n")) != std::string::npos && !indent.empty();) result.erase(at, indent.size());
  return result + "\n";
}

}  // namespace

std::vector<DocEntry> documentation(const OpLibrary& ops) {
  std::vector<DocEntry> all;
  Arena arena;
  for (const ImageFile& file : stdlib_image())
    for (const ImageEntry& e : file.entries) {
      bool documented = e.kind == ast::StmtKind::fn || e.kind == ast::StmtKind::module;
      if (documented && e.name[0] != '_') all.push_back(entry_of(file, *decode_statement(file, e.offset, 0, arena), std::string(file.module) + "."));
    }
  auto declared = [&](const std::string& name) { return std::any_of(all.begin(), all.end(), [&](const DocEntry& e) { return e.name == name; }); };
  for (std::string_view name : ops.names())
    if (std::string full = "nn." + std::string(name); !declared(full)) {
      const OpInfo& op = *ops.find(name);
      all.push_back({full, "operation", signature_of(op), std::string(op.doc), {}, {}});
    }
  for (const EvaluatorName& name : kEvaluatorNames)
    all.push_back({"nn." + std::string(name.name), "value", std::string(name.signature), std::string(name.doc), {}, {}});
  std::sort(all.begin(), all.end(), [](const DocEntry& a, const DocEntry& b) { return a.name < b.name; });
  return all;
}

std::vector<DocEntry> documented(const std::vector<DocEntry>& all, const std::vector<std::string>& names, std::string& error) {
  std::vector<DocEntry> result;
  for (const std::string& name : names) {
    std::size_t before = result.size();
    for (const DocEntry& entry : all) {
      bool inside = entry.name.starts_with(name + ".") || entry.name.starts_with("nn." + name + ".");
      if (entry.name == name || entry.name == "nn." + name || (inside && name != "nn")) result.push_back(entry);
    }
    if (result.size() > before) continue;
    std::vector<std::string> candidates;
    for (const DocEntry& entry : all) {
      candidates.push_back(entry.name);
      candidates.push_back(entry.name.substr(3));
    }
    std::vector<std::string> near = nearest_names(name, candidates);
    error = "there is no `" + name + "` in the standard library" + (near.empty() ? "; `rcnc doc` lists all names" : "; did you mean " + quoted_list(near) + "?");
    return {};
  }
  return result;
}

std::string doc_list(const std::vector<DocEntry>& entries) {
  std::size_t width = 0;
  for (const DocEntry& e : entries) width = std::max(width, e.name.size());
  std::string text;
  for (const DocEntry& e : entries) text += e.name + std::string(width - e.name.size() + 2, ' ') + summary(e.text) + "\n";
  return text;
}

std::string doc_text(const std::vector<DocEntry>& entries) {
  std::string text;
  for (const DocEntry& e : entries) {
    if (!text.empty()) text += "\n";
    text += broken((e.kind == "value" ? "" : e.kind + " ") + e.name + e.signature, 8) + "\n";
    if (!e.text.empty()) text += indented(e.text, "    ");
    for (const DocEntry& m : e.members) {
      text += "\n    " + broken("fn " + m.name + m.signature, 12) + "\n";
      if (!m.text.empty()) text += indented(m.text, "        ");
    }
    if (!e.file.empty()) text += "\n    (" + e.file + ")\n";
  }
  return text;
}

std::string doc_markdown(const std::vector<DocEntry>& entries) {
  std::vector<std::string> files;
  for (const DocEntry& e : entries)
    if (std::find(files.begin(), files.end(), e.file) == files.end()) files.push_back(e.file);
  std::sort(files.begin(), files.end());
  std::rotate(files.begin(), std::find_if(files.begin(), files.end(), [](const std::string& f) { return !f.empty(); }), files.end());
  std::string text = "# Reference of the standard library\n\n`rcnc doc NAME` prints one entry. This page is made of them: `scripts/update-golden`.\n";
  for (const std::string& file : files) {
    text += "\n## " + (file.empty() ? "Operations" : "`" + file + "`") + "\n";
    for (const DocEntry& e : entries) {
      if (e.file != file) continue;
      text += "\n### " + e.name + "\n\n```\n" + broken((e.file.empty() ? "" : e.kind + " ") + e.name + e.signature, 8) + "\n```\n";
      if (!e.text.empty()) text += "\n" + indented(e.text, "");
      for (const DocEntry& m : e.members) {
        text += "\n```\n" + broken("fn " + m.name + m.signature, 8) + "\n```\n";
        if (!m.text.empty()) text += "\n" + indented(m.text, "");
      }
    }
  }
  return text;
}

}  // namespace rcn
