// Values of the language while a program is evaluated.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/base/symbol.h"
#include "compiler/dims/dim.h"
#include "compiler/dims/type.h"
#include "compiler/eval/flags.h"

namespace rcn {

class Value;
struct Function;     // function.h
struct ModuleClass;  // module.h
struct Instance;     // module.h
struct Namespace;    // module.h

// How a tensor comes from an input that is absent in inference: step by step back to the input.
struct Origin {
  std::string what;  // the operation, or the input's name
  Span span;
  std::shared_ptr<const Origin> from;  // null: the input
};

// What the evaluator keeps track of besides the type.
struct Traits {
  int search = 0;                               // the search that it holds a value for each hypothesis of; 0: none
  std::shared_ptr<const Origin> training_only;  // null: computable in inference

  bool undecided() const { return search != 0; }
  // Of what depends on both, whose searches do not differ; whether that tells more.
  bool merge(const Traits& other) {
    bool more = (other.search && !search) || (other.training_only && !training_only);
    if (!search) search = other.search;
    if (!training_only) training_only = other.training_only;
    return more;
  }
};

// What a backend holds for a tensor; each backend derives its own.
struct TensorData {
  TensorType type;
  mutable Traits traits;  // set by the evaluator
  explicit TensorData(TensorType t) : type(std::move(t)) {}
  virtual ~TensorData() = default;
};
using Tensor = std::shared_ptr<const TensorData>;

// The result of an expression that failed; a diagnostic was reported. Whatever touches it fails silently.
struct Poison {
  bool operator==(const Poison&) const = default;
};
struct None {
  bool operator==(const None&) const = default;
};

using List = std::vector<Value>;
struct Tuple { std::vector<Value> items; };
struct Record {
  std::vector<std::pair<Symbol, Value>> fields;  // in the order written
  const Value* find(Symbol name) const;
};

// How a parameter gets its first value: what `nn.init.*` gives. Numbers and nested lists are plain values.
struct Initializer {
  enum class Kind : std::uint8_t { variance_scaling, uniform, normal, truncated_normal, orthogonal, gammatone } kind;
  double a = 0;           // uniform: minval; normals: mean; variance_scaling: scale; gammatone: lowest frequency
  double b = 0;           // uniform: maxval; normals: stddev; gammatone: highest frequency
  std::string mode;       // variance_scaling: fan_in, fan_out, fan_avg
  std::string distribution;  // variance_scaling: uniform, truncated_normal, untruncated_normal
  double sampling_rate = 0;  // gammatone
};

// `int`, `Dim`, `Tensor`, ... as values (for isinstance).
enum class TypeName : std::uint8_t { int_, float_, bool_, str, list, tuple, record, dim, tensor, module, function };
std::string_view to_string(TypeName type);

class Value {
 public:
  using Data = std::variant<Poison, None, bool, std::int64_t, double, std::shared_ptr<const std::string>,
                            std::shared_ptr<const List>, std::shared_ptr<const Tuple>, std::shared_ptr<const Record>, Dim,
                            Tensor, std::shared_ptr<const Function>, const ModuleClass*, Instance*, const Namespace*,
                            DType, TypeName, std::shared_ptr<const Initializer>, FlagSetting>;

  Value() : data_(Poison{}) {}
  Value(Poison) : data_(Poison{}) {}
  Value(None v) : data_(v) {}
  Value(bool v) : data_(v) {}
  Value(int v) : data_(static_cast<std::int64_t>(v)) {}
  Value(std::int64_t v) : data_(v) {}
  Value(double v) : data_(v) {}
  Value(std::string v) : data_(std::make_shared<const std::string>(std::move(v))) {}
  Value(std::string_view v) : Value(std::string(v)) {}
  Value(const char* v) : Value(std::string(v)) {}
  Value(List v) : data_(std::make_shared<const List>(std::move(v))) {}
  Value(Tuple v) : data_(std::make_shared<const Tuple>(std::move(v))) {}
  Value(Record v) : data_(std::make_shared<const Record>(std::move(v))) {}
  Value(Dim v) : data_(v) {}
  Value(Tensor v) : data_(std::move(v)) {}
  Value(std::shared_ptr<const Function> v) : data_(std::move(v)) {}
  Value(const ModuleClass* v) : data_(v) {}
  Value(Instance* v) : data_(v) {}
  Value(const Namespace* v) : data_(v) {}
  Value(DType v) : data_(v) {}
  Value(TypeName v) : data_(v) {}
  Value(FlagSetting v) : data_(v) {}
  Value(Initializer v) : data_(std::make_shared<const Initializer>(std::move(v))) {}

  template <class T>
  bool is() const { return std::holds_alternative<T>(data_); }
  template <class T>
  const T& get() const { return std::get<T>(data_); }

  bool is_poison() const { return is<Poison>(); }
  bool is_none() const { return is<None>(); }
  bool is_number() const { return is<std::int64_t>() || is<double>(); }
  double as_double() const { return is<std::int64_t>() ? static_cast<double>(get<std::int64_t>()) : get<double>(); }
  bool is_str() const { return is<std::shared_ptr<const std::string>>(); }
  bool is_list() const { return is<std::shared_ptr<const List>>(); }
  bool is_tuple() const { return is<std::shared_ptr<const Tuple>>(); }
  bool is_record() const { return is<std::shared_ptr<const Record>>(); }
  bool is_tensor() const { return is<Tensor>(); }
  bool is_dim() const { return is<Dim>(); }
  bool is_function() const { return is<std::shared_ptr<const Function>>(); }
  const std::string& str() const { return *get<std::shared_ptr<const std::string>>(); }
  const List& list() const { return *get<std::shared_ptr<const List>>(); }
  const Tuple& tuple() const { return *get<std::shared_ptr<const Tuple>>(); }
  const Record& record() const { return *get<std::shared_ptr<const Record>>(); }
  const Tensor& tensor() const { return get<Tensor>(); }
  Dim dim() const { return get<Dim>(); }
  const Function& function() const { return *get<std::shared_ptr<const Function>>(); }
  const Data& data() const { return data_; }

 private:
  Data data_;
};

// What kind of value it is, in the user's words: `an int`, `a tensor float32[batch, time]`, `a list`.
std::string kind_text(const Value& value);
// The same with what is known of it: `"a"`, `3`, the type of a tensor.
std::string shown_text(const Value& value);

// How `str(x)` and messages show it: `3`, `0.5`, `"text"` only inside lists, `[1, 2]`, `time`.
std::string to_text(const Value& value);

// Two numbers by their exact values: an int is not made a float first, and nan is unordered.
std::partial_ordering compare_numbers(const Value& a, const Value& b);

// `==` of static values: numbers by value, lists and records by content, dims, functions and instances by identity.
bool same_value(const Value& a, const Value& b);

}  // namespace rcn
