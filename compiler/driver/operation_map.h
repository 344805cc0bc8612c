// Which layer of the network dict computes which operation of the program: for `rcnc verify`.
#pragma once

#include <string>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/eval/numbering.h"
#include "compiler/graph/passes.h"

namespace rcn {

class OperationMap {
 public:
  // A tensor of the graph backend.
  void add(const NumberedTensor& made) { made_.push_back(made); }

  // JSON: a list of what has a layer to be fetched: number, operation, result, name of the layer, its class, whether it
  // draws random numbers, dims that it lacks; file, line and column, and the calls around, innermost first. An operation
  // that became a part of another one's layer, or that nothing reads, is not in it.
  std::string json(const LiveLayers& layers, const SourceMap& sources) const;

 private:
  std::vector<NumberedTensor> made_;
};

}  // namespace rcn
