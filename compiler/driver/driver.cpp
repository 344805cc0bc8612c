#include "compiler/driver/driver.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>

#include "compiler/base/big_stack.h"
#include "compiler/driver/doc.h"
#include "compiler/driver/flags_list.h"
#include "compiler/driver/modes.h"
#include "compiler/driver/output.h"
#include "compiler/driver/params_list.h"
#include "compiler/driver/verify.h"
#include "compiler/emit/emit.h"

namespace rcn {

namespace {

constexpr int code(ExitCode c) { return static_cast<int>(c); }

int fail_output(const std::string& where, const std::string& why) {
  std::cerr << "rcnc: error: cannot write " << where << ": " << why << "\n";
  return code(ExitCode::model_error);
}

int exec_eager(char** argv) {
  std::filesystem::path eager = eager_program();
  ::execv(eager.c_str(), argv);
  std::cerr << "rcnc: error: eager runs need `rcnc-eager` beside `rcnc`, which cannot be started: " << std::strerror(errno)
            << "\nhelp: install libtorch and build again; `scripts/run` does both\n";
  return code(ExitCode::usage);
}

std::string extension(const Options& options) { return options.emit.form == OutputForm::python ? ".py" : ".json"; }

// `mode`: empty but with --modes, when it is a part of the name: MODEL.MODE.py.
std::string output_path(const Options& options, const std::string& model, const std::string& mode) {
  std::error_code ignored;
  bool folder = !mode.empty() || options.models.size() > 1 || options.output.ends_with('/') || std::filesystem::is_directory(options.output, ignored);
  if (!folder) return options.output;
  std::string stem = std::filesystem::path(model == "-" ? options.stdin_name : model).stem().string();
  if (!mode.empty()) stem += "." + mode;
  return (std::filesystem::path(options.output) / (stem + extension(options))).string();
}

// The result of one model, or of one mode of it; written only when all of it is there.
int deliver(const Options& options, const std::string& model, const std::string& mode, const std::string& text) {
  if (options.output.empty()) {
    std::string why = write_stdout(text);
    return why.empty() ? 0 : fail_output("standard output", why);
  }
  std::string path = output_path(options, model, mode);
  std::string why = write_file(path, text);
  return why.empty() ? 0 : fail_output("`" + path + "`", why);
}

// Two models of one name would overwrite each other.
bool distinct_outputs(const Options& options) {
  if (options.output.empty()) return true;
  std::string mode = options.modes.empty() ? "" : options.modes[0];
  for (std::size_t i = 0; i < options.models.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (output_path(options, options.models[i], mode) == output_path(options, options.models[k], mode)) {
        std::cerr << "rcnc: error: `" << options.models[k] << "` and `" << options.models[i] << "` would both be written to `"
                  << output_path(options, options.models[i], mode) << "`\n";
        return false;
      }
  return true;
}

int print_documentation(const Options& options) {
  std::vector<DocEntry> all = documentation(OpTable());
  std::string error;
  std::vector<DocEntry> chosen = documented(all, options.models, error);
  if (!error.empty()) {
    std::cerr << "rcnc: error: " << error << "\n";
    return code(ExitCode::model_error);
  }
  std::string text = options.markdown ? doc_markdown(options.models.empty() ? all : chosen)
                     : options.models.empty() ? doc_list(all)
                                              : doc_text(chosen);
  std::string why = write_stdout(text);
  return why.empty() ? 0 : fail_output("standard output", why);
}

int run_models(const Options& options) {
  if (options.command == Command::compile && !distinct_outputs(options)) return code(ExitCode::usage);
  Messages messages;
  struct Result { std::string model, mode, text; };
  std::string source_map;
  std::vector<Result> results;  // of the models without errors
  for (const std::string& model : options.models) {
    Session session(options, messages);
    std::vector<Result> own;
    if (!load(session, model)) continue;
    if (options.command == Command::params) {
      own.push_back({model, "", list_parameters(session)});
    } else if (options.command == Command::flags) {
      own.push_back({model, "", list_flags(session)});
    } else if (options.modes.empty()) {
      Compiled compiled = compile(session);
      source_map = std::move(compiled.source_map);
      own.push_back({model, "", std::move(compiled.text)});
    } else {
      std::vector<std::string> texts = compile_modes(session);
      for (std::size_t i = 0; i < texts.size(); ++i) own.push_back({model, options.modes[i], std::move(texts[i])});
    }
    if (!session.failed()) results.insert(results.end(), own.begin(), own.end());
  }
  print_diagnostics(messages, options);
  if (!source_map.empty() && !results.empty())
    if (std::string why = write_file(options.source_map, source_map); !why.empty()) return fail_output("`" + options.source_map + "`", why);
  if (options.command != Command::check)
    for (const Result& result : results)
      if (int error = deliver(options, result.model, result.mode, result.text)) return error;
  return code(messages.diagnostics.has_errors() ? ExitCode::model_error : ExitCode::ok);
}

}  // namespace

int guarded(const std::string& what, const std::function<int()>& body) {
  int result = code(ExitCode::internal);
  on_big_stack([&] {
    try {
      result = body();
    } catch (const std::exception& e) {
      std::cerr << "rcnc: internal error while working on " << what << ": " << e.what()
                << "\nThis is a bug in rcnc, not in the model. Please report it with the model file.\n";
    } catch (...) {
      std::cerr << "rcnc: internal error while working on " << what << "\nThis is a bug in rcnc. Please report it.\n";
    }
  });
  return result;
}

int rcnc_main(int argc, char** argv) {
  ParsedOptions parsed = parse_options(argc, argv);
  if (parsed.exit) return code(*parsed.exit);
  const Options& options = parsed.options;
  if (options.print_loader) {
    std::string why = write_stdout(loader_text());
    return why.empty() ? 0 : fail_output("standard output", why);
  }
  if (options.print_operations) {
    std::string names;
    for (std::string_view name : OpTable().names()) names += std::string(name) + "\n";
    std::string why = write_stdout(names);
    return why.empty() ? 0 : fail_output("standard output", why);
  }
  if (options.command == Command::doc) return print_documentation(options);
  if (options.command == Command::run) return exec_eager(argv);
  std::string what;
  for (const std::string& model : options.models) what += (what.empty() ? "`" : ", `") + model + "`";
  if (options.command == Command::verify) return guarded(what, [&] { return verify_model(options); });
  return guarded(what, [&] { return run_models(options); });
}

}  // namespace rcn
