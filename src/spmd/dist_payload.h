// DistPayload: what a tensor holds when it is spread over a mesh. The TensorImpl has the global shape; the payload
// where the tensor lies and this process's part of it.
#pragma once
#include "base/error.h"
#include "spmd/local_shape.h"
#include "tensor/tensor.h"

namespace paddle::spmd {

class DistPayload final : public Payload {
 public:
  DistPayload(std::shared_ptr<const DistAttr> a, Tensor l) : attr(std::move(a)), local(std::move(l)) {}
  std::shared_ptr<const DistAttr> attr;
  Tensor local;  // dense; undefined where this process is not in the mesh
};

inline DistPayload& dist_payload(const Tensor& t) {
  PD_INVARIANT(t.is_dist() && t->payload);
  return static_cast<DistPayload&>(*t->payload);
}
inline const DistAttr& dist_attr(const Tensor& t) { return *dist_payload(t).attr; }

// A tensor of global shape `shape` whose part here is `local`.
inline Tensor make_dist(std::span<const Dim> shape, DType dtype, Place place, std::shared_ptr<const DistAttr> attr,
                        Tensor local) {
  Tensor t = Tensor::meta(shape, dtype, place);
  t->payload = Ref<Payload>(new DistPayload(std::move(attr), std::move(local)));
  t->bits |= kDist;
  return t;
}

inline Shape sizes_of(std::span<const Dim> shape) {
  Shape sizes;
  for (Dim d : shape) sizes.push_back(d.is_const() ? d.value() : -1);
  return sizes;
}

}  // namespace paddle::spmd
