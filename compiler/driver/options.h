// The command line as data; one table for rcnc and rcnc-eager.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/limits.h"
#include "compiler/driver/exit_code.h"
#include "compiler/emit/emit.h"
#include "compiler/eval/flags.h"

namespace rcn {

enum class Command { compile, run, check, params, flags, verify, doc };
enum class DiagnosticsForm { text, json };

// What only eager runs look at.
struct EagerFlags {
  std::vector<std::string> data;        // name=FILE[:key] or name=literal
  std::optional<std::int64_t> batch;
  std::vector<std::string> time;        // dim=7,5,2
  std::uint64_t seed = 42;
  std::optional<std::int64_t> sample_rate;
  std::string params_file;
  std::string rename_map_file;
  bool params_partial = false;
  std::string save_params_file;
  std::optional<std::string> trace;     // a glob; empty: everything
  bool trace_json = false;
  std::vector<std::string> print;       // globs, separated by commas
  std::vector<std::string> save;        // FILE or FILE:globs
  bool full = false;
  bool summary = false;
  std::string record_folder;
  std::string html_file;
  bool check_finite = false;
  bool check_padding = false;
  bool grad_check = false;
  std::optional<std::int64_t> fit;      // steps
  double learning_rate = 1e-3;
  bool padding = false;
  bool json = false;
  bool grad = false;
  bool train = false;
  std::int64_t step = 0;
  int threads = 0;                      // 0: libtorch's choice
  std::vector<std::string> breaks;      // --break WHERE
  bool debug = false;                   // a prompt
  std::string device = "cpu";
};

// Of `rcnc verify`.
struct VerifyFlags {
  std::string python;                // --python; empty: $RCNC_PYTHON, else python3
  std::string against;               // --against
  double tolerance = 1e-4;
  std::vector<std::string> for_run;  // what of the command line says how to run the model
};

struct Options {
  Command command = Command::compile;
  std::vector<std::string> models;
  std::string source_map;  // the file of --source-map; empty: none
  std::string output;                   // -o; empty: stdout
  std::string stdin_name = "<stdin>";
  std::vector<std::string> import_dirs;
  std::vector<std::pair<std::string, std::string>> defines;
  std::string mode = "train";
  std::vector<std::string> modes;       // --modes; empty: `mode` alone
  std::vector<SetOption> set;
  EmitOptions emit;
  DiagnosticsForm diagnostics = DiagnosticsForm::text;
  bool color = false;
  bool quiet = false;
  bool verbose = false;
  std::size_t max_errors = 20;
  bool print_loader = false;
  bool print_operations = false;
  bool markdown = false;
  Limits limits;
  EagerFlags eager;
  VerifyFlags verify;
};

// Parses the command line. Prints help, version and usage errors itself; then `exit` is set and nothing is to be done.
struct ParsedOptions {
  Options options;
  std::optional<ExitCode> exit;
};
ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace rcn
