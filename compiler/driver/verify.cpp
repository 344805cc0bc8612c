#include "compiler/driver/verify.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "compiler/driver/output.h"
#include "compiler/driver/pipeline.h"
#include "compiler/driver/verify_files.h"

extern char** environ;

namespace rcn {

namespace {

using Json = nlohmann::ordered_json;

constexpr int code(ExitCode c) { return static_cast<int>(c); }

struct PythonFile {
  const char* name;
  const std::string_view& text;
};
const PythonFile kFiles[] = {
    {"verify.py", kVerifyPy},           {"verification.py", kVerificationPy},
    {"pairing.py", kPairingPy},         {"compare.py", kComparePy},
    {"eager.py", kEagerPy},             {"feeding.py", kFeedingPy},
    {"inputs.py", kInputsPy},           {"referee.py", kRefereePy},
    {"structure.py", kStructurePy},     {"returnn_process.py", kReturnnProcessPy},
    {"tensor_meta.py", kTensorMetaPy},  {"tf_network.py", kTfNetworkPy},
    {"requirements.txt", kRequirements},
};

// A folder that is gone with this object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rcnc-verify-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      throw std::runtime_error("cannot make a temporary folder: " + std::string(std::strerror(errno)));
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  void write(const std::string& name, std::string_view text) const {
    if (std::string why = write_file((path_ / name).string(), text); !why.empty())
      throw std::runtime_error("cannot write to the temporary folder: " + why);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

volatile std::sig_atomic_t ended_by = 0;  // a signal that asks this process to end
volatile std::sig_atomic_t child_to_end = 0;

void end_child(int signal) {
  ended_by = signal;
  if (child_to_end > 0) ::kill(child_to_end, signal);
}

// While one lives, Ctrl-C ends the children only, and what asks this process to end is passed on to the child: what they
// leave is removed first.
class SignalsToChild {
 public:
  SignalsToChild() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction action = {};
      action.sa_handler = kSignals[i] == SIGINT ? SIG_IGN : end_child;
      sigemptyset(&action.sa_mask);
      sigaction(kSignals[i], &action, &before_[i]);
    }
  }
  ~SignalsToChild() {
    child_to_end = 0;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  SignalsToChild(const SignalsToChild&) = delete;
  SignalsToChild& operator=(const SignalsToChild&) = delete;

  static constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};

 private:
  std::array<struct sigaction, kSignals.size()> before_ = {};
};

std::string python_of(const Options& options) {
  if (!options.verify.python.empty()) return options.verify.python;
  const char* variable = std::getenv("RCNC_PYTHON");
  return variable && *variable ? variable : "python3";
}

// Runs it to its end. Its exit code; -1 where it cannot be started, with the reason in errno.
int run_python(const std::string& python, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), python);
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (int signal : SignalsToChild::kSignals) sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  SignalsToChild signals;
  pid_t child = 0;
  int error = posix_spawnp(&child, argv[0], nullptr, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    errno = error;
    return -1;
  }
  child_to_end = child;
  if (ended_by) ::kill(child, ended_by);  // it came before
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGINT ? code(ExitCode::interrupted) : code(ExitCode::internal);
  return WEXITSTATUS(status);
}

}  // namespace

std::filesystem::path eager_program() {
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "rcnc-eager" : self.parent_path() / "rcnc-eager";
}

int verify_model(const Options& options) {
  if (::access(eager_program().c_str(), X_OK) != 0) {
    std::cerr << "rcnc: error: verify needs `rcnc-eager` beside `rcnc`\n"
              << "help: install libtorch and build again; `scripts/run` does both\n";
    return code(ExitCode::usage);
  }
  Messages messages;
  Session session(options, messages);
  Compiled compiled;
  if (load(session, options.models[0])) compiled = compile(session);
  print_diagnostics(messages, options);
  if (messages.diagnostics.has_errors()) return code(ExitCode::model_error);

  std::optional<TemporaryFolder> temporary(std::in_place);
  const TemporaryFolder& folder = *temporary;
  for (const PythonFile& file : kFiles) folder.write(file.name, file.text);
  folder.write("network.py", compiled.text);
  Json parameters = Json::array();
  for (const Parameter& p : compiled.parameters) parameters.push_back(p.path);
  std::string python = python_of(options);
  Json job{{"python", python},
           {"model", options.models[0]},
           {"eager", eager_program().string()},
           {"options", options.verify.for_run},
           {"against", options.verify.against},
           {"tolerance", options.verify.tolerance},
           {"train", options.eager.train},
           {"step", options.eager.step},
           {"params", options.eager.params_file},
           {"rename_map", options.eager.rename_map_file},
           {"quiet", options.quiet},
           {"parameters", std::move(parameters)}};
  folder.write("job.json", job.dump(1, ' ', false, Json::error_handler_t::replace));
  folder.write("operations.json", compiled.operations);
  folder.write("source_map.json", compiled.source_map);

  std::filesystem::path program = folder.path() / "verify.py", job_file = folder.path() / "job.json";
  int result = run_python(python, {"-B", program.string(), job_file.string()});
  int error = errno;
  temporary.reset();
  if (ended_by) std::raise(ended_by);
  if (result < 0) {
    std::cerr << "rcnc: error: cannot start the Python `" << python << "`: " << std::strerror(error)
              << "\nhelp: name one that has RETURNN with `--python PYTHON` or in $RCNC_PYTHON\n";
    return code(ExitCode::usage);
  }
  return result;
}

}  // namespace rcn
