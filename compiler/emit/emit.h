// Writes a named graph as text. Output is a pure function of its arguments.
#pragma once

#include <string>
#include <string_view>

#include "compiler/base/source.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/graph/passes.h"

namespace rcn {

enum class OutputForm { python, json, json_plain };

// The parts go together: read one after the other (dims first in Python, any order in JSON) they are the whole. Only
// `dims` declares dims; the others use their names.
enum class EmitPart { all, net, extern_data, dims };

struct EmitOptions {
  OutputForm form = OutputForm::python;
  EmitPart part = EmitPart::all;
  int behavior_version = 30;
  bool sort_keys = false;
  bool comments = true;  // `# model.rcn:12` behind each layer (Python only)
};

// The config text. Where the form cannot say the network (plain JSON), reports that with the place and the reason and
// returns an empty text.
std::string emit(const Graph& graph, const LiveLayers& layers, const SourceMap& sources, const EmitOptions& options,
                 DiagnosticSink& diagnostics);

// The Python text that turns the tagged JSON form into what the Python form gives (`rcnc --print-loader`). It defines
// load_config(source), and decodes in place when RETURNN reads it as a config file behind the JSON.
std::string_view loader_text();

}  // namespace rcn
