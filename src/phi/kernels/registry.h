// Which function computes an operator on a kind of device. Kernels register themselves by the operator's name at start-up.
#pragma once
#include <string_view>

#include "api/op_call.h"

namespace paddle::kernels {

// On entry the outputs are allocated from the shape rule's metas (c.out(i) / c.out_list(i)), except for operators whose record says
// `view` or `data_dependent_shape`, and optional outputs that nobody asked for: those the kernel makes itself.
void register_kernel(std::string_view op, uint8_t device_kind, RunFn fn);

// The kernel, else the kind's fallback (null: computes nothing), else null.
RunFn find_kernel(const OpInfo& op, uint8_t device_kind);

// What runs for every operator of a kind that has no kernel of its own.
void set_fallback(uint8_t device_kind, RunFn fn);

struct RegisterCpu {
  RegisterCpu(std::string_view op, RunFn fn) { register_kernel(op, 0, fn); }
};

}  // namespace paddle::kernels
