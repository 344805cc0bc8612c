// Tensors as users are shown them: dims in an order in which valid frames make ragged lists, and statistics.
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "runtime/lengths.h"

namespace rcn {

struct Stats {
  std::int64_t count = 0;  // valid entries
  std::int64_t nans = 0;
  std::int64_t infs = 0;
  double min = 0;  // over those that are no nan
  double mean = 0;
  double max = 0;
};
Stats statistics(const Named& x, Lengths& lengths);
// `min 1  mean 2.5  max 4  3 nan`.
std::string stats_text(const Stats& stats);

// `dims` with those that lengths depend on before the dims that have the lengths; the order stays otherwise.
std::vector<Dim> printed_dims(const std::vector<Dim>& dims, Lengths& lengths);

// The name of each dim; of different dims of one name the second is `time#2`, and a dim that occurs twice keeps its
// name.
std::vector<std::string> shown_names(const std::vector<Dim>& dims);

// `float32[batch=3, time=7 (7, 5, 2), input=9]`; without lengths `float32[batch=3, time=7, input=9]`.
std::string sized_type(const TensorType& type, Lengths& lengths, bool with_lengths);

// The lengths of a dynamic dim of a tensor with the dims `dims`, over those of `dims` that they depend on.
Named shown_lengths(Dim dim, const std::vector<Dim>& dims, Lengths& lengths);

// In the order of printed_dims, 0 in the padding, contiguous, on the CPU.
at::Tensor shown_values(const Tensor& tensor, Lengths& lengths);

// Six digits at most: for people.
std::string short_number(double value);

// How people are shown a tensor with many entries: the ends of its lists.
inline constexpr std::int64_t kLarge = 1000;  // entries
inline constexpr std::int64_t kEdge = 3;      // items at each end

enum class ListStyle { text, json };
// Nested lists: valid frames only (sequences that take no part here have `-`, in json null), or all with `padding`. Text is
// indented like NumPy's; json has null for nan and "inf", "-inf" for infinite values. With `edge` only so many items at
// both ends of each list.
void write_values(std::ostream& out, const Tensor& tensor, Lengths& lengths, ListStyle style, bool padding,
                  std::int64_t edge = 0);
void write_array(std::ostream& out, const at::Tensor& value, ListStyle style);
void write_number(std::ostream& out, double value, ListStyle style);

}  // namespace rcn
