#include "compiler/emit/plain_rules.h"

#include <algorithm>

namespace rcn {

namespace {

struct Entry {
  std::string_view cls;
  PlainResult result;
  std::string_view sources;
  std::string_view options;  // `key` (kept), `key:slot`, `key:slot!` (required)
};

// Every class has these. `out_shape` is RETURNN's check of dims; the marks of losses are checked by the lowering.
constexpr std::string_view kCommon =
    "loss loss_scale loss_opts is_output_layer name_scope trainable L2 control_dependencies out_shape:drop "
    "out_type:out_type";

constexpr std::string_view kLinear =
    "from out_dim:n_out! in_dim:in_dim! with_bias activation reuse_params forward_weights_init bias_init";

constexpr std::string_view kBatchNorm =
    "from in_dim:in_dim! reuse_params epsilon momentum masked_time param_version use_std use_shift use_sample "
    "force_sample update_sample_only_in_training delay_sample_update gamma_init beta_init";
constexpr std::string_view kRec =
    "from out_dim:n_out! in_dim:in_dim! axis:time_dim! unit:text unit_opts direction reuse_params initial_state";
constexpr std::string_view kVariable =
    "from shape:shape dtype init init_by_layer param_name trainable saveable non_critical_for_restore updater_opts "
    "add_batch_axis:off add_time_axis:off";

// clang-format off
constexpr Entry kTable[] = {
    {"activation", PlainResult::same, "from", "from activation:text opts"},
    {"batch_norm", PlainResult::same, "from", kBatchNorm},
    {"cast", PlainResult::same, "from", "from dtype"},
    {"combine", PlainResult::elementwise, "from", "from allow_broadcast_all_sources kind eval eval_locals activation"},
    {"compare", PlainResult::elementwise, "from", "from allow_broadcast_all_sources kind value"},
    {"concat", PlainResult::concat, "", "from:pairs out_dim:drop allow_broadcast:off"},
    {"constant", PlainResult::variable, "", "from value dtype shape:shape shape_deps"},
    {"copy", PlainResult::same, "from", "from extra_deps"},
    {"ctc_loss", PlainResult::unmarked, "logits",
     "logits targets logits_normalized blank_index max_approx label_loop"},
    {"dropout", PlainResult::same, "from", "from dropout dropout_axis:axis dropout_noise_shape dropout_on_forward"},
    {"eval", PlainResult::elementwise, "from", "from allow_broadcast_all_sources eval eval_locals"},
    {"gather", PlainResult::gather, "from position", "from position axis:axis! clip_to_valid"},
    {"get_last_hidden_state", PlainResult::last_state, "from", "from out_dim:n_out! key combine"},
    {"identity", PlainResult::same, "from", "from"},
    {"layer_norm", PlainResult::same, "from", "from in_dim:in_dim! out_dim:drop reuse_params epsilon"},
    {"length", PlainResult::unmarked, "from", "from axis:axis! dtype sparse:off"},
    {"linear", PlainResult::new_feature, "from", kLinear},
    {"range_in_axis", PlainResult::unmarked, "from", "from axis:axis! dtype sparse"},
    {"rec", PlainResult::new_feature, "from", kRec},
    {"reduce", PlainResult::without_axis, "from", "from mode axis:axis axes:axis keep_dims:off use_time_mask"},
    {"reinterpret_data", PlainResult::same, "from", "from set_axes:marks set_sparse set_sparse_dim:size"},
    {"scaled_grad", PlainResult::same, "from", "from scale"},
    {"seq_len_mask", PlainResult::same, "from", "from axis:axis! mask_value"},
    {"softmax", PlainResult::new_feature, "from", kLinear},
    {"softmax_over_spatial", PlainResult::same, "from", "from axis:axis! energy_factor use_time_mask log_space"},
    {"sparse_softmax_cross_entropy_with_logits", PlainResult::without_axis, "logits targets",
     "logits targets axis:axis!"},
    {"switch", PlainResult::elementwise, "true_from false_from condition", "condition true_from false_from"},
    {"train_flag", PlainResult::none, "", "from"},
    {"variable", PlainResult::variable, "", kVariable},
};
// clang-format on

struct SlotName {
  std::string_view name;
  PlainSlot slot;
};
constexpr SlotName kSlots[] = {
    {"drop", PlainSlot::drop},         {"n_out", PlainSlot::n_out},       {"in_dim", PlainSlot::in_dim},
    {"time_dim", PlainSlot::time_dim}, {"axis", PlainSlot::axis},         {"shape", PlainSlot::shape},
    {"pairs", PlainSlot::pairs},       {"out_type", PlainSlot::out_type}, {"off", PlainSlot::off},
    {"text", PlainSlot::text},         {"marks", PlainSlot::marks},       {"size", PlainSlot::size}};

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) result.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

PlainOption option_of(std::string_view word) {
  PlainOption option{word, PlainSlot::keep};
  std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) return option;
  option.key = word.substr(0, colon);
  option.required = word.ends_with('!');
  std::string_view name = word.substr(colon + 1, word.size() - colon - 1 - (option.required ? 1 : 0));
  for (const SlotName& slot : kSlots)
    if (slot.name == name) option.slot = slot.slot;
  return option;
}

std::vector<PlainRule> read_table() {
  std::vector<PlainRule> rules;
  for (const Entry& entry : kTable) {
    PlainRule& rule = rules.emplace_back(PlainRule{entry.cls, entry.result, words(entry.sources), {}});
    for (std::string_view word : words(entry.options)) rule.options.push_back(option_of(word));
    for (std::string_view word : words(kCommon)) rule.options.push_back(option_of(word));
  }
  return rules;
}

}  // namespace

const PlainOption* PlainRule::option(std::string_view key) const {
  for (const PlainOption& option : options)
    if (option.key == key) return &option;
  return nullptr;
}

const PlainRule* plain_rule(std::string_view cls) {
  static const std::vector<PlainRule> rules = read_table();
  for (const PlainRule& rule : rules)
    if (rule.cls == cls) return &rule;
  return nullptr;
}

}  // namespace rcn
