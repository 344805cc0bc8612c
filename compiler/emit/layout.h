// Breaks nested brackets over lines: what fits stays on one line, else each item gets a line of its own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rcn {

// A leaf, or brackets with items between them.
struct Node {
  std::string open;   // a leaf's whole text, or what stands before the first item: `{`, `"from": [`
  std::string close;  // empty for a leaf; `,)` for a tuple of one
  std::vector<Node> items;
  std::size_t width = 0;  // on one line
  bool broken = false;    // its items stand on lines of their own in any case, and so does it
  std::string comment;    // at the end of its first line, where it has a line of its own

  static Node leaf(std::string text);
  static Node group(std::string open, std::vector<Node> items, std::string close);
  void prefix(std::string_view text);  // puts `text` (a key) in front
};

struct LayoutStyle {
  std::size_t width = 110;
  std::size_t indent = 4;
  bool trailing_comma = true;
};

// Appends a group with each item on a line of its own, broken further where it does not fit. Comments do not count: the
// layout is the same without them.
void render(const Node& group, std::size_t level, const LayoutStyle& style, std::string& out);

}  // namespace rcn
