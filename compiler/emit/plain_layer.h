// The lowering of one layer to plain JSON, by the rule of its class.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/emit/document.h"
#include "compiler/emit/plain_axes.h"
#include "compiler/emit/plain_rules.h"

namespace rcn {

// What is known of the layers before it.
struct PlainContext {
  const Region* region = nullptr;                         // the network
  std::vector<PlainTensor> tensors;                       // by layer id
  std::unordered_map<const Layer*, std::string> spelled;  // those that another layer stands for
  std::unordered_set<std::string> names;                  // of all layers and entries, later ones too

  std::string spelling(const LayerRef& ref) const;
  std::string free_name(const std::string& wanted);
};

// The value as it is, with references spelled; or why JSON has no word for it.
std::optional<Option> plain_value(const PlainContext& context, const Option& value, std::string& fault);

class PlainLayer {
 public:
  PlainLayer(const Layer& layer, const PlainRule& rule, PlainContext& context, DiagnosticSink& diagnostics)
      : layer_(layer), rule_(rule), context_(context), diagnostics_(diagnostics) {}

  // False after a report.
  bool lower();

  std::vector<NetworkEntry> entries;  // the layer, and helpers before it
  PlainTensor result;

 private:
  void find_sources();
  void add_sources(std::string_view key);
  void move_marks();
  std::string add_helper(const std::string& suffix, OptionDict options);
  bool may_be_packed() const;
  void put_behind_eval();
  bool needs_mark(Dim wanted, bool time) const;

  void add_option(const std::string& key, const Option& value);
  void add_n_out(const std::string& key, const Option& value);
  void add_axes(const std::string& key, const Option& value);
  std::string axis_text(const std::string& key, const Option& value);
  std::string axis_text(const PlainTensor& tensor, const std::string& tensor_name, Dim dim);
  void add_shape(const std::string& key, const Option& value);
  void add_pairs(const std::string& key, const Option& value);
  void add_out_type(const std::string& key, const Option& value);

  void add_marks(const std::string& key, const Option& value);
  void add_size(const std::string& key, const Option& value);
  void add_text(const std::string& key, const Option& value);

  void check_combination();
  void check_marks();
  void set_result();

  void fail(std::string_view key, const std::string& reason);
  void fail_mark(const std::string& reason);

  const Layer& layer_;
  const PlainRule& rule_;
  PlainContext& context_;
  DiagnosticSink& diagnostics_;
  bool failed_ = false;

  OptionDict options_;                        // with "class"
  std::optional<std::string> moved_;          // the helper with the marks that the layer needs, in place of its source
  bool names_frames_ = false;                 // an axis string stands for batch or time
  const Layer* source_ = nullptr;             // that axes are named on
  PlainTensor source_tensor_;                 // with its marks moved
  std::vector<const PlainTensor*> combined_;  // all tensors that are combined
  std::vector<Dim> axes_;
  Dim new_feature_ = nullptr;  // the dim of n_out
};

}  // namespace rcn
