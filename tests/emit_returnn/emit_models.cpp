// emit_models MODEL python|json|plain [net|extern|dims|sorted]..., or `emit_models loader`: a test network as text.
#include <iostream>
#include <string>

#include "tests/unit/emit/models.h"

int main(int argc, char** argv) {
  using namespace rcn;
  if (argc == 2 && std::string(argv[1]) == "loader") {
    std::cout << loader_text();
    return 0;
  }
  std::unique_ptr<test::Model> model = argc > 2 ? test::make_model(argv[1]) : nullptr;
  if (!model) {
    std::cerr << "usage: emit_models MODEL python|json|plain [net|extern|dims|sorted]...\n";
    return 2;
  }
  EmitOptions options;
  for (int i = 2; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "json") options.form = OutputForm::json;
    if (word == "plain") options.form = OutputForm::json_plain;
    if (word == "net") options.part = EmitPart::net;
    if (word == "extern") options.part = EmitPart::extern_data;
    if (word == "dims") options.part = EmitPart::dims;
    if (word == "sorted") options.sort_keys = true;
  }
  DiagnosticSink diagnostics;
  std::cout << model->text(options, diagnostics);
  for (const Diagnostic& item : diagnostics.items()) std::cerr << format_message(item.kind, item.args) << '\n';
  for (const std::string& fault : verify(model->graph, model->layers, "test")) std::cerr << fault << '\n';
  return diagnostics.has_errors() ? 1 : 0;
}
