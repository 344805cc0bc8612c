// Datasets of RETURNN (its HDFDataset): sequences of arrays under keys.
//
// `inputs` is the key `data`, `targets/data/KEY` are the others. An array holds the frames of all sequences in a row;
// `seqLengths` says how many each has: a column for `inputs`, and one for each other key in the order of their names.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/torch.h"

namespace rcn {

struct SequenceRange {
  std::int64_t first, last;  // from 0, both included
};

// A part of a dataset as the command line says it: `FILE.hdf`, `FILE.hdf:2-5`, `FILE.hdf:KEY` and `FILE.hdf:KEY:2-5`.
struct HdfSource {
  std::string path;
  std::optional<std::string> key;
  std::optional<SequenceRange> range;
};
// Nothing where neither content nor ending are those of an HDF5 file.
std::optional<HdfSource> hdf_source(const std::string& text);

// All throw ArrayFileError.
class HdfDataset {
 public:
  explicit HdfDataset(const std::string& path);
  ~HdfDataset();

  const std::vector<std::string>& keys() const;
  bool has(const std::string& key) const;
  // Of the key: an array [frames, ...] for each sequence. Where lengths along several axes were stored (`sizes`), the
  // inputs have those axes.
  std::vector<at::Tensor> read(const std::string& key, std::optional<SequenceRange> range) const;
  // How many classes the file says that a sparse key has.
  std::optional<std::int64_t> classes(const std::string& key) const;

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace rcn
