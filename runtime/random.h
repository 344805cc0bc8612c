// Random numbers that depend on a seed and a name only: the same with every libtorch, thread count and machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace rcn {

// SplitMix64 (Steele, Lea, Flood 2014): the n-th number is a hash of the key and n.
class Random {
 public:
  Random(std::uint64_t seed, std::string_view name) : state_(mixed(seed ^ 0x9e3779b97f4a7c15)) {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    state_ = mixed(state_ ^ hash);
  }

  std::uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15); }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)
  // [0, n); the bias is below n / 2^64.
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>((static_cast<Wide>(next()) * static_cast<std::uint64_t>(n)) >> 64);
  }
  // Mean 0, standard deviation 1 (Box-Muller).
  double normal() {
    double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }
  // The same, drawn again beyond two standard deviations.
  double truncated_normal() {
    for (;;) {
      double x = normal();
      if (std::abs(x) <= 2.0) return x;
    }
  }

 private:
  __extension__ typedef unsigned __int128 Wide;
  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

}  // namespace rcn
