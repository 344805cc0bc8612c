#include "runtime/data/wire.h"

#include <cstring>

namespace rcn {

bool WireReader::next() {
  if (rest_.empty() || damaged_) return false;
  damaged_ = !read();
  return !damaged_;
}

bool WireReader::read() {
  enum : std::uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
  std::uint64_t tag = 0, size = 0;
  if (!varint(tag)) return false;
  field = tag >> 3;
  number = 0;
  bytes = {};
  switch (tag & 7) {
    case kVarint: return varint(number);
    case kBytes: return varint(size) && take(size, bytes);
    case kFixed32:
    case kFixed64: {
      std::string_view raw;
      if (!take((tag & 7) == kFixed32 ? 4 : 8, raw)) return false;
      std::memcpy(&number, raw.data(), raw.size());
      return true;
    }
    default: return false;
  }
}

bool WireReader::varint(std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    auto byte = static_cast<unsigned char>(rest_[0]);
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool WireReader::take(std::size_t count, std::string_view& part) {
  if (count > rest_.size()) return false;
  part = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return true;
}

}  // namespace rcn
