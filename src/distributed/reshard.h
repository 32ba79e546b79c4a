// Moving a tensor from one distribution to another, eagerly: spmd::plan_reshard's steps, taken by this rank.
#pragma once
#include <set>
#include <string_view>

#include "spmd/dist_payload.h"

namespace paddle::distributed {

using AttrPtr = std::shared_ptr<const spmd::DistAttr>;

// This rank's part of a tensor of global shape `shape`; `local` is its part now (undefined: it has none). All ranks of
// both meshes call it. Metadata-only tensors (no storage) just get their new shape. The result may share local's
// memory.
Tensor reshard_local(const Tensor& local, const spmd::Shape& shape, DType dtype, const spmd::DistAttr& from,
                     const spmd::DistAttr& to);

// The same on whole tensors; no gradient is recorded. A plain tensor counts as Replicate.
Tensor reshard_value(const Tensor& t, const AttrPtr& to);
// The whole value as a plain tensor, on every rank of the mesh; in a WholeScope on all of its ranks. RuntimeError on
// other ranks.
Tensor whole_value(const Tensor& t);

// While it lives, plain tensors of this thread are what all of these ranks hold whole. For programs over several
// meshes.
class WholeScope {
 public:
  explicit WholeScope(const std::set<int64_t>& ranks);
  ~WholeScope();
  WholeScope(const WholeScope&) = delete;

 private:
  spmd::ProcessMesh mesh_;
  const spmd::ProcessMesh* before_;
};

// What a partitioned program is given for a tensor: this rank's part, or something empty outside the tensor's mesh.
Tensor local_part(const Tensor& t);
// The same, to what an operator's `to` says: nothing: whole and plain; a distribution; "~", a digit for each axis of
// the mesh, ":" and a distribution: along axes with 0 a tensor from a mesh of that shape stays cut as it is. With 0 for
// all axes a plain tensor stays plain.
Tensor reshard_to(const Tensor& t, std::string_view to);
// This rank's part of a tensor that every rank holds whole.
Tensor cut_whole(const Tensor& whole, const AttrPtr& to);

// Writes a value (plain or distributed otherwise) into a distributed tensor's memory.
void assign_value(const Tensor& target, const Tensor& value);

}  // namespace paddle::distributed
