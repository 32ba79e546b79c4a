#include "phi/kernels/cpu/activate.h"

#include "api/op_call.h"
#include "base/error.h"
#include "phi/kernels/registry.h"

namespace paddle::kernels {

void activate(const Tensor& x, std::string_view name) {
  if (name.empty() || name == "none" || name == "identity") return;
  // gelu without an approximation is an operator of its own.
  const OpInfo& op = op_named(name == "gelu" ? "gelu_erf" : name);
  RunFn kernel = find_kernel(op, Place::cpu().kind);
  PD_INVARIANT(kernel != nullptr && op.args.size() == 1);
  Arg arg(x);
  OpCall c(op, std::span<Arg>(&arg, 1));
  c.first_meta = {x.dtype(), x.shape()};
  c.metas_ready = true;
  c.place = Place::cpu();
  c.out0.tensor = x;
  kernel(c);
}

}  // namespace paddle::kernels
