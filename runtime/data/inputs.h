// What the externs of a program are fed: data that the user gives, or random data.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/eval/backend.h"
#include "compiler/eval/op.h"
#include "runtime/data/batch.h"
#include "runtime/data/given.h"
#include "runtime/data/hdf.h"
#include "runtime/lengths.h"
#include "runtime/random.h"

namespace rcn {

struct InputOptions {
  std::vector<std::string> data;      // `NAME=FILE[:KEY]`, `NAME=[[1, 2], [3]]`, `NAME=example:audio` or `FILE.hdf`
  std::optional<std::int64_t> batch;  // size of random data; 3
  std::vector<std::string> time;      // `DIM=7,5,2`: lengths of random data
  std::uint64_t seed = 0;
  std::optional<std::int64_t> sample_rate = {};  // that audio has to have
  bool quiet = false;                            // nothing is said but errors
  const Batch* again = nullptr;                  // the data of another run, in place of all that
};

class Inputs {
 public:
  Inputs(InputOptions options, Dim batch, const DimLengths& known, Lengths& lengths, DiagnosticSink& sink);

  // All externs of the program, before the first of them is read: they share the batch and lengths of dims. False after
  // errors, which were reported.
  bool declare(const std::vector<ExternInput>& externs);
  // The tensor of a declared extern (one that was not is declared alone). Throws EvalError if it has none.
  Tensor get(const ExternInput& input);
  // All data, once it is declared.
  Batch batch() const;

 private:
  [[noreturn]] void fail(const ExternInput& input, std::string why);
  std::vector<Dim> length_dims(const ExternInput& input, Dim dim) const;
  void parse_data(const std::string& option);
  void parse_time(const std::string& option);
  // Which externs a dataset gives.
  void open_dataset(const HdfSource& source, const std::vector<ExternInput>& externs);
  DataRequest request(const ExternInput& input) const;
  void read(const ExternInput& input);
  void check(const ExternInput& input, const GivenArray& given);
  void set_batch(const std::vector<ExternInput>& externs);
  void set_lengths(const std::vector<ExternInput>& externs);
  void take_length(const ExternInput& input, Dim dim);
  void random_length(const ExternInput& input, Dim dim);
  void check_size(const ExternInput& input, const std::vector<std::int64_t>& shape);  // of random data
  Tensor make(const ExternInput& input);
  at::Tensor given_values(const ExternInput& input, const GivenArray& given, const std::vector<std::int64_t>& shape);
  at::Tensor random_values(const ExternInput& input, const std::vector<std::int64_t>& shape);

  InputOptions options_;
  Dim batch_;
  const DimLengths& known_;
  Lengths& lengths_;
  DiagnosticSink& sink_;
  std::map<std::string, std::string> texts_;  // --data by name
  std::vector<HdfSource> datasets_;           // --data without a name
  struct FromDataset {
    std::shared_ptr<const HdfDataset> dataset;
    HdfSource source;
  };
  std::map<std::string, FromDataset> from_datasets_;        // by the extern's name
  std::map<std::string, std::vector<std::int64_t>> times_;  // --time by dim name
  bool options_good_ = true;
  std::map<std::string, GivenArray> given_;
  std::unordered_map<Dim, const ExternInput*> length_from_;  // which extern's data said it
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, bool> failed_;
};

}  // namespace rcn
