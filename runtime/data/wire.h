// The wire format of protocol buffers: fields in a row, each a number or bytes
// (https://protobuf.dev/programming-guides/encoding).
#pragma once

#include <cstdint>
#include <string_view>

namespace rcn {

class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  // Goes to the next field. False at the end, and where the message is damaged.
  bool next();
  bool damaged() const { return damaged_; }

  std::uint64_t field = 0;
  std::uint64_t number = 0;  // of varints and fixed numbers
  std::string_view bytes;    // of strings and messages
  std::int64_t signed_number() const { return static_cast<std::int64_t>(number); }

 private:
  bool varint(std::uint64_t& value);
  bool take(std::size_t count, std::string_view& part);
  bool read();

  std::string_view rest_;
  bool damaged_ = false;
};

}  // namespace rcn
