// Files of arrays, literals, inputs and parameters.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "runtime/data/initializers.h"
#include "runtime/data/npy.h"
#include "runtime/data/npz.h"
#include "runtime/data/safetensors.h"
#include "runtime/data/wire.h"
#include "tests/unit/runtime/bench.h"

namespace rcn::test {

namespace {

// A folder that goes with the test.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("rcnc-unit-runtime-" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bool same(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && a.equal(b);
}

std::string npy_with(const std::string& header, const std::string& data) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + data;
}

std::string error_of(const std::string& bytes) {
  try {
    parse_npy(bytes);
  } catch (const ArrayFileError& error) {
    return error.what();
  }
  return "";
}

struct Source {
  DimTable dims;
  DimLengths known;
  DiagnosticSink sink;
  Lengths lengths{dims.batch()};
  Dim batch = dims.batch();
  Dim time = dims.declare("time", DimKind::spatial, std::nullopt),
      labels = dims.declare("labels", DimKind::spatial, std::nullopt);
  Dim f = dims.declare("f", DimKind::feature, 2);
  ExternInput data{"data", "data", {{batch, time, f}, DType::float32, nullptr}, true, {}, {}};
  ExternInput frames{"frames", "frames", {{batch, time}, DType::int32, f}, true, {}, {}};
  ExternInput targets{
      "targets", "targets", {{batch, labels}, DType::int32, nullptr}, true, std::pair<std::int64_t, std::int64_t>{3, 5},
      {}};

  bool declare(InputOptions options, std::vector<ExternInput> externs) {
    inputs.emplace(std::move(options), batch, known, lengths, sink);
    return inputs->declare(externs);
  }
  const EagerTensor& get(const ExternInput& e) { return eager(inputs->get(e)); }
  std::vector<std::int64_t> lengths_of(Dim d) {
    at::Tensor l = lengths.of(d).value;
    return {l.data_ptr<std::int64_t>(), l.data_ptr<std::int64_t>() + l.numel()};
  }
  std::string error() const {
    return sink.items().empty() ? "" : format_message(sink.items().back().kind, sink.items().back().args);
  }
  std::optional<Inputs> inputs;
};

InputOptions given(std::vector<std::string> data) { return {std::move(data), {}, {}, 1}; }

}  // namespace

TEST_CASE("npy: all dtypes and shapes survive") {
  for (at::ScalarType dtype :
       {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kFloat, at::kDouble})
    for (std::vector<std::int64_t> shape : {std::vector<std::int64_t>{}, {3}, {2, 3}, {0, 4}, {2, 1, 5}}) {
      at::Tensor t = at::arange(60, at::TensorOptions(at::kDouble))
                         .narrow(0, 1, at::empty(shape).numel())
                         .reshape(shape)
                         .to(dtype);
      CHECK(same(parse_npy(npy_bytes(t)), t));
    }
}

TEST_CASE("npy: Fortran order, other int types, damage") {
  std::string data;
  for (float v : {1.F, 2.F, 3.F, 4.F, 5.F, 6.F}) data.append(reinterpret_cast<const char*>(&v), 4);
  at::Tensor t = parse_npy(npy_with("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", data));
  CHECK(same(t, at::tensor({1.F, 3.F, 5.F, 2.F, 4.F, 6.F}).reshape({2, 3})));
  CHECK(same(parse_npy(npy_with("{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }\n",
                                std::string("\x01\x00\xff\xff", 4))),
             at::tensor({1, 65535}, at::kInt)));
  CHECK(error_of("PK") == "this is no NumPy array");
  CHECK(error_of(npy_with("{'descr': '<f4', 'fortran_order': False, 'shape': (7,), }\n", data)) ==
        "the array is cut off");
  CHECK(error_of(npy_with("{'descr': '>f4', 'fortran_order': False, 'shape': (6,), }\n", data))
            .starts_with("the array is big endian"));
  CHECK(error_of(npy_with("{'descr': '<U3', 'fortran_order': False, 'shape': (1,), }\n", data))
            .starts_with("arrays of dtype `<U3`"));
  CHECK(error_of(npy_with("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", data))
            .starts_with("a structured array"));
  CHECK(error_of(npy_with("{'descr': '<f4', 'shape': ", data)) == "the header of the array is damaged");
  CHECK(error_of(npy_with("{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }\n", std::string(8, '\xff')))
            .ends_with("does not fit into int64"));
  CHECK(error_of(npy_with("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), }\n",
                          "")) == "the array is too large");
}

TEST_CASE("npz: round trip, same bytes, clear errors") {
  Folder folder;
  std::vector<std::pair<std::string, at::Tensor>> arrays{
      {"x", at::arange(6, at::TensorOptions(at::kFloat)).reshape({2, 3})},
      {"x/length/time", at::tensor({3, 1}, at::kInt)},
      {"empty", at::zeros({0})}};
  std::string path = folder / "a.npz";
  write_arrays(path, arrays);
  std::string first = bytes_of(path);
  write_arrays(path, arrays);
  CHECK((bytes_of(path) == first));
  NpzFile file(path);
  CHECK(file.names().size() == 3);
  for (const auto& [name, t] : arrays) CHECK(same(file.read(name), t));
  CHECK_THROWS_WITH_AS(file.read("y"), ("`" + path + "`: there is no array `y`").c_str(), ArrayFileError);
  CHECK_THROWS_WITH_AS(NpzFile("missing.npz"), "`missing.npz`: No such file or directory", ArrayFileError);
  std::ofstream(folder / "b.npz") << "no zip";
  CHECK_THROWS_WITH_AS(NpzFile(folder / "b.npz"), ("`" + (folder / "b.npz") + "`: this is no .npz archive").c_str(),
                       ArrayFileError);
  CHECK_THROWS_AS(write_arrays(folder / "none/a.npz", arrays), ArrayFileError);
  CHECK_THROWS_WITH_AS(NpzFile(folder.path.string()), ("`" + folder.path.string() + "`: this is a folder").c_str(),
                       ArrayFileError);
}

TEST_CASE("safetensors: round trip, clear errors") {
  Folder folder;
  std::string path = folder / "a.safetensors";
  NamedArrays arrays;
  for (at::ScalarType dtype :
       {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kFloat, at::kDouble})
    arrays.emplace_back(c10::toString(dtype), at::arange(6, at::TensorOptions(at::kDouble)).reshape({2, 3}).to(dtype));
  arrays.emplace_back("scalar", at::tensor(3.F).squeeze(0));
  arrays.emplace_back("empty", at::zeros({0, 4}));
  write_arrays(path, arrays);
  std::unique_ptr<ArrayFile> file = open_arrays(path);
  CHECK(file->names().size() == arrays.size());
  for (const auto& [name, t] : arrays) CHECK(same(file->read(name), t));

  auto with = [&](const std::string& header, const std::string& data) {
    std::string length(8, '\0');
    length[0] = static_cast<char>(header.size());
    write_whole(path, length + header + data);
    try {
      SafetensorsFile(path).read("a");
    } catch (const ArrayFileError& error) {
      return std::string(error.what()).substr(path.size() + 4);
    }
    return std::string();
  };
  std::string two = R"({"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})";
  CHECK(with(two, std::string("\x80\x3f\x00\xc0", 4)).empty());
  CHECK(same(SafetensorsFile(path).read("a").to(at::kFloat), at::tensor({1.F, -2.F})));
  CHECK(with(two, "xx") == "the file is cut off at `a`");
  CHECK(with("[1, 2]", "") == "this is no safetensors file");
  CHECK(with("no JSON", "") == "this is no safetensors file");
  CHECK(with("{}", "") == "there is no array `a`");
  CHECK(with(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", "xxxx") == "the header is damaged");
  CHECK(with(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", "xxxx") == "the header is damaged at `a`");
  CHECK(with(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "xxxx") == "`a`: the array is cut off");
  CHECK(with(R"({"a":{"dtype":"I8","shape":[2],"data_offsets":[0,4]}})", "xxxx") ==
        "`a`: the array is larger than its shape");
  CHECK(with(R"({"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}})", "xxxx") ==
        "`a`: arrays of dtype `F8_E4M3` are not read");
  write_whole(path, "short");
  CHECK_THROWS_WITH_AS(open_arrays(path), ("`" + path + "`: this is no safetensors file").c_str(), ArrayFileError);
  write_whole(folder / "b", "something else");
  CHECK_THROWS_WITH_AS(
      open_arrays(folder / "b"),
      ("`" + (folder / "b") + "`: this is no .npz, no .safetensors and no checkpoint of TensorFlow").c_str(),
      ArrayFileError);
}

TEST_CASE("wire format: fields of each kind, damage") {
  // 1: 300, 2: "ab", 3: fixed32 7, 4: fixed64 9
  std::string message(
      "\x08\xac\x02\x12\x02"
      "ab\x1d\x07\0\0\0\x21\x09\0\0\0\0\0\0\0",
      21);
  WireReader reader(message);
  REQUIRE(reader.next());
  CHECK((reader.field == 1 && reader.number == 300));
  REQUIRE(reader.next());
  CHECK((reader.field == 2 && reader.bytes == "ab"));
  REQUIRE(reader.next());
  CHECK((reader.field == 3 && reader.number == 7));
  REQUIRE(reader.next());
  CHECK((reader.field == 4 && reader.number == 9));
  CHECK_FALSE(reader.next());
  CHECK_FALSE(reader.damaged());
  for (std::size_t size : {1, 2, 4, 6, 9, 15}) {
    WireReader cut(std::string_view(message).substr(0, size));
    while (cut.next()) {}
    CHECK(cut.damaged());
  }
  WireReader group("\x0b");
  CHECK_FALSE(group.next());
  CHECK(group.damaged());
}

TEST_CASE("literals: ragged lists are sequences") {
  Source s;
  REQUIRE(
      s.declare(given({"data=[[[1, 2], [3, 4]], [[5, 6]]]", "frames=[[0, 1], [1]]"}), {s.data, s.frames, s.targets}));
  CHECK(s.lengths.batch() == 2);
  CHECK(s.lengths_of(s.time) == std::vector<std::int64_t>{2, 1});
  CHECK(same(s.get(s.data).value, at::tensor({1.F, 2.F, 3.F, 4.F, 5.F, 6.F, 0.F, 0.F}).reshape({2, 2, 2})));
  CHECK(same(s.get(s.frames).value, at::tensor({0, 1, 1, 0}, at::kInt).reshape({2, 2})));
}

TEST_CASE("literals: errors") {
  auto error = [](std::vector<std::string> data) {
    Source s;
    CHECK_FALSE(s.declare(given(std::move(data)), {s.data, s.frames, s.targets}));
    return s.error();
  };
  CHECK(error({"frames=[[0, 2]]"}) ==
        "input `frames`: the value 2 at batch=0, time=1 is no index of `f`, which has size 2");
  CHECK(error({"frames=[0]"}) == "input `frames`: the lists are not nested as deep as the dims [batch, time]");
  CHECK(error({"frames=[[[0]]]"}) == "input `frames`: the lists are nested deeper than the dims [batch, time]");
  CHECK(error({"frames=[[0.5]]"}) == "input `frames`: the data is floats, declared is int32");
  CHECK(error({"frames=[[0]"}) == "input `frames`: `[[0]` is no nested list of numbers");
  CHECK(error({"data=[[[1, 2, 3]]]"}) == "input `data`: `f` has size 2, the data 3");
  CHECK(error({"data=[[[1, 2], [3]]]"}) == "input `data`: the lists along `f` are not equally long");
  CHECK(error({"frames=[[0, 1]]", "data=[[[1, 2]]]"}) == "input `frames`: `time` has lengths (2), in `data` (1)");
  CHECK(error({"frames=[[0, 1], [1]]", "data=[[[1, 2]]]"}) == "input `frames`: it has 2 sequences, `data` has 1");
  CHECK(error({"frame=[[0, 1], [1]]"}) == "there is no input `frame`");
  CHECK(error({"frames"}) == "`--data frames`: it should be `NAME=FILE`, `NAME=FILE:KEY`, `NAME=[...]` or `FILE.hdf`");
  CHECK(error({"targets=[[5000000000]]"}) ==
        "input `targets`: the value 5000000000 at batch=0, labels=0 does not fit into int32");
  CHECK(error({"frames=missing.npz"}) == "input `frames`: `missing.npz`: No such file or directory");
}

TEST_CASE("files: keys, lengths, and what they do not say") {
  Folder folder;
  std::string path = folder / "in.npz";
  write_arrays(path, {{"x", at::ones({2, 5, 2})},
                      {"x/length/time", at::tensor({1, 3}, at::kInt)},
                      {"full", at::ones({2, 3, 2})},
                      {"bad", at::ones({2, 3, 2})},
                      {"bad/length/time", at::tensor({1, 4}, at::kInt)},
                      {"other", at::ones({2, 3, 2})},
                      {"other/length/tme", at::tensor({1, 3}, at::kInt)}});
  Source s;
  REQUIRE(s.declare(given({"data=" + path + ":x"}), {s.data, s.frames}));
  CHECK(s.lengths_of(s.time) == std::vector<std::int64_t>{1, 3});
  CHECK(s.get(s.data).value.sizes() == at::IntArrayRef({2, 3, 2}));  // no longer than the longest sequence
  Source t;
  REQUIRE(t.declare(given({"data=" + path + ":full"}), {t.data, t.frames}));
  CHECK(t.lengths_of(t.time) == std::vector<std::int64_t>{3, 3});
  Source u;
  CHECK_FALSE(u.declare(given({"data=" + path + ":bad"}), {u.data}));
  CHECK(u.error() == "input `data`: `time` has lengths (1, 4), but the data has size 3 there");
  Source v;
  CHECK_FALSE(v.declare(given({"data=" + path + ":other"}), {v.data}));
  CHECK(v.error().ends_with("`other/length/tme` fits no dynamic dim of [batch, time, f=2]"));
  Source w;
  CHECK_FALSE(w.declare(given({"data=" + path + ":ful"}), {w.data}));
  CHECK(w.error().ends_with("there is no array `ful`; did you mean `full`?"));
}

TEST_CASE("random inputs: reproducible, of different lengths, in range, shared dims share lengths") {
  Source s, again, other;
  REQUIRE(s.declare({{}, {}, {}, 1}, {s.data, s.frames, s.targets}));
  REQUIRE(again.declare({{}, {}, {}, 1}, {again.targets, again.data}));  // whatever else there is, in any order
  REQUIRE(other.declare({{}, {}, {}, 2}, {other.data}));
  CHECK(same(s.get(s.data).value, again.get(again.data).value));
  CHECK(same(s.get(s.targets).value, again.get(again.targets).value));
  CHECK_FALSE(same(s.get(s.data).value, other.get(other.data).value));
  std::vector<std::int64_t> lengths = s.lengths_of(s.time);
  CHECK(lengths.size() == 3);
  CHECK(*std::max_element(lengths.begin(), lengths.end()) == 7);
  CHECK(*std::min_element(lengths.begin(), lengths.end()) < 7);
  CHECK(s.get(s.frames).value.max().item<int>() == 1);
  at::Tensor targets = s.get(s.targets).value, padding = s.lengths.padding({s.batch, s.labels});
  at::Tensor valid = padding.defined() ? targets.masked_select(padding.logical_not()) : targets;
  CHECK(valid.min().item<int>() >= 3);
  CHECK(valid.max().item<int>() <= 5);
  Source chosen;
  REQUIRE(chosen.declare({{}, 2, {"time=4,1", "labels=2"}, 1}, {chosen.data, chosen.targets}));
  CHECK(chosen.lengths_of(chosen.time) == std::vector<std::int64_t>{4, 1});
  CHECK(chosen.lengths_of(chosen.labels) == std::vector<std::int64_t>{2, 2});
  Source wrong;
  CHECK_FALSE(wrong.declare({{}, 2, {"tme=4,1"}, 1}, {wrong.data}));
  CHECK(wrong.error() == "`--time tme`: no input has a dynamic dim of this name");
  Source count;
  CHECK_FALSE(count.declare({{}, 3, {"time=4,1"}, 1}, {count.data}));
  CHECK(count.error() == "`--time time`: 2 lengths for 3 sequences");
}

TEST_CASE("parameters: first values depend on path and seed only") {
  DimTable dims;
  Dim in = dims.declare("in", DimKind::feature, 30), out = dims.declare("out", DimKind::feature, 50);
  auto make = [&](const std::string& path, Initializer init, std::uint64_t seed = 1) {
    Parameter p;
    p.path = path;
    p.type = {{in, out}, DType::float32, nullptr};
    p.initial = init;
    return initial_value(p, seed);
  };
  using Kind = Initializer::Kind;
  Initializer glorot{Kind::variance_scaling, 1, 0, "fan_avg", "uniform"};
  at::Tensor w = make("a", glorot);
  CHECK(same(w, make("a", glorot)));
  CHECK_FALSE(same(w, make("b", glorot)));
  CHECK_FALSE(same(w, make("a", glorot, 2)));
  double limit = std::sqrt(6.0 / 80);
  CHECK(w.abs().max().item<double>() <= limit);
  CHECK(w.abs().max().item<double>() > 0.98 * limit);
  CHECK(w.mean().item<double>() == doctest::Approx(0).epsilon(0.02).scale(1));
  at::Tensor he = make("a", {Kind::variance_scaling, 2, 0, "fan_in", "untruncated_normal"});
  CHECK(he.std().item<double>() == doctest::Approx(std::sqrt(2.0 / 30)).epsilon(0.05));
  at::Tensor cut = make("a", {Kind::truncated_normal, 1, 0.5, "", ""});
  CHECK((cut - 1).abs().max().item<double>() <= 1.0);
  at::Tensor q = make("a", {Kind::orthogonal, 0, 0, "", ""}).to(at::kDouble);
  CHECK((q.mm(q.t()) - at::eye(30, at::TensorOptions(at::kDouble))).abs().max().item<double>() < 1e-6);
}

TEST_CASE("parameters: a file must have exactly those of the network") {
  Folder folder;
  DimTable dims;
  Dim f = dims.declare("f", DimKind::feature, 2);
  auto parameter = [&](const std::string& path) {
    Parameter p;
    p.path = path;
    p.type = {{f}, DType::float32, nullptr};
    p.initial = Value(std::int64_t{1});
    return p;
  };
  std::string path = folder / "p.npz";
  write_arrays(path, {{"a/param", at::tensor({3.F, 4.F})}, {"b", at::tensor({5.0, 6.0})}});
  DiagnosticSink sink;
  Params good(1, false);
  REQUIRE(good.open({path}, sink));
  CHECK(same(eager(good.get(parameter("a"))).value, at::tensor({3.F, 4.F})));
  CHECK(same(eager(good.get(parameter("b"))).value, at::tensor({5.F, 6.F})));
  CHECK(good.check(sink));
  good.save(folder / "q.npz");
  CHECK(same(NpzFile(folder / "q.npz").read("a"), at::tensor({3.F, 4.F})));

  write_arrays(path, {{"a", at::ones({3})}, {"x", at::ones({3})}, {"c", at::ones({2}, at::kInt)}});
  Params bad(1, false);
  REQUIRE(bad.open({path}, sink));
  for (const char* name : {"a", "b", "c"}) bad.get(parameter(name));
  CHECK_FALSE(bad.check(sink));
  const Diagnostic& d = sink.items().back();
  REQUIRE(d.notes.size() == 4);
  CHECK(d.notes[0].args[0] == "`a` is [f=2], in the file (3)");
  CHECK(d.notes[1].args[0] == "missing: `b` [f=2]");
  CHECK(d.notes[2].args[0] == "`c` is float32, in the file int32");
  CHECK(d.notes[3].args[0] == "left over: `x` is no parameter that the network uses");
}

}  // namespace rcn::test
