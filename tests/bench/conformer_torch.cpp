// The network of samples/conformer_ctc.rcn, evaluated, as one would write it by hand on libtorch: to compare with.
//
//     conformer_torch PARAMS.safetensors DATA.safetensors RUNS THREADS
//
// prints the seconds of the first forward pass, of the fastest of RUNS more, and least, mean and greatest log probability.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using at::Tensor;

namespace {

using Tensors = std::map<std::string, Tensor>;

Tensors read_safetensors(const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::uint64_t size = 0;
  in.read(reinterpret_cast<char*>(&size), sizeof size);
  std::string header(size, ' ');
  in.read(header.data(), static_cast<std::streamsize>(size));
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  Tensors result;
  const auto entries = nlohmann::json::parse(header);
  for (const auto& [name, entry] : entries.items()) {
    if (name == "__metadata__") continue;
    Tensor t = at::empty(entry["shape"].get<std::vector<std::int64_t>>());
    std::memcpy(t.data_ptr(), bytes.data() + entry["data_offsets"][0].get<std::size_t>(), t.nbytes());
    result.emplace(name, t);
  }
  return result;
}

// Zeros on both sides as TensorFlow's padding "same" has them.
std::pair<std::int64_t, std::int64_t> same(std::int64_t size, std::int64_t filter, std::int64_t stride) {
  std::int64_t total = std::max<std::int64_t>(((size + stride - 1) / stride - 1) * stride + filter - size, 0);
  return {total / 2, total - total / 2};
}

class Conformer {
 public:
  explicit Conformer(Tensors params) : p_(std::move(params)) {
    for (auto& [name, t] : p_) {
      if (name.ends_with("filter")) t = t.dim() == 4 ? t.permute({3, 2, 0, 1}).contiguous() : t.permute({2, 1, 0}).contiguous();
      if (name.ends_with("weight")) t = t.t();
    }
  }

  Tensor forward(const Tensor& data) const {
    Tensor x = data.unsqueeze(1);
    const std::int64_t strides[] = {1, 3, 2};
    for (int i = 0; i < 3; ++i) {
      std::string name = "subsampling/convs/" + std::to_string(i);
      auto [above, below] = same(x.size(2), 3, strides[i]);
      x = at::conv2d(at::constant_pad_nd(x, {1, 1, above, below}), p_.at(name + "/filter"), p_.at(name + "/bias"), {strides[i], 1});
      x = at::relu(x);
      if (i == 0) x = at::max_pool2d(x, {1, 2});
    }
    x = x.permute({0, 2, 3, 1}).flatten(2);
    x = at::linear(x, p_.at("projection/weight"));
    Tensor positions = encoding(x.size(1), x.size(2));
    for (int i = 0; p_.contains("layers/" + std::to_string(i) + "/ff_1/up/weight"); ++i) x = layer("layers/" + std::to_string(i), x, positions);
    return at::log_softmax(linear("output", x), -1);
  }

 private:
  Tensor linear(const std::string& name, const Tensor& x) const { return at::linear(x, p_.at(name + "/weight"), p_.at(name + "/bias")); }

  Tensor norm(const std::string& name, const Tensor& x) const {
    return at::layer_norm(x, {x.size(-1)}, p_.at(name + "/scale"), p_.at(name + "/bias"), 1e-6);
  }

  Tensor feed_forward(const std::string& name, const Tensor& x) const { return linear(name + "/down", at::silu(linear(name + "/up", x))); }

  Tensor convolution(const std::string& name, Tensor x) const {
    x = at::glu(linear(name + "/up", x), -1).transpose(1, 2);
    x = at::conv1d(x, p_.at(name + "/depthwise/filter"), p_.at(name + "/depthwise/bias"), 1, 15, 1, x.size(1)).transpose(1, 2);
    std::string n = name + "/norm";
    x = (x - p_.at(n + "/running_mean")) * at::rsqrt(p_.at(n + "/running_variance") + 1e-3) * p_.at(n + "/gamma") + p_.at(n + "/beta");
    return linear(name + "/down", at::silu(x));
  }

  static Tensor encoding(std::int64_t frames, std::int64_t size) {
    Tensor rate = at::exp(at::arange(size / 2) * (-2.0 * std::log(10000.0) / static_cast<double>(size)));
    Tensor angle = at::arange(1 - frames, frames).to(at::kFloat).unsqueeze(1) * rate;
    return at::cat({at::sin(angle), at::cos(angle)}, 1);
  }

  Tensor attention(const std::string& name, const Tensor& x, const Tensor& positions) const {
    constexpr std::int64_t kHeads = 8;
    const std::int64_t batch = x.size(0), frames = x.size(1), model = x.size(2), head = model / kHeads;
    auto qkv = linear(name + "/qkv", x).view({batch, frames, 3, kHeads, head}).unbind(2);
    Tensor q = qkv[0], k = qkv[1].permute({0, 2, 3, 1}), v = qkv[2].transpose(1, 2);
    Tensor r = at::linear(positions, p_.at(name + "/linear_pos/weight")).view({2 * frames - 1, kHeads, head}).permute({1, 2, 0});
    Tensor by_content = at::matmul((q + p_.at(name + "/pos_bias_u")).transpose(1, 2), k);
    Tensor by_distance = at::matmul((q + p_.at(name + "/pos_bias_v")).transpose(1, 2), r);
    Tensor entry = at::arange(frames).unsqueeze(0) - at::arange(frames).unsqueeze(1) + (frames - 1);
    by_distance = by_distance.gather(3, entry.expand({batch, kHeads, frames, frames}));
    Tensor weights = at::softmax((by_content + by_distance) * (1 / std::sqrt(static_cast<double>(head))), -1);
    return linear(name + "/proj", at::matmul(weights, v).transpose(1, 2).flatten(2));
  }

  Tensor layer(const std::string& name, Tensor x, const Tensor& positions) const {
    x = x + 0.5 * feed_forward(name + "/ff_1", norm(name + "/norms/0", x));
    x = x + attention(name + "/self_attention", norm(name + "/norms/1", x), positions);
    x = x + convolution(name + "/convolution", norm(name + "/norms/2", x));
    x = x + 0.5 * feed_forward(name + "/ff_2", norm(name + "/norms/3", x));
    return norm(name + "/norms/4", x);
  }

  Tensors p_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  at::NoGradGuard no_grad;
  at::set_num_threads(std::atoi(argv[4]));
  Conformer model(read_safetensors(argv[1]));
  Tensor data = read_safetensors(argv[2]).at("data");
  Tensor y;
  auto seconds = [&] {
    auto begin = std::chrono::steady_clock::now();
    y = model.forward(data);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  double first = seconds(), best = first;
  for (int i = 0; i < std::atoi(argv[3]); ++i) best = std::min(best, seconds());
  std::printf("%.4f %.4f %.6f %.6f %.6f\n", first, best, y.min().item<float>(), y.mean().item<float>(), y.max().item<float>());
}
