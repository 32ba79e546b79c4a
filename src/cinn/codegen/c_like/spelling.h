// How C-like languages write types, numbers and scalar functions.
#pragma once
#include <string>
#include <vector>

#include "base/scalar.h"
#include "cinn/codegen/c_like/dialect.h"
#include "tensor/dtype.h"

namespace paddle::cinn {

// NotImplementedError for a type that the language or the device lacks.
std::string type_name(DType t, const Dialect& dialect);
std::string number(double x, DType t);    // a floating-point constant
std::string integer(int64_t x, DType t);  // an integer one
// fn of args, computed in type t.
std::string spell(scalar::Fn fn, const std::vector<std::string>& args, DType t, const Dialect& dialect);

}  // namespace paddle::cinn
