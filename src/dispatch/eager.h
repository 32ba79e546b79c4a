// Eager: what a call means when its inputs have values: shape rule, allocation, kernel.
#pragma once
#include "api/op_call.h"

namespace paddle::dispatch {

// Runs the operator now, recording nothing. Sets c.outs.
void run_eager(OpCall& c);

// The parts, for executors that have done some of them ahead of time.
void resolve_arguments(OpCall& c);  // lists and scalars given as tensors become constants
void infer(OpCall& c);              // place and metas; bad input raises here
void run_kernel(OpCall& c);         // allocates what isn't there and computes
void note_views(OpCall& c);         // of an operator that looks into an argument: the outputs' bases
void run_composition(OpCall& c);    // the record's composition, whatever kernels there are

// Copies all elements; same shape and dtype, any strides, any places. Counts dst's version up.
void copy_into(const Tensor& dst, const Tensor& src);

// Autograd's part of the default interpreter stack: installed by src/autograd at start-up; runs the call and notes a
// node.
extern void (*record_call)(OpCall& c);
// The dist interpreter's part, installed by src/distributed: inputs with placements.
extern void (*dist_call)(OpCall& c);

}  // namespace paddle::dispatch
