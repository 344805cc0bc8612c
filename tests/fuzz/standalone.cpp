// Runs a fuzz target without libFuzzer: on every .rcn file of some folders and on a fixed series of mutations of them.
// The input in work lies in PROGRAM-input.rcn: there it is after a crash, or when it takes longer than ten seconds
// of the processor (a minute with sanitizers).
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/target.h"

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr time_t kSecondsPerInput = 60;
#else
constexpr time_t kSecondsPerInput = 10;
#endif
// clang-format off
constexpr const char* kPieces[] = {
    "(", ")", "[", "]", "{", "}", ",", ":", ";", ".", "=", "==", "->", "=>", "...", "*", "**", "//", "-", "@", "\"", "\\", "#", "##",
    "\n", "\r\n", "    ", "\t", "0", "-1", "1e309", "99999999999999999999", "0.5", "none", "true", "x", "_", "fn ", "if ", "else ",
    "for ", "in ", "while ", "loop ", "dim ", "import nn\n", "network {", "module M() {", "param ", "return ", "output ", "loss ",
    "option ", "extern ", "and ", "not ", "\xc3\xa4", "\xff", "\xef\xbb\xbf"};
// clang-format on

// Of processor time; a signal ends the process.
void limit(time_t seconds) {
  const itimerval timer{{0, 0}, {seconds, 0}};
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

void run(int file, const std::string& input) {
  require(::pwrite(file, input.data(), input.size(), 0) == static_cast<ssize_t>(input.size()) &&
              ::ftruncate(file, static_cast<off_t>(input.size())) == 0,
          "the input cannot be kept");
  limit(kSecondsPerInput);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  limit(0);
}

// The same numbers on every machine, which the standard's distributions do not promise.
class Random {
 public:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : engine_() % n; }

 private:
  std::mt19937 engine_{1};
};

std::string mutated(std::string text, const std::vector<std::string>& seeds, Random& random) {
  for (std::size_t i = 0, n = 1 + random.below(4); i < n; ++i) {
    std::size_t begin = random.below(text.size() + 1);
    std::size_t length = std::min(text.size() - begin, random.below(random.below(8) == 0 ? 200 : 12));
    switch (random.below(6)) {
      case 0: text.erase(begin, length); break;
      case 1: text.insert(begin, kPieces[random.below(std::size(kPieces))]); break;
      case 2: text.replace(begin, length, kPieces[random.below(std::size(kPieces))]); break;
      case 3: text.insert(random.below(text.size() + 1), text.substr(begin, length)); break;
      case 4:
        if (begin < text.size()) text[begin] = static_cast<char>(random.below(256));
        break;
      default: {
        const std::string& other = seeds[random.below(seeds.size())];
        text.insert(begin, other.substr(random.below(other.size() + 1), 4 * length));
      }
    }
  }
  return text;
}

std::vector<std::string> read_seeds(int count, char** folders) {
  std::vector<std::filesystem::path> paths;
  for (int i = 0; i < count; ++i)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folders[i]))
      if (entry.path().extension() == ".rcn") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> seeds;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return seeds;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> seeds = argc > 2 ? read_seeds(argc - 2, argv + 2) : std::vector<std::string>{};
  if (seeds.empty()) {
    std::fprintf(stderr, "usage: %s MUTATIONS FOLDER... (with .rcn files)\n", argv[0]);
    return 2;
  }
  const std::string kept = std::string(argv[0]) + "-input.rcn";
  const int file = ::open(kept.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  for (const std::string& seed : seeds) run(file, seed);
  Random random;
  const long mutations = std::strtol(argv[1], nullptr, 10);
  for (long i = 0; i < mutations; ++i) run(file, mutated(seeds[random.below(seeds.size())], seeds, random));
  ::unlink(kept.c_str());
  std::printf("%zu seeds and %ld mutations\n", seeds.size(), mutations);
  return 0;
}
