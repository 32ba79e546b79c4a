// A matrix product with what follows it: a number per column, a tensor of its shape. Where an elementwise operator or a
// reduction comes next, the compiler takes the sums along for nothing: there they stay.
#include "passes/match.h"
#include "passes/passes.h"
#include "pir/builder.h"

namespace paddle::passes {

using pir::Attribute;
using pir::Operation;
using pir::Value;

namespace {

bool taken_along(Value v) {
  for (Operation* user : v.users())
    if (user->has(kElementwise | kBroadcast | kReduction) && !user->has(kView)) return true;
  return false;
}

bool fuse(Operation& product) {
  Value v = product.result(), bias, residual;
  const size_t rank = v.shape().size();
  if (v.dtype() != DType::kFloat32 || rank < 2) return false;
  for (const char* side : {"x", "y"})
    if (product.operand(side).shape().size() < 2) return false;
  std::vector<Operation*> sums;
  for (Operation* user = only_user(v); user && user->is("pd_op.add"); user = only_user(v)) {
    if (user->result().type() != v.type()) break;
    const Value other = user->operand(user->operand(0) == v ? 1 : 0);
    if (!bias && !residual && along_axis(other, rank - 1, rank, v.shape()[rank - 1]) && other.dtype() == v.dtype())
      bias = other;
    else if (!residual && other != v && other.type() == v.type())
      residual = other;
    else
      break;
    sums.push_back(user);
    v = user->result();
  }
  if (sums.empty() || taken_along(v)) return false;
  pir::Builder b;
  b.before(sums.back());
  b.set_loc(pir::Location::derived("fuse_product", sums.back()->loc()));
  if (bias && bias.shape().size() != 1)
    bias = b.value("pd_op.reshape", {bias, b.full_int_array(std::vector<int64_t>{-1})});
  const Value out = b.value("pd_op.fused_gemm_epilogue", {product.operand("x"), product.operand("y"), bias, residual},
                            {{"trans_x", product.attr("transpose_x")},
                             {"trans_y", product.attr("transpose_y")},
                             {"activation", Attribute::string("none")}});
  out.set_stop_gradient(v.stop_gradient());
  v.replace_all_uses_with(out);
  for (size_t i = sums.size(); i-- > 0;) sums[i]->erase();
  product.erase();
  return true;
}

}  // namespace

size_t fuse_product(Operation& root) {
  std::vector<Operation*> products;
  root.walk([&](Operation& op) {
    if (op.is("pd_op.matmul")) products.push_back(&op);
  });
  size_t n = 0;
  for (size_t i = products.size(); i-- > 0;) n += fuse(*products[i]);
  return n;
}

}  // namespace paddle::passes
