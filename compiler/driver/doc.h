// `rcnc doc`: the standard library as its users read it.
#pragma once

#include <string>
#include <vector>

#include "compiler/eval/op.h"

namespace rcn {

struct DocEntry {
  std::string name;       // `nn.Linear`; of a function of a module `call`
  std::string kind;       // `module`, `fn`, `operation`, `value`
  std::string signature;  // behind the name
  std::string text;       // its documentation, lines separated by newlines
  std::string file;       // of the library; empty: built in
  std::vector<DocEntry> members;  // the public functions of a module
};

// All public names, by name.
std::vector<DocEntry> documentation(const OpLibrary& ops);

// The entries that the names mean: `nn.Linear`, `Linear`, `nn.init`. Empty and `error` set where one is unknown.
std::vector<DocEntry> documented(const std::vector<DocEntry>& all, const std::vector<std::string>& names, std::string& error);

std::string doc_list(const std::vector<DocEntry>& entries);      // a line each
std::string doc_text(const std::vector<DocEntry>& entries);      // all there is
std::string doc_markdown(const std::vector<DocEntry>& entries);  // one page

}  // namespace rcn
