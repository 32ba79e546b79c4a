// FLAGS_check_nan_inf: NaN and infinities are named where they first come out of an operator.
#pragma once
#include <atomic>

#include "api/op_call.h"

namespace paddle::dispatch {

// The flag, as a plain variable: it is read after every operator.
extern std::atomic<bool> check_nan_inf;

// RuntimeError that names operator, output and how many elements are not finite, with `where` at its end; with
// FLAGS_check_nan_inf_level above 0 a line on standard error instead. Outputs that hold no floating point numbers pass.
void check_outputs(const OpCall& c, const std::string& where = {});
void check_output(std::string_view op, std::string_view output, const Tensor& t, const std::string& where = {});

}  // namespace paddle::dispatch
