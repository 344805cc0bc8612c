#include "runtime/show/recorder.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/show/view.h"

namespace rcn {

namespace {

std::string json_text(const std::string& text) { return nlohmann::json(text).dump(); }

std::string listed(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "\n  " : ",\n  ") + item;
  return "[" + text + "]";
}

}  // namespace

// Keeps the values under `key`, as they are when the tensor is made.
std::string Recorder::described(const std::string& key, const Tensor& tensor) {
  arrays_.emplace_back(key, shown_values(tensor, lengths_));
  return "\"values\": " + json_text(key) + ", \"tensor\": " + json_description(tensor, lengths_);
}

Tensor Recorder::input(const ExternInput& input) {
  Tensor tensor = NumberingBackend::input(input);
  inputs_.push_back("{\"name\": " + json_text(input.name) + ", \"key\": " + json_text(input.key) + ", " +
                    described("input/" + input.name, tensor) + "}");
  return tensor;
}

void Recorder::add(const NumberedTensor& made) {
  if (eager(made.tensor).beam) return;
  std::string number = std::to_string(made.number);
  operations_.push_back("{\"number\": " + number + ", \"operation\": " + json_text(made.operation) + ", \"result\": " +
                        json_text(made.result) + ", " +
                        described("operation/" + number + "/" + made.result, made.tensor) + "}");
}

void Recorder::write(const std::string& folder, const std::vector<LoadedParameter>& params) const {
  NamedArrays arrays = arrays_;
  std::vector<std::string> parameters;
  for (const LoadedParameter& p : params) {
    std::string key = "parameter/" + p.parameter.path;
    arrays.emplace_back(key, eager(p.tensor).value.detach());
    parameters.push_back("{\"name\": " + json_text(p.parameter.path) + ", \"in_file\": " + json_text(p.name_in_file) +
                         ", \"values\": " + json_text(key) + "}");
  }
  std::filesystem::path base = std::filesystem::path(folder) / "record";
  write_arrays(base.string() + ".npz", arrays);
  std::string json = "{\"inputs\": " + listed(inputs_) + ",\n \"parameters\": " + listed(parameters) +
                     ",\n \"operations\": " + listed(operations_) + "}\n";
  write_whole(base.string() + ".json", json);
}

}  // namespace rcn
