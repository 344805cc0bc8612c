// Dims: named axes with an identity, and the algebra of dims that are derived from others.
//
// A Dim is a pointer to an interned node, so equal dims are equal pointers. Identity is the declaration, never the
// size and never the name. Derived dims have one canonical form:
//   sum      an ordered list of terms: ints, and multiples of a product; neighbours that can merge do
//            (`d + m - m` is `d`, `d + d` is `2*d`; `a + b` is not `b + a`, `1 + d - 1` is not `d`)
//   product  an int times an ordered list of factors (`n*d` is `d*n`; `a*b` is not `b*a`)
//   floordiv, ceildiv   by an int or a dim; exact divisions vanish (`(d*n)//n` is `d`), nested ones join
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/base/source.h"

namespace rcn {

enum class DimKind : std::uint8_t { batch, spatial, feature };

struct DimNode;
using Dim = const DimNode*;

enum class DimForm : std::uint8_t { atom, constant, sum, product, floordiv, ceildiv };

struct DimNode {
  DimForm form = DimForm::atom;
  DimKind kind = DimKind::spatial;
  std::uint32_t id = 0;                // order of creation
  std::optional<std::int64_t> size;    // static size, also of derived dims

  // atom
  std::string name;
  Span declared;
  bool marker = false;                 // nn.single_step_dim: no real axis

  // derived: terms of a sum (constants stand for ints), factors of a product, {numerator, denominator} of a division
  std::vector<Dim> parts;
  std::int64_t factor = 1;             // constant: its value; product: its int factor

  bool dynamic() const { return !size.has_value(); }
};

std::string_view to_string(DimKind kind);

// Makes and owns the dims of one compilation.
class DimTable {
 public:
  DimTable();

  // A fresh dim; without a size it is dynamic.
  Dim declare(std::string name, DimKind kind, std::optional<std::int64_t> size, Span declared = {});
  Dim batch() const { return batch_; }
  Dim single_step() const { return single_step_; }
  Dim constant(std::int64_t value);  // an int operand of dim arithmetic

  // Operands may be constants; a result without any dim is a constant.
  Dim add(Dim a, Dim b);
  Dim sub(Dim a, Dim b);
  Dim mul(Dim a, Dim b);
  Dim floordiv(Dim a, Dim b);  // b is not the constant 0
  Dim ceildiv(Dim a, Dim b);

  const std::deque<DimNode>& all() const { return nodes_; }

  // The dims that a body declares, in order. A body that runs again gets the same dims, not new ones.
  struct Record {
    std::vector<Dim> dims;
    std::size_t next = 0;
  };
  // While it lives, declare() gives the dims of the record, and adds what it does not have yet.
  class Replay {
   public:
    Replay(DimTable& table, Record& record);
    ~Replay() { table_.records_.pop_back(); }
    Replay(const Replay&) = delete;
    Replay& operator=(const Replay&) = delete;

   private:
    DimTable& table_;
  };
  // While it lives, records are left alone: what is declared then is made once only.
  class Outside {
   public:
    explicit Outside(DimTable& table) : table_(table) { records_.swap(table.records_); }
    ~Outside() { records_.swap(table_.records_); }
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

   private:
    DimTable& table_;
    std::vector<Record*> records_;
  };

 private:
  Dim declared(std::size_t records, DimNode node);
  Dim intern(DimNode node);
  Dim sum_of(const std::vector<Dim>& terms);
  Dim product_of(std::int64_t factor, std::vector<Dim> factors);
  std::vector<Dim> negated_terms(Dim d);
  Dim divide(DimForm form, Dim a, Dim b);
  std::optional<Dim> divide_exactly(Dim a, Dim b);

  std::deque<DimNode> nodes_;
  std::vector<Record*> records_;  // of the bodies that run, innermost last
  std::unordered_map<std::string, Dim> interned_;  // by a text key of form, kind-free structure and ids
  Dim batch_ = nullptr;
  Dim single_step_ = nullptr;
};

// As a user writes it: `time`, `2 * model`, `(time + 1) // 3`, `ceildiv(time, 2)`.
std::string to_string(Dim d);

// The atoms that a dim is made of, in order, each once.
std::vector<Dim> atoms(Dim d);

// `batch, time, input=9`: names and static sizes.
std::string dims_text(const std::vector<Dim>& dims);

}  // namespace rcn
