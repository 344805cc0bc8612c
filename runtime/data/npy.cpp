#include "runtime/data/npy.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "runtime/data/array_file.h"
#include "runtime/data/raw_array.h"

namespace rcn {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<std::int64_t> shape;
};

// The header is a Python dict literal with exactly these keys: {'descr': '<f4', 'fortran_order': False, 'shape': (3,
// 2), }.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Header parse() {
    Header header;
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      if (key == "descr") {
        skip();
        if (rest().starts_with("[")) throw ArrayFileError("a structured array; only plain numbers and bools are read");
        header.descr = string();
      } else if (key == "fortran_order") {
        header.fortran = boolean();
      } else if (key == "shape") {
        header.shape = shape();
      } else {
        bad();
      }
      accept(',');
    }
    return header;
  }

 private:
  [[noreturn]] static void bad() { throw ArrayFileError("the header of the array is damaged"); }
  std::string_view rest() const { return text_.substr(at_); }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad();
  }
  std::string string() {
    skip();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) bad();
    std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) bad();
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }
  bool boolean() {
    skip();
    for (auto [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (!rest().starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    bad();
  }
  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      skip();
      std::int64_t size = 0;
      auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) bad();
      at_ = static_cast<std::size_t>(end - text_.data());
      accept('L');  // numpy of Python 2
      accept(',');
      sizes.push_back(size);
    }
    return sizes;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

constexpr ElementName kDescr[] = {
    {"b1", Element::bool_},  {"i1", Element::int8},    {"u1", Element::uint8},   {"i2", Element::int16},
    {"u2", Element::uint16}, {"i4", Element::int32},   {"u4", Element::uint32},  {"i8", Element::int64},
    {"u8", Element::uint64}, {"f2", Element::float16}, {"f4", Element::float32}, {"f8", Element::float64},
};

}  // namespace

at::Tensor parse_npy(std::string_view bytes) {
  if (bytes.size() < 10 || !bytes.starts_with(kMagic)) throw ArrayFileError("this is no NumPy array");
  auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  std::size_t begin = 10, length = byte(8) | byte(9) << 8;
  if (byte(6) >= 2) {
    if (bytes.size() < 12) throw ArrayFileError("the array is cut off");
    begin = 12;
    length |= byte(10) << 16 | byte(11) << 24;
  }
  if (bytes.size() - begin < length) throw ArrayFileError("the array is cut off");
  Header header = HeaderParser(bytes.substr(begin, length)).parse();
  std::string_view data = bytes.substr(begin + length);

  if (header.descr.size() < 2) throw ArrayFileError("the header of the array is damaged");
  if (header.descr[0] == '>')
    throw ArrayFileError("the array is big endian; write it with `.astype(a.dtype.newbyteorder(\"<\"))`");
  std::optional<Element> element = element_named(kDescr, std::string_view(header.descr).substr(1));
  if (!element)
    throw ArrayFileError("arrays of dtype `" + header.descr + "` are not read; only bool, ints and floats are");
  std::vector<std::int64_t> sizes = header.shape;
  if (header.fortran) std::reverse(sizes.begin(), sizes.end());
  at::Tensor tensor = tensor_of(*element, sizes, data);
  if (!header.fortran) return tensor;
  std::vector<std::int64_t> order(sizes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(order.size() - 1 - i);
  return tensor.permute(order).contiguous();
}

std::string npy_bytes(const at::Tensor& tensor) {
  at::Tensor t = tensor.detach().cpu().contiguous();
  std::string descr = t.element_size() == 1 ? "|" : "<";
  descr += name_of(kDescr, element_of(t.scalar_type()));
  std::string shape;
  for (std::int64_t size : t.sizes()) shape += std::to_string(size) + ", ";
  if (t.dim() == 1) shape.resize(shape.size() - 1);  // (3,)
  if (t.dim() > 1) shape.resize(shape.size() - 2);
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // The data starts at a multiple of 64 bytes, after a newline.
  std::size_t length = (10 + header.size() + 1 + 63) / 64 * 64 - 10;
  header.resize(length - 1, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += '\x01';
  bytes += '\x00';
  bytes += static_cast<char>(length & 0xff);
  bytes += static_cast<char>(length >> 8);
  bytes += header;
  bytes += raw_bytes(t);
  return bytes;
}

}  // namespace rcn
