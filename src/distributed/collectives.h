// Collectives on dense tensors: results are new tensors, any dimension may be cut or joined, sizes that don't divide
// are cut as spmd::shard_range says. The reshard steps of eager tensors and the operators of compiled programs both are
// these.
#pragma once
#include "distributed/comm/process_group.h"
#include "spmd/placement.h"
#include "tensor/tensor.h"

namespace paddle::distributed {

comm::ReduceOp reduce_op(spmd::PartialKind kind);

// The group's parts of a tensor that has `size` elements along `axis`, joined.
Tensor all_gather(const Tensor& x, comm::ProcessGroup& group, int axis, int64_t size);
Tensor all_reduce(const Tensor& x, comm::ProcessGroup& group, comm::ReduceOp op);
// The own part along `axis` of what all ranks' tensors of one shape reduce to.
Tensor reduce_scatter(const Tensor& x, comm::ProcessGroup& group, comm::ReduceOp op, int axis);
// From parts along `concat_axis` (`size` elements in all) to parts along `split_axis`.
Tensor all_to_all(const Tensor& x, comm::ProcessGroup& group, int split_axis, int concat_axis, int64_t size);

// The index-th of `parts` parts along an axis: a view.
Tensor part_of(const Tensor& x, int axis, int64_t parts, int64_t index);
// A contiguous tensor of the same elements: itself if it is one.
Tensor contiguous(const Tensor& x);
Tensor copy_of(const Tensor& x);

}  // namespace paddle::distributed
