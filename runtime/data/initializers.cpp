#include "runtime/data/initializers.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <stdexcept>

#include "runtime/random.h"
#include "runtime/tensor.h"

namespace rcn {

namespace {

struct Fans {
  double in = 1;
  double out = 1;
};

// As in TensorFlow: the last two dims are the matrix, those before them its receptive field.
Fans fans(const std::vector<std::int64_t>& shape) {
  if (shape.empty()) return {};
  auto last = static_cast<double>(shape.back());
  if (shape.size() == 1) return {last, last};
  double field = 1;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) field *= static_cast<double>(shape[i]);
  return {field * static_cast<double>(shape[shape.size() - 2]), field * last};
}

template <class Draw>
at::Tensor drawn(const std::vector<std::int64_t>& shape, Draw draw) {
  at::Tensor value = at::empty(shape, at::TensorOptions(at::kDouble));
  double* data = value.data_ptr<double>();
  for (std::int64_t i = 0; i < value.numel(); ++i) data[i] = draw();
  return value;
}

at::Tensor variance_scaling(const Initializer& init, const std::vector<std::int64_t>& shape, Random& random) {
  Fans f = fans(shape);
  double fan = init.mode == "fan_in" ? f.in : init.mode == "fan_out" ? f.out : (f.in + f.out) / 2;
  double variance = init.a / std::max(fan, 1.0);
  if (init.distribution == "uniform") {
    double limit = std::sqrt(3.0 * variance);
    return drawn(shape, [&] { return limit * (2.0 * random.uniform() - 1.0); });
  }
  if (init.distribution == "truncated_normal") {
    // The standard deviation of a normal distribution that is cut at two of them.
    double stddev = std::sqrt(variance) / 0.87962566103423978;
    return drawn(shape, [&] { return stddev * random.truncated_normal(); });
  }
  if (init.distribution == "untruncated_normal" || init.distribution == "normal") {
    double stddev = std::sqrt(variance);
    return drawn(shape, [&] { return stddev * random.normal(); });
  }
  throw std::logic_error("distribution " + init.distribution);
}

// Rows (or columns, whichever are fewer) of all but the last dims by the last are orthonormal: Gram-Schmidt, twice
// for accuracy, on normally distributed vectors.
at::Tensor orthogonal(const std::vector<std::int64_t>& shape, Random& random) {
  if (shape.size() < 2) throw std::logic_error("orthogonal needs two dims");
  std::int64_t columns = shape.back(), rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  std::int64_t count = std::min(rows, columns), length = std::max(rows, columns);
  at::Tensor vectors = drawn({count, length}, [&] { return random.normal(); });
  for (std::int64_t i = 0; i < count; ++i) {
    at::Tensor v = vectors[i], before = vectors.narrow(0, 0, i);
    for (int pass = 0; pass < 2 && i > 0; ++pass) v.sub_(before.t().mv(before.mv(v)));
    v.div_(v.norm());
  }
  return (rows >= columns ? vectors.t() : vectors).reshape(shape);
}

// Impulse responses along the first dim, a channel for each entry of the last one; the greatest response at 512 frequencies
// is 1. Formulas and constants: Schlueter et al. 2007, Greenwood 1990, Glasberg and Moore 1990.
at::Tensor gammatone(const Initializer& init, const std::vector<std::int64_t>& shape) {
  constexpr double kTurn = 2 * std::numbers::pi;
  constexpr int kFrequencies = 512;
  std::int64_t length = shape.front(), channels = shape.back();
  auto scale = [](double hertz) { return std::log10(hertz / 165.4 + 0.88); };
  double low = scale(init.a), step = channels > 1 ? (scale(init.b) - low) / static_cast<double>(channels - 1) : 0;
  at::Tensor value = at::empty({length, channels}, at::TensorOptions(at::kDouble));
  std::vector<double> response(static_cast<std::size_t>(length));
  for (std::int64_t c = 0; c < channels; ++c) {
    double f = 165.4 * (std::pow(10.0, low + step * static_cast<double>(c)) - 0.88), bandwidth = 24.7 + f / 9.264491981582191;
    for (std::int64_t n = 0; n < length; ++n) {
      double t = static_cast<double>(n + 1) / init.sampling_rate;
      response[static_cast<std::size_t>(n)] = t * t * t * std::exp(-kTurn * bandwidth * t) * std::cos(kTurn * f * t);
    }
    double greatest = 0;
    for (int k = 0; k < kFrequencies; ++k) {
      std::complex<double> sum = 0, turn = std::polar(1.0, -std::numbers::pi * k / kFrequencies), at = 1;
      for (double x : response) {
        sum += x * at;
        at *= turn;
      }
      greatest = std::max(greatest, std::abs(sum));
    }
    double* column = value.data_ptr<double>() + c;
    for (std::int64_t n = 0; n < length; ++n) column[n * channels] = response[static_cast<std::size_t>(n)] / greatest;
  }
  return value.reshape(shape);
}

void collect(const Value& value, std::vector<double>& leaves) {
  if (value.is_list()) {
    for (const Value& v : value.list()) collect(v, leaves);
  } else {
    leaves.push_back(value.is<bool>() ? static_cast<double>(value.get<bool>()) : value.as_double());
  }
}

}  // namespace

at::Tensor initial_value(const Parameter& parameter, std::uint64_t seed) {
  std::vector<std::int64_t> shape;
  for (Dim d : parameter.type.dims) shape.push_back(d->size.value());
  at::ScalarType dtype = scalar_type(parameter.type.dtype);
  const Value& initial = parameter.initial;
  if (!initial.is<std::shared_ptr<const Initializer>>()) {
    std::vector<double> leaves;
    collect(initial, leaves);
    if (!initial.is_list()) return at::full(shape, leaves.at(0), at::TensorOptions(at::kDouble)).to(dtype);
    at::Tensor flat = at::empty({static_cast<std::int64_t>(leaves.size())}, at::TensorOptions(at::kDouble));
    std::copy(leaves.begin(), leaves.end(), flat.data_ptr<double>());
    return flat.reshape(shape).to(dtype);
  }
  const Initializer& init = *initial.get<std::shared_ptr<const Initializer>>();
  Random random(seed, "parameter/" + parameter.path);
  switch (init.kind) {
    case Initializer::Kind::variance_scaling: return variance_scaling(init, shape, random).to(dtype);
    case Initializer::Kind::uniform:
      return drawn(shape, [&] { return init.a + (init.b - init.a) * random.uniform(); }).to(dtype);
    case Initializer::Kind::normal: return drawn(shape, [&] { return init.a + init.b * random.normal(); }).to(dtype);
    case Initializer::Kind::truncated_normal:
      return drawn(shape, [&] { return init.a + init.b * random.truncated_normal(); }).to(dtype);
    case Initializer::Kind::orthogonal: return orthogonal(shape, random).to(dtype);
    case Initializer::Kind::gammatone: return gammatone(init, shape).to(dtype);
  }
  throw std::logic_error("kind of initializer");
}

}  // namespace rcn
