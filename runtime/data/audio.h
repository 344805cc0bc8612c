// Recordings: .wav, .flac and what else libsndfile reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/torch.h"

namespace rcn {

// The files that `FILE.wav`, `A.wav,B.flac` or `FOLDER/*.wav` stands for, in this order, those of a glob by name; none
// if it names something else. Throws ArrayFileError where a glob fits nothing.
std::vector<std::string> audio_files(const std::string& text);

// One sequence for each: float32, in [-1, 1) where the file has ints. Throws ArrayFileError; sample rates must be
// equal, and the wanted one where there is one.
std::vector<at::Tensor> read_audio(const std::vector<std::string>& files, std::optional<std::int64_t> sample_rate);

}  // namespace rcn
