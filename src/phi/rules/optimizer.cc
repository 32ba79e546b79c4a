// Rules of ops/optimizer.yaml, in the order of the records.
#include "phi/rules_optimizer.h"

#include "phi/rules/infer.h"
#include "tensor/shown_shape.h"

namespace paddle::rules {
namespace {

void like(std::vector<TensorMeta>& metas, std::span<const Tensor> tensors) {
  metas.clear();
  for (const Tensor& t : tensors) metas.push_back(t.defined() ? TensorMeta{t.dtype(), t.shape()} : TensorMeta{});
}

void check_pairs(std::string_view op, std::string_view what, std::span<const Tensor> params,
                 std::span<const Tensor> others) {
  check(others.size() == params.size(), ErrorKind::kValue, "[{}] expected one of {} per parameter ({}), got {}", op,
        what, params.size(), others.size());
  for (size_t i = 0; i < params.size(); ++i)
    check(others[i].shape() == params[i].shape(), ErrorKind::kValue,
          "[{}] expected {} of the parameter's shape {}, got {}", op, what, shown(params[i].shape()),
          shown(others[i].shape()));
}

}  // namespace

void fused_sgd_::shape(const Args& a, std::vector<TensorMeta>& params, std::vector<TensorMeta>& masters) {
  check_pairs("fused_sgd_", "grads", a.params, a.grads);
  like(params, a.params);
  like(masters, a.masters);
}

void fused_momentum_::shape(const Args& a, std::vector<TensorMeta>& params, std::vector<TensorMeta>& velocities,
                            std::vector<TensorMeta>& masters) {
  check_pairs("fused_momentum_", "grads", a.params, a.grads);
  check_pairs("fused_momentum_", "velocities", a.params, a.velocities);
  like(params, a.params);
  like(velocities, a.velocities);
  like(masters, a.masters);
}

void fused_adam_multi_::shape(const Args& a, std::vector<TensorMeta>& params, std::vector<TensorMeta>& moment1s,
                              std::vector<TensorMeta>& moment2s, std::vector<TensorMeta>& maxima,
                              std::vector<TensorMeta>& pow1s, std::vector<TensorMeta>& pow2s,
                              std::vector<TensorMeta>& masters) {
  check_pairs("fused_adam_multi_", "grads", a.params, a.grads);
  check_pairs("fused_adam_multi_", "moment1s", a.params, a.moment1s);
  check_pairs("fused_adam_multi_", "moment2s", a.params, a.moment2s);
  check(a.beta1_pows.size() == a.params.size() && a.beta2_pows.size() == a.params.size(), ErrorKind::kValue,
        "[fused_adam_multi_] expected one beta power per parameter ({}), got {} and {}", a.params.size(),
        a.beta1_pows.size(), a.beta2_pows.size());
  like(params, a.params);
  like(moment1s, a.moment1s);
  like(moment2s, a.moment2s);
  like(maxima, a.moment2_maxs);
  like(pow1s, a.beta1_pows);
  like(pow2s, a.beta2_pows);
  like(masters, a.masters);
}

}  // namespace paddle::rules
