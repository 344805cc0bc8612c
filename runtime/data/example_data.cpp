#include "runtime/data/example_data.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/data/array_file.h"
#include "runtime/random.h"

namespace rcn {

namespace {

constexpr std::int64_t kDefaultRate = 16000;       // Hz
constexpr std::int64_t kLowestRate = 4000;         // Hz
constexpr int kFewestSounds = 3, kMostSounds = 6;  // in a sequence
constexpr double kSound = 0.1;                     // seconds

// A sound: the resonances of the vocal tract (Hz; vowels are men's in Peterson and Barney 1952), and how much of the
// source is voice and how much is noise.
struct Sound {
  double formants[3];
  double voice, noise;
};
constexpr Sound kSounds[] = {
    {{270, 2290, 3010}, 1, 0.01}, {{390, 1990, 2550}, 1, 0.01}, {{530, 1840, 2480}, 1, 0.01},
    {{660, 1720, 2410}, 1, 0.01}, {{730, 1090, 2440}, 1, 0.01}, {{570, 840, 2410}, 1, 0.01},
    {{440, 1020, 2240}, 1, 0.01}, {{300, 870, 2240}, 1, 0.01},  {{640, 1190, 2390}, 1, 0.01},
    {{490, 1350, 1690}, 1, 0.01}, {{280, 1000, 2200}, 0.4, 0},  {{2600, 4600, 6200}, 0, 0.2},
    {{1700, 2500, 3800}, 0, 0.2},
};
constexpr std::int64_t kSoundCount = std::size(kSounds);

// The sounds of a sequence, no two neighbours equal. The first sequence is the longest.
std::vector<std::int64_t> spoken(std::uint64_t seed, std::int64_t sequence) {
  Random random(seed, "example/sounds/" + std::to_string(sequence));
  std::int64_t count = sequence == 0 ? kMostSounds : kFewestSounds + random.below(kMostSounds - kFewestSounds + 1);
  std::vector<std::int64_t> sounds;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t next = random.below(kSoundCount - (i ? 1 : 0));
    sounds.push_back(i && next >= sounds.back() ? next + 1 : next);
  }
  return sounds;
}

// A digital resonator of the second order (Klatt 1980).
struct Resonator {
  double last = 0, before = 0;
  double operator()(double x, double frequency, double bandwidth, double rate) {
    double c = -std::exp(-2 * std::numbers::pi * bandwidth / rate);
    double b = 2 * std::exp(-std::numbers::pi * bandwidth / rate) * std::cos(2 * std::numbers::pi * frequency / rate);
    double y = (1 - b - c) * x + b * last + c * before;
    before = last;
    last = y;
    return y;
  }
};

// Pulses of the glottis (Rosenberg 1971: opening for 40 % of a period, closing for 16 %) and noise, through three
// resonators; the sounds pass over into each other. The peak is 0.5.
at::Tensor speech(std::uint64_t seed, std::int64_t sequence, double rate) {
  std::vector<std::int64_t> sounds = spoken(seed, sequence);
  Random random(seed, "example/audio/" + std::to_string(sequence));
  double pitch = 100 + 40 * random.uniform();  // Hz, falling
  double seconds = kSound * static_cast<double>(sounds.size()) * (sequence == 0 ? 1 : 1 - 0.1 * random.uniform());
  auto count = static_cast<std::int64_t>(std::lround(seconds * rate));
  at::Tensor audio = at::empty({count}, at::TensorOptions(at::kFloat));
  auto* out = audio.data_ptr<float>();
  Resonator resonators[3];
  double phase = 0, flow = 0, peak = 1e-9;
  for (std::int64_t t = 0; t < count; ++t) {
    double done = static_cast<double>(t) / static_cast<double>(count);
    // Around the border of two sounds, over 40 ms, the one becomes the other.
    double at = done * static_cast<double>(sounds.size()) - 0.5;
    auto left = static_cast<std::size_t>(std::max(at, 0.0));
    std::size_t right = std::min(left + 1, sounds.size() - 1);
    double part = std::clamp((at - static_cast<double>(left) - 0.5) / 0.4 + 0.5, 0.0, 1.0);
    const Sound &a = kSounds[sounds[left]], &b = kSounds[sounds[right]];
    auto mixed = [&](double x, double y) { return x + part * (y - x); };

    phase += pitch * (1.1 - 0.25 * done) / rate;
    phase -= std::floor(phase);
    double before = flow;
    flow = phase < 0.4    ? 0.5 * (1 - std::cos(std::numbers::pi * phase / 0.4))
           : phase < 0.56 ? std::cos(0.5 * std::numbers::pi * (phase - 0.4) / 0.16)
                          : 0;
    double x = mixed(a.voice, b.voice) * (flow - before) + mixed(a.noise, b.noise) * 0.1 * random.normal();
    for (int i = 0; i < 3; ++i) {
      double frequency = mixed(a.formants[i], b.formants[i]);
      if (frequency < 0.45 * rate) x = resonators[i](x, frequency, 60 + 0.04 * frequency, rate);
    }
    // From silence and back, in 10 ms.
    double edge = std::min(static_cast<double>(std::min(t, count - 1 - t)) / (0.01 * rate), 1.0);
    out[t] = static_cast<float>(x * edge);
    peak = std::max(peak, std::abs(x * edge));
  }
  return audio.mul_(0.5 / peak);
}

at::Tensor transcript(const DataRequest& request, std::int64_t sequence) {
  std::int64_t first = 0, count = kSoundCount;
  if (request.input.range) {
    first = request.input.range->first;
    count = request.input.range->second - first + 1;
  } else if (Dim classes = request.input.type.sparse_dim; classes && classes->size) {
    count = *classes->size;
  }
  std::vector<std::int64_t> labels;
  for (std::int64_t sound : spoken(request.seed, sequence)) {
    std::int64_t label = sound % count;
    if (!labels.empty() && labels.back() == label) label = (label + 1) % count;
    labels.push_back(label);
  }
  return at::tensor(at::ArrayRef<std::int64_t>(labels), at::kLong) + first;
}

}  // namespace

std::vector<at::Tensor> example_data(const DataRequest& request, const std::string& name) {
  std::vector<at::Tensor> sequences;
  if (name == "audio") {
    std::int64_t rate = request.sample_rate.value_or(kDefaultRate);
    if (rate < kLowestRate)
      throw ArrayFileError("example audio has a sample rate of at least " + std::to_string(kLowestRate));
    for (std::int64_t i = 0; i < request.examples; ++i)
      sequences.push_back(speech(request.seed, i, static_cast<double>(rate)));
  } else if (name == "transcripts") {
    for (std::int64_t i = 0; i < request.examples; ++i) sequences.push_back(transcript(request, i));
  } else {
    throw ArrayFileError("there is no example `" + name + "`; the examples are `audio` and `transcripts`");
  }
  return sequences;
}

}  // namespace rcn
