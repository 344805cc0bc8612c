// `--trace`: a line for each tensor as it is made, and for what control flow does.
#pragma once

#include <array>
#include <iosfwd>
#include <string>
#include <vector>

#include "compiler/base/source.h"
#include "runtime/eager_backend.h"
#include "runtime/show/view.h"

namespace rcn {

enum class TraceForm { text, json };

// `model.rcn:12:9`; `-` for no place.
std::string position_text(Span span, const SourceMap& sources);

// Is `variable` the last part of the name?
bool ends_with_name(const std::string& name, const std::string& variable);

// `950us`, `1.25ms`, `3.1s`: three digits.
std::string time_text(double seconds);

// Text: position, name and what the program calls it (`att.softmax = weights`), dims with sizes, dtype, min, mean and
// max over valid entries, how many of them are nan and infinite, and the time of the operation. JSON: an object a line.
class Trace {
 public:
  Trace(std::ostream& out, const SourceMap& sources, TraceForm form) : out_(out), sources_(sources), form_(form) {}
  ~Trace() { flush(); }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Lines are held back until the statement is over, which may say what the tensor is called: until the next operation
  // begins.
  void write(const Produced& made, Lengths& lengths);
  // The program calls a tensor so. Its line gets the name if it is held back.
  void name(const Bound& bound);
  // A tensor that has no line of its own under a name that was asked for.
  void write(const Bound& bound, Lengths& lengths);
  void write(const Event& event);
  void flush();

 private:
  struct Line {
    at::Tensor value;
    std::string place, name;
    TensorType type;
    std::string dims;
    std::vector<std::int64_t> sizes;
    Stats stats;
    double seconds;  // negative: no operation of its own
    std::vector<std::string> variables;
    std::string event;  // what happened, where the line is of no tensor
  };
  Line line(std::string name, Span span, const Tensor& tensor, double seconds, Lengths& lengths) const;
  void put(const Line& line);
  void put_json(const Line& line);
  void put_event(const Line& line);
  std::string row(const std::array<std::string, 4>& cells, const std::string& rest);

  std::ostream& out_;
  const SourceMap& sources_;
  TraceForm form_;
  std::vector<Line> held_;
  std::array<std::size_t, 4> widths_{20, 28, 36, 7};
};

}  // namespace rcn
