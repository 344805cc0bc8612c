#include "compiler/driver/options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "compiler/driver/version.h"

namespace rcn {

namespace {

constexpr std::pair<std::string_view, Command> kCommands[] = {
    {"compile", Command::compile}, {"run", Command::run}, {"check", Command::check}, {"params", Command::params}, {"flags", Command::flags},
    {"verify", Command::verify}, {"doc", Command::doc}};

// Options of eager runs that go with verify.
constexpr std::string_view kSaysHowToRun[] = {"--data", "--batch", "--time", "--seed", "--sample-rate", "--params", "--rename-map",
                                              "--params-partial", "--train", "--eval", "--step", "--threads"};

constexpr std::string_view kFooter = R"(
Commands (before the files; without one: compile):
  compile     write the network dict of each model
  run         the same as --eager
  check       diagnostics only
  params      the parameters: name, dims, dtype, options
  flags       the mode flags of every module, and what set them
  verify      RETURNN against the eager run: the first operation that differs
  doc         the documentation of NAME..., such as nn.Linear; without a name, all names

Exit codes: 0 fine, 1 the model or input has errors (verify: or there is a difference), 2 wrong usage, 3 internal error, 130 interrupted.)";

// `@file` stands for the arguments in that file: one a line, or separated by blanks; quotes keep blanks.
bool expand_response_files(int argc, const char* const* argv, std::vector<std::string>& result) {
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg.size() < 2 || arg[0] != '@') {
      result.push_back(std::move(arg));
      continue;
    }
    std::ifstream in(arg.substr(1), std::ios::binary);
    if (!in) {
      std::cerr << "rcnc: error: cannot read the response file `" << arg.substr(1) << "`\n";
      return false;
    }
    std::stringstream text;
    text << in.rdbuf();
    std::string word;
    bool any = false;
    char quote = 0;
    for (char c : text.str()) {
      if (quote) {
        if (c == quote) {
          quote = 0;
        } else {
          word += c;
        }
      } else if (c == '"' || c == '\'') {
        quote = c;
        any = true;
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        if (any || !word.empty()) result.push_back(word);
        word.clear();
        any = false;
      } else {
        word += c;
      }
    }
    if (any || !word.empty()) result.push_back(word);
  }
  return true;
}

bool parse_limit(const std::string& text, Limits& limits, std::string& error) {
  std::size_t eq = text.find('=');
  std::string name = text.substr(0, eq);
  for (const LimitInfo& info : kLimitTable) {
    if (info.name != name) continue;
    char* end = nullptr;
    long long value = eq == std::string::npos ? -1 : std::strtoll(text.c_str() + eq + 1, &end, 10);
    if (value < 1 || *end != 0) {
      error = "--limit " + name + " needs a positive int";
      return false;
    }
    limits.*info.field = value;
    return true;
  }
  error = "there is no limit `" + name + "`; the limits are";
  for (const LimitInfo& info : kLimitTable) error += " " + std::string(info.name);
  return false;
}

// `encoder.layers.0.train=false`, also with `/`; without a path a flag of the network.
std::optional<SetOption> parse_set(const std::string& text) {
  std::size_t eq = text.find('=');
  if (eq == std::string::npos || text.find_first_of("\n\r") != std::string::npos) return std::nullopt;
  SetOption result;
  result.text = text;
  std::size_t dot = text.find_last_of("./", eq);
  result.path = dot == std::string::npos ? "" : text.substr(0, dot);
  std::size_t flag_at = dot == std::string::npos ? 0 : dot + 1;
  result.flag = text.substr(flag_at, eq - flag_at);
  if (result.flag.empty() || dot == 0) return std::nullopt;
  std::string value = text.substr(eq + 1);
  for (FlagValue v : {FlagValue::off, FlagValue::on, FlagValue::dynamic})
    if (value == to_string(v)) {
      result.value = v;
      return result;
    }
  return std::nullopt;
}

// `train,search`: each mode once; empty after a mistake.
std::vector<std::string> parse_modes(const std::string& text) {
  std::vector<std::string> modes(1);
  for (char c : text) {
    if (c == ',') {
      modes.emplace_back();
    } else {
      modes.back() += c;
    }
  }
  for (const std::string& mode : modes)
    if (mode.empty() || std::count(modes.begin(), modes.end(), mode) > 1) return {};
  return modes;
}

// A number of at least 0, or above it.
CLI::Validator number_from_zero(bool zero) {
  auto check = [zero](const std::string& text) {
    char* end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    bool right = !text.empty() && *end == '\0' && (value > 0 || (zero && value == 0));
    return right ? std::string() : "`" + text + (zero ? "` is no number of at least 0" : "` is no number above 0");
  };
  return CLI::Validator(check, zero ? "NONNEGATIVE" : "POSITIVE");
}

CLI::Validator positive() { return number_from_zero(false); }
CLI::Validator not_negative() { return number_from_zero(true); }

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
  ParsedOptions parsed;
  Options& o = parsed.options;
  std::vector<std::string> args;
  if (!expand_response_files(argc, argv, args)) {
    parsed.exit = ExitCode::usage;
    return parsed;
  }
  if (!args.empty())
    for (const auto& [word, command] : kCommands)
      if (args[0] == word) {
        o.command = command;
        args.erase(args.begin());
        break;
      }

  CLI::App app("Compiles .rcn models to RETURNN network dicts.", "rcnc");
  app.footer(std::string(kFooter));
  app.set_version_flag("--version", "rcnc " + std::string(kVersion), "print the version");
  app.set_help_flag("-h,--help", "print this help");
  app.option_defaults()->take_last();

  std::vector<std::string> defines, limits, set;
  std::string json_form, modes, part = "all", trace_format = "text", diagnostics = "text", color = "auto";
  bool eager = false, python = false, eval = false;
  app.add_option("MODEL", o.models, "model files; `-` is standard input")->take_all();

  const std::string output = "Output";
  app.add_option("-o", o.output, "write to FILE, atomically and only when it changes; with several models to a folder")->type_name("FILE")->group(output);
  if (o.command != Command::verify) app.add_flag("--python", python, "a Python config (the default)")->group(output);
  app.add_flag("--json{tagged}", json_form, "JSON with tagged dims, for the loader; --json=plain for RETURNN without any Python; with --eager: results as JSON")->group(output);
  app.add_option("--emit", part, "the piece to write")->check(CLI::IsMember({"all", "net", "extern", "dims"}))->group(output);
  app.add_option("--behavior-version", o.emit.behavior_version, "RETURNN's behavior_version (default 30)")->group(output);
  app.add_flag("--sort-keys", o.emit.sort_keys, "sort layers and options by name")->group(output);
  app.add_flag("!--no-comments", o.emit.comments, "no comments with source lines (Python form)")->group(output);
  app.add_option("--source-map", o.source_map, "also write where each layer comes from, as JSON")->type_name("FILE")->group(output);
  app.add_flag("--print-loader", o.print_loader, "print the Python loader of the tagged JSON form")->group(output);
  app.add_flag("--print-operations", o.print_operations, "print the names of all operations")->group(output);

  const std::string model = "Model";
  app.add_option("-D", defines, "set an option of the model: name=value")->take_all()->allow_extra_args(false)->type_name("NAME=VALUE")->group(model);
  app.add_option("-I", o.import_dirs, "search path of imports, after the importing file's folder")->take_all()->allow_extra_args(false)->type_name("DIR")->group(model);
  auto* mode = app.add_option("--mode", o.mode, "one of the model's modes, or train (default), eval, search")->group(model);
  app.add_option("--modes", modes, "several modes in one run, each written to a file of its own in the folder of -o")->type_name("A,B")->group(model)->excludes(mode);
  app.add_option("--set", set, "set a mode flag, after those of the mode: path.flag=true|false|dynamic")->take_all()->allow_extra_args(false)->type_name("PATH.FLAG=VALUE")->group(model);
  app.add_option("--stdin-name", o.stdin_name, "the name of standard input in messages")->group(model);
  app.add_option("--limit", limits, "change a limit: name=value")->take_all()->allow_extra_args(false)->type_name("NAME=VALUE")->group(model);

  const std::string run = "Eager";
  EagerFlags& e = o.eager;
  app.add_flag("--eager", eager, "run the model on tensors")->group(run);
  app.add_option("--data", e.data, "an input: name=FILE[:key] (.npz, .npy, .safetensors, .wav, .flac, RETURNN's HDF), name=[[1,2],[3]] or name=example:audio; several: FILE.hdf")->take_all()->allow_extra_args(false)->group(run);
  app.add_option("--batch", e.batch, "sequences in the random batch")->group(run);
  app.add_option("--time", e.time, "lengths of the random batch: dim=7,5,2")->take_all()->allow_extra_args(false)->group(run);
  app.add_option("--seed", e.seed, "seed of random data, parameters and masks (default 42)")->group(run);
  app.add_option("--sample-rate", e.sample_rate, "the sample rate that audio has to have")->check(positive())->group(run);
  app.add_option("--params", e.params_file, "parameters by name: .npz, .safetensors, or a checkpoint of RETURNN (its name without .index)")->group(run);
  app.add_option("--rename-map", e.rename_map_file, "names in the file of --params and what they are here: JSON, or lines `old new`; one * in both stands for the same")->type_name("FILE")->group(run);
  app.add_flag("--params-partial", e.params_partial, "parameters that the file of --params lacks keep their first values")->group(run);
  app.add_option("--save-params", e.save_params_file, "write the parameters (.npz or .safetensors)")->group(run);
  app.add_flag("--trace{*}", e.trace, "a line for each operation; --trace=WHAT: for those that fit")->group(run);
  app.add_option("--trace-format", trace_format, "text or json (an object a line)")->check(CLI::IsMember({"text", "json"}))->group(run);
  app.add_option("--print", e.print, "tensors: by name or variable (globs), or line (12, 12-20, model.rcn:12); several with commas")->take_all()->allow_extra_args(false)->type_name("WHAT")->group(run);
  app.add_flag("--full", e.full, "print large tensors in full, too")->group(run);
  app.add_option("--save", e.save, "write outputs, losses and errors (.npz); FILE.npz:WHAT also what fits")->take_all()->allow_extra_args(false)->type_name("FILE[:WHAT]")->group(run);
  app.add_option("--record", e.record_folder, "write inputs, parameters and the tensor of each operation outside of loops and branches")->type_name("DIR")->group(run);
  app.add_option("--html", e.html_file, "write a page with the modules, the source, all tensors and pictures of them")->type_name("FILE")->group(run);
  app.add_flag("--summary", e.summary, "the slowest lines, the memory of tensors, and the number of parameters")->group(run);
  app.add_flag("--check-finite", e.check_finite, "stop at the first operation that makes a NaN or an infinity")->group(run);
  app.add_flag("--check-padding", e.check_padding, "run again with other padding, and with each sequence alone")->group(run);
  app.add_flag("--grad-check", e.grad_check, "compare gradients with finite differences")->group(run);
  app.add_option("--fit", e.fit, "first train for so many steps on the batch; the train flag is on, unless --eval")->check(positive())->type_name("STEPS")->group(run);
  auto* rate = app.add_option("--lr", e.learning_rate, "the learning rate of --fit (default 0.001)")->check(positive())->group(run);
  app.add_flag("--padding", e.padding, "show padding too")->group(run);
  app.add_flag("--grad", e.grad, "gradients of the losses for every parameter")->group(run);
  auto* train_flag = app.add_flag("--train", e.train, "the dynamic train flag is on")->group(run);
  app.add_flag("--eval", eval, "the dynamic train flag is off (the default)")->group(run)->excludes(train_flag);
  app.add_option("--step", e.step, "training steps before this one (default 0)")->check(not_negative())->group(run);
  app.add_option("--break", e.breaks, "stop there with a prompt: a line, a name (encoder/*), nan, first or error; `NAME if CONDITION`")->take_all()->allow_extra_args(false)->type_name("WHERE")->group(run);
  app.add_flag("--debug", e.debug, "a prompt at the first breakpoint or error, or at the first operation")->group(run);
  app.add_option("--device", e.device, "cpu or cuda[:N]")->group(run);
  app.add_option("--threads", e.threads, "threads of the tensor library")->check(positive())->group(run);

  const std::string verify = "Verify";
  VerifyFlags& v = o.verify;
  if (o.command == Command::verify)
    app.add_option("--python", v.python, "a Python that has RETURNN (default: $RCNC_PYTHON, else python3)")->type_name("PYTHON")->group(verify);
  app.add_option("--against", v.against, "a RETURNN config to compare with, in place of the network dict of the model")->type_name("FILE")->group(verify);
  app.add_option("--tolerance", v.tolerance, "relative to the largest value (default 0.0001)")->check(positive())->group(verify);

  const std::string messages = "Messages";
  app.add_option("--diagnostics", diagnostics, "text or json")->check(CLI::IsMember({"text", "json"}))->group(messages);
  app.add_option("--color", color, "auto, always or never")->check(CLI::IsMember({"auto", "always", "never"}))->group(messages);
  app.add_option("--max-errors", o.max_errors, "diagnostics shown at most (default 20)")->check(positive())->group(messages);
  app.add_flag("-q,--quiet", o.quiet, "errors only")->group(messages);
  app.add_flag("-v,--verbose", o.verbose, "the time of each stage")->group(messages);
  auto* markdown = app.add_flag("--markdown", o.markdown, "with doc: the whole reference as Markdown")->group(messages);

  auto usage = [&](const std::string& text) {
    std::cerr << "rcnc: error: " << text << "\nRun `rcnc --help` for the options.\n";
    parsed.exit = ExitCode::usage;
    return parsed;
  };
  std::vector<std::string> reversed(args.rbegin(), args.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    parsed.exit = ExitCode::ok;
    return parsed;
  } catch (const CLI::CallForVersion&) {
    std::cout << "rcnc " << kVersion << "\n";
    parsed.exit = ExitCode::ok;
    return parsed;
  } catch (const CLI::ParseError& error) {
    return usage(error.what());
  }

  if (o.models.size() > 1 && o.models[0] == "verify") return usage("`verify` has to come first: rcnc verify MODEL");
  if (o.models.size() > 1 && o.command == Command::compile)  // a command behind options: `rcnc -v check model.rcn`
    for (const auto& [word, command] : kCommands)
      if (o.models[0] == word) {
        o.command = command;
        o.models.erase(o.models.begin());
        break;
      }
  if (eager) {
    if (o.command != Command::compile) return usage("--eager goes with no command but compile");
    o.command = Command::run;
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_name() == "--eager") continue;
    if (option->get_group() == verify && o.command != Command::verify) return usage(option->get_name() + " goes with verify only");
    if (o.command == Command::verify) {
      if (option->get_group() == verify || option->get_group() == messages || option->get_name() == "MODEL") continue;
      bool kept = option->get_group() == model && option->get_name() != "--modes" && option->get_name() != "--stdin-name";
      if (!kept && std::find(std::begin(kSaysHowToRun), std::end(kSaysHowToRun), option->get_name()) == std::end(kSaysHowToRun))
        return usage(option->get_name() + " does not go with verify");
      for (const std::string& value : option->results()) {
        v.for_run.push_back(option->get_name());
        if (option->get_expected_max() > 0) v.for_run.push_back(value);
      }
      continue;
    }
    if (option->get_group() == run && o.command != Command::run) return usage(option->get_name() + " goes with --eager only");
    if (option->get_group() == output && o.command == Command::run && option->get_name() != "--json")
      return usage(option->get_name() + " does not go with --eager; --save writes results to a file");
  }
  if (!e.breaks.empty()) e.debug = true;
  if (e.debug && o.models.size() == 1 && o.models[0] == "-") return usage("--debug reads standard input, so the model must be a file");
  e.trace_json = trace_format == "json";
  if (app.count("--trace-format") > 0 && !e.trace) return usage("--trace-format needs --trace");
  if (rate->count() > 0 && !e.fit) return usage("--lr needs --fit");
  if (e.fit && !eval) e.train = true;
  if (e.device != "cpu") return usage("--device " + e.device + ": this version runs on the CPU only");
  if (e.params_file.empty() && (!e.rename_map_file.empty() || e.params_partial) && v.against.empty())
    return usage(std::string(e.params_partial ? "--params-partial" : "--rename-map") + " needs --params");
  auto saves = [](const std::string& path, std::string_view ending) {
    return path.ends_with(ending) || path.find(std::string(ending) + ":") != std::string::npos;
  };
  for (const std::string& path : e.save)
    if (!saves(path, ".npz") && !saves(path, ".safetensors"))
      return usage("--save writes FILE.npz or FILE.safetensors, not `" + path + "`");
  if (const std::string& path = e.save_params_file; !path.empty() && !path.ends_with(".npz") && !path.ends_with(".safetensors"))
    return usage("--save-params writes FILE.npz or FILE.safetensors, not `" + path + "`");
  if (o.command == Command::run) {
    if (!json_form.empty() && json_form != "tagged") return usage("--eager has one JSON form: --json");
    e.json = !json_form.empty();
  } else if (!json_form.empty()) {
    if (python) return usage("--python and --json exclude each other");
    if (json_form != "tagged" && json_form != "plain") return usage("--json is --json or --json=plain, not --json=" + json_form);
    o.emit.form = json_form == "plain" ? OutputForm::json_plain : OutputForm::json;
  }
  o.emit.part = part == "net" ? EmitPart::net : part == "extern" ? EmitPart::extern_data : part == "dims" ? EmitPart::dims : EmitPart::all;
  o.diagnostics = diagnostics == "json" ? DiagnosticsForm::json : DiagnosticsForm::text;
  const char* no_color = std::getenv("NO_COLOR");
  o.color = color == "always" || (color == "auto" && !(no_color && *no_color) && isatty(STDERR_FILENO));
  for (const std::string& setting : set) {
    std::optional<SetOption> parsed_setting = parse_set(setting);
    if (!parsed_setting) return usage("--set needs path.flag=value, the value true, false or dynamic, not `" + setting + "`");
    o.set.push_back(std::move(*parsed_setting));
  }
  if (app.count("--modes") > 0) {
    o.modes = parse_modes(modes);
    if (o.modes.empty()) return usage("--modes needs the names of modes, each once: --modes train,search");
    if (o.command != Command::compile && o.command != Command::check) return usage("--modes goes with compile and check; use --mode");
    if (o.command == Command::compile && o.output.empty()) return usage("--modes needs -o with a folder: each mode is written to a file of its own");
  }
  for (const std::string& define : defines) {
    std::size_t eq = define.find('=');
    if (eq == std::string::npos || eq == 0) return usage("-D needs name=value, not `" + define + "`");
    o.defines.emplace_back(define.substr(0, eq), define.substr(eq + 1));
  }
  for (const std::string& limit : limits) {
    std::string error;
    if (!parse_limit(limit, o.limits, error)) return usage(error);
  }
  if (markdown->count() && o.command != Command::doc) return usage("--markdown goes with doc only");
  if (o.command == Command::doc && !o.output.empty()) return usage("doc writes to standard output");
  if (o.print_loader || o.print_operations || o.command == Command::doc) return parsed;
  if (o.models.empty()) return usage("no model file is given");
  if (o.emit.behavior_version < 21) return usage("--behavior-version must be 21 or higher: older versions treat dims in other ways");
  if (o.models.size() > 1 && (o.command == Command::run || o.command == Command::params || o.command == Command::flags || o.command == Command::verify))
    return usage("one model at a time is run, verified or listed");
  if (o.command == Command::verify && o.models[0] == "-") return usage("verify reads the model twice, so it must be a file");
  if (!o.source_map.empty() && (o.command != Command::compile || o.models.size() > 1 || !o.modes.empty()))
    return usage("--source-map goes with the compilation of one model in one mode");
  if (o.models.size() > 1 && o.command == Command::compile && o.output.empty()) return usage("several models need -o with a folder");
  return parsed;
}

}  // namespace rcn
