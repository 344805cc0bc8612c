#include "runtime/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <vector>

namespace rcn {

namespace {

static_assert(std::endian::native == std::endian::little, "arrays are read and written as they lie in memory");

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

struct Format {
  std::string_view descr;  // without byte order
  at::ScalarType type;     // of the result
  std::size_t bytes;
};
constexpr Format kFormats[] = {
    {"b1", at::kBool, 1}, {"i1", at::kChar, 1}, {"u1", at::kByte, 1},  {"i2", at::kShort, 2},
    {"u2", at::kInt, 2},  {"i4", at::kInt, 4},  {"u4", at::kLong, 4},  {"i8", at::kLong, 8},
    {"u8", at::kLong, 8}, {"f2", at::kHalf, 2}, {"f4", at::kFloat, 4}, {"f8", at::kDouble, 8},
};

template <class From, class To>
void widen(const char* from, void* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + static_cast<std::size_t>(i) * sizeof(From), sizeof(From));
    if constexpr (std::is_same_v<From, std::uint64_t>)
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        throw ArrayFileError("the value " + std::to_string(value) + " does not fit into int64");
    static_cast<To*>(to)[i] = static_cast<To>(value);
  }
}

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
  const Format* format = nullptr;
  for (const Format& f : kFormats)
    if (std::string_view(header.descr).substr(1) == f.descr) format = &f;
  if (!format)
    throw ArrayFileError("arrays of dtype `" + header.descr + "` are not read; only bool, ints and floats are");

  std::size_t count = 1;
  for (std::int64_t size : header.shape)
    if (__builtin_mul_overflow(count, static_cast<std::size_t>(size), &count))
      throw ArrayFileError("the array is too large");
  if (count > data.size() / format->bytes) throw ArrayFileError("the array is cut off");

  std::vector<std::int64_t> sizes = header.shape;
  if (header.fortran) std::reverse(sizes.begin(), sizes.end());
  at::Tensor tensor = at::empty(sizes, at::TensorOptions(format->type));
  auto n = static_cast<std::int64_t>(count);
  if (format->descr == "u2") {
    widen<std::uint16_t, std::int32_t>(data.data(), tensor.data_ptr(), n);
  } else if (format->descr == "u4") {
    widen<std::uint32_t, std::int64_t>(data.data(), tensor.data_ptr(), n);
  } else if (format->descr == "u8") {
    widen<std::uint64_t, std::int64_t>(data.data(), tensor.data_ptr(), n);
  } else if (count > 0) {
    std::memcpy(tensor.data_ptr(), data.data(), count * format->bytes);
  }
  if (!header.fortran) return tensor;
  std::vector<std::int64_t> order(sizes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(order.size() - 1 - i);
  return tensor.permute(order).contiguous();
}

std::string npy_bytes(const at::Tensor& tensor) {
  at::Tensor t = tensor.detach().cpu().contiguous();
  std::string descr;
  for (const Format& f : kFormats)
    if (descr.empty() && f.type == t.scalar_type() && f.descr[0] != 'u') descr = f.descr;
  if (t.scalar_type() == at::kByte) descr = "u1";
  descr = (t.element_size() == 1 ? "|" : "<") + descr;
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
  bytes.append(static_cast<const char*>(t.data_ptr()), static_cast<std::size_t>(t.nbytes()));
  return bytes;
}

}  // namespace rcn
