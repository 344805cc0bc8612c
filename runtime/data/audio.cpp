#include "runtime/data/audio.h"

#include <glob.h>
#include <sndfile.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "runtime/data/array_file.h"

namespace rcn {

namespace {

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool is_audio(const std::string& path) {
  for (const char* ending : {".wav", ".flac", ".ogg", ".opus", ".aiff"})
    if (path.ends_with(ending)) return true;
  if (!exists(path) || std::filesystem::is_directory(path)) return false;
  std::string begin = read_part(path, 0, 4);
  return begin == "RIFF" || begin == "fLaC" || begin == "OggS" || begin == "FORM";
}

// The files that fit a glob, sorted; anything else as it is.
std::vector<std::string> expanded(const std::string& pattern) {
  if (exists(pattern) || pattern.find_first_of("*?[") == std::string::npos) return {pattern};
  glob_t found{};
  std::vector<std::string> files;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return files;
}

struct Recording {
  at::Tensor samples;
  std::int64_t rate;
};

Recording read_recording(const std::string& path) {
  check_readable(path);
  SF_INFO info{};
  std::unique_ptr<SNDFILE, int (*)(SNDFILE*)> file(sf_open(path.c_str(), SFM_READ, &info), sf_close);
  if (!file) file_error(path, sf_strerror(nullptr));
  if (info.channels != 1)
    file_error(path, "it has " + std::to_string(info.channels) +
                         " channels, and only one is read; mix them first: `sox IN.wav -c 1 OUT.wav`");
  at::Tensor samples = at::empty({info.frames}, at::TensorOptions(at::kFloat));
  if (sf_readf_float(file.get(), samples.data_ptr<float>(), info.frames) != info.frames)
    file_error(path, "the file is cut off");
  return {samples, info.samplerate};
}

}  // namespace

std::vector<std::string> audio_files(const std::string& text) {
  std::vector<std::string> files;
  for (std::size_t begin = 0; begin <= text.size();) {
    std::size_t end = exists(text) ? text.size() : std::min(text.find(',', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    std::vector<std::string> found = expanded(part);
    if (found.empty() && is_audio(part)) file_error(part, "no file fits");
    if (found.empty() || !is_audio(found[0])) return {};
    files.insert(files.end(), found.begin(), found.end());
    begin = end + 1;
  }
  return files;
}

std::vector<at::Tensor> read_audio(const std::vector<std::string>& files, std::optional<std::int64_t> sample_rate) {
  std::vector<at::Tensor> sequences;
  std::string said_by = "`--sample-rate` says ";
  for (const std::string& path : files) {
    Recording recording = read_recording(path);
    if (!sample_rate) {
      sample_rate = recording.rate;
      said_by = "that of `" + path + "` is ";
    }
    if (recording.rate != *sample_rate)
      file_error(
          path, "its sample rate is " + std::to_string(recording.rate) + ", " + said_by + std::to_string(*sample_rate));
    sequences.push_back(recording.samples);
  }
  return sequences;
}

}  // namespace rcn
