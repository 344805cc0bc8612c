// Small operations in a row on libtorch, to compare with:
//
//     chain_torch OPERATIONS
//
// prints the seconds that the hyperbolic tangent takes that many times, on 40 numbers, each on the result of the one before.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  at::NoGradGuard no_grad;
  at::set_num_threads(1);
  at::Tensor x = at::randn({1, 1, 40});
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < std::atoi(argv[1]); ++i) x = at::tanh(x);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%.6f %g\n", seconds, x.sum().item<double>());
}
