// Which function computes an operator on a kind of device. Kernels register themselves by the operator's name at
// start-up.
#pragma once
#include <memory>
#include <string_view>

#include "api/op_call.h"

namespace paddle::kernels {

// On entry the outputs are allocated from the shape rule's metas (c.out(i) / c.out_list(i)), except for operators whose
// record says `view` or `data_dependent_shape`, and optional outputs that nobody asked for: those the kernel makes
// itself.
void register_kernel(std::string_view op, uint8_t device_kind, RunFn fn);

// The operator's own kernel; else the kind's generic one for its class (pointwise `expr`, reduction `combine`); else
// the kind's fallback (null: computes nothing); else null.
RunFn find_kernel(const OpInfo& op, uint8_t device_kind);

// What runs for records that define themselves by an expression: `expr` alone, or `combine`.
void set_generic(uint8_t device_kind, RunFn pointwise, RunFn reduction);
// What runs for every operator of a kind that has no kernel of its own.
void set_fallback(uint8_t device_kind, RunFn fn);

// A call whose weights stay as they are from run to run: what is made of them once (another layout, a transform) is
// kept.
class HeldKernel {
 public:
  virtual ~HeldKernel() = default;
  virtual void run(OpCall& c) = 0;  // as a kernel; the constant arguments are those that it was made with
};
// `constant`: bit i says that argument i stays. Results may differ from the kernel's by the rounding of another
// algorithm. Null: there is nothing to gain.
using HoldFn = std::unique_ptr<HeldKernel> (*)(OpCall& c, uint64_t constant);
void register_hold(std::string_view op, uint8_t device_kind, HoldFn fn);
HoldFn find_hold(const OpInfo& op, uint8_t device_kind);  // null if there is none

// Copies all elements between tensors of one shape and dtype, any strides, any places.
void copy_elements(const Tensor& dst, const Tensor& src);
void set_copy(void (*fn)(const Tensor& dst, const Tensor& src));
// Between tensors of one device, which is not the CPU, where either is strided. Null: there is no such copy.
using DeviceCopy = void (*)(const Tensor& dst, const Tensor& src);
void set_device_copy(uint8_t device_kind, DeviceCopy fn);
DeviceCopy device_copy(uint8_t device_kind);

struct HoldCpu {
  HoldCpu(std::string_view op, HoldFn fn) { register_hold(op, 0, fn); }
};
struct RegisterCpu {
  RegisterCpu(std::string_view op, RunFn fn) { register_kernel(op, 0, fn); }
};

}  // namespace paddle::kernels
