// Names of parameters in a file, and what a model calls them.
#pragma once

#include <string>
#include <vector>

namespace rcn {

class RenameMap {
 public:
  // A JSON object {"old": "new"}, or lines `old new`, with `#` comments. In both names may stand one `*`, which is the
  // same text in both. Throws ArrayFileError.
  static RenameMap read(const std::string& path);

  // The new name of `name`, to which the map may add `/param` or not; `name` itself if nothing fits. A whole name comes
  // before one with `*`, and the first of these before others.
  std::string operator()(const std::string& name);
  // Old names that fitted nothing so far.
  std::vector<std::string> unused() const;

 private:
  struct Rule {
    std::string from, to;
    bool used = false;
  };
  void add(const std::string& path, const std::string& from, const std::string& to);

  std::vector<Rule> rules_;
};

}  // namespace rcn
