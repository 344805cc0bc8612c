// Checkpoints of TensorFlow, which RETURNN writes (format V2, "tensor bundle"): PREFIX.index, a table of LevelDB with
// an entry of protocol buffers for each variable, and PREFIX.data-00000-of-00001, ..., their bytes in a row.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/data/array_file.h"

namespace rcn {

class Checkpoint : public ArrayFile {
 public:
  explicit Checkpoint(const std::string& prefix);

  // The variables of the model: without the global step, the optimizer's state (which lies below its variable,
  // `w/param/Adam`) and what is no array of numbers.
  const std::vector<std::string>& names() const override { return names_; }
  std::vector<std::string> others() const override { return others_; }
  at::Tensor read(const std::string& name) const override;

 private:
  struct Entry {
    std::uint64_t dtype = 0;  // TensorFlow's DataType
    std::vector<std::int64_t> shape;
    std::int64_t shard = 0, offset = 0, size = 0;  // of the bytes
    bool sliced = false;
  };
  void read_index();
  void check_size(const std::string& name, const Entry& entry) const;
  std::string shard_path(std::int64_t shard) const;
  void set_header(std::string_view message);
  static std::optional<Entry> parse_entry(std::string_view message);

  std::string prefix_, index_;
  std::int64_t shards_ = 0;
  std::vector<std::string> names_, others_;
  std::map<std::string, Entry> entries_;
};

// PREFIX where `path` is that of a checkpoint that exists: PREFIX itself or one of its files.
std::optional<std::string> checkpoint_prefix(const std::string& path);

}  // namespace rcn
