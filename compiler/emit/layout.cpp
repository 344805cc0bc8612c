#include "compiler/emit/layout.h"

#include <string_view>
#include <utility>

namespace rcn {

Node Node::leaf(std::string text) {
  Node node;
  node.width = text.size();
  node.open = std::move(text);
  return node;
}

Node Node::group(std::string open, std::vector<Node> items, std::string close) {
  Node node;
  node.width = open.size() + close.size();
  for (const Node& item : items) {
    node.width += item.width + 2;
    node.broken = node.broken || item.broken;
  }
  if (!items.empty()) node.width -= 2;
  node.open = std::move(open);
  node.close = std::move(close);
  node.items = std::move(items);
  return node;
}

void Node::prefix(std::string_view text) {
  std::string all;
  all.reserve(text.size() + open.size());
  open = std::move(all.append(text).append(open));
  width += text.size();
}

namespace {

void append_flat(const Node& node, std::string& out) {
  out += node.open;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (i) out += ", ";
    append_flat(node.items[i], out);
  }
  out += node.close;
}

void append_comment(std::string_view comment, std::string& out) {
  if (comment.empty()) return;
  out += "  ";
  out += comment;
}

void append_broken(const Node& node, std::size_t level, const LayoutStyle& style, std::string& out) {
  out += node.open;
  append_comment(node.comment, out);
  out += '\n';
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    out.append((level + 1) * style.indent, ' ');
    bool comma = style.trailing_comma || i + 1 < node.items.size();
    const Node& item = node.items[i];
    bool fits = !item.broken && (level + 1) * style.indent + item.width + (comma ? 1 : 0) <= style.width;
    bool flat = item.items.empty() || fits;
    if (flat) {
      append_flat(item, out);
    } else {
      append_broken(item, level + 1, style, out);
    }
    if (comma) out += ',';
    if (flat) append_comment(item.comment, out);
    out += '\n';
  }
  out.append(level * style.indent, ' ');
  // The comma of a one-item tuple is there already.
  out += std::string_view(node.close).substr(node.close.starts_with(',') ? 1 : 0);
}

}  // namespace

void render(const Node& node, std::size_t level, const LayoutStyle& style, std::string& out) {
  append_broken(node, level, style, out);
}

}  // namespace rcn
