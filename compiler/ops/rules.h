// What the type rules of operations share: how dims combine, and which dtypes meet. All of it reports and throws.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "compiler/eval/bind_op.h"
#include "compiler/dims/dim_list.h"
#include "compiler/eval/op.h"

namespace rcn {

// ---- dims as lists

std::string dims_quoted(const std::vector<Dim>& dims);                     // `a, b=3`, or `none`
Value dims_value(const std::vector<Dim>& dims);

// ---- dims of results

// The dims of an elementwise result: those of the first tensor, then what others have more. One of the tensors must have
// all of them (repeats of a dim are paired in order).
std::vector<Dim> joined_dims(OpCall& call, std::initializer_list<std::size_t> args);
// The result has each dim once.
void require_distinct(OpCall& call, const std::vector<Dim>& dims);

// ---- checks of a tensor argument

// Its type; the tensor must not have a dim twice (only elementwise operations and products may).
const TensorType& single_type(OpCall& call, std::size_t arg);
// The tensor has the dims that the lengths of its dim `axis` depend on, so that padding can be told apart.
void require_length_dims(OpCall& call, std::size_t arg, Dim axis);
// No other dim's lengths depend on `axis`, which the operation takes away.
void require_no_dependents(OpCall& call, std::size_t arg, Dim axis, std::size_t axis_arg);
void reject_batch(OpCall& call, Dim d, std::size_t dim_arg);
void require_static(OpCall& call, Dim d, std::size_t dim_arg);
// As single_type, with all the checks that an operation needs which replaces one axis.
const TensorType& axis_type(OpCall& call, std::size_t arg, std::size_t axis_arg);

enum class Wanted { floats, float32, ints, bools, numbers };  // float32: where RETURNN has the layer in no other
void require_dtype(OpCall& call, std::size_t arg, Wanted wanted);
void require_sparse(OpCall& call, std::size_t arg, Dim over);
void require_one_of(OpCall& call, std::size_t arg, std::initializer_list<std::string_view> texts);
void require_at_least(OpCall& call, std::size_t arg, std::int64_t least);
void require_exact_dims(OpCall& call, std::size_t arg, const std::vector<Dim>& dims);

// A fresh static dim, or the one that parameter `i` names, whose size must be this.
Dim static_out_dim(OpCall& call, std::size_t i, std::string name, DimKind kind, std::int64_t size);

// ---- operands

enum class Operation { arithmetic, comparison, selection };
bool is_static(const Value& value);
// The dtype in which the arguments meet; numbers take that of the tensors. At least one is a tensor.
DType joined_dtype(OpCall& call, std::initializer_list<std::size_t> args, Operation operation);
Operand least_number(DType dtype);
Operand greatest_number(DType dtype);
void require_fits(OpCall& call, std::size_t arg, DType dtype);

// All dims of the argument, a list of dims, have a length.
void require_lengths(OpCall& call, std::size_t dims_arg);

}  // namespace rcn
