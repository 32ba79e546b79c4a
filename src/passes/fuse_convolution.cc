// A convolution with what follows it: a number per channel, a tensor of its shape, max(., 0).
#include "passes/match.h"
#include "passes/passes.h"
#include "pir/builder.h"

namespace paddle::passes {

using pir::Attribute;
using pir::Operation;
using pir::Value;

namespace {

struct Chain {
  Value bias, residual;
  bool relu = false;
  std::vector<Operation*> ops;  // after the convolution, in order
};

// What the kernel computes: each channel on its own has one that is quicker without.
bool taken(const Operation& conv) {
  const DType t = conv.operand("input").dtype();
  if (t != DType::kFloat32 && t != DType::kBFloat16 && t != DType::kFloat16) return false;
  return conv.attr("groups").as_int() == 1;
}

Chain follow(Operation& conv) {
  Chain c;
  Value v = conv.result();
  const size_t rank = v.shape().size(), axis = conv.attr("data_format").as_string() == "NHWC" ? rank - 1 : 1;
  while (Operation* user = only_user(v)) {
    if (user->is("pd_op.add") && user->result().type() == v.type()) {
      const Value other = user->operand(user->operand(0) == v ? 1 : 0);
      if (!c.bias && !c.residual && along_axis(other, axis, rank, v.shape()[axis]) &&
          (other.dtype() == v.dtype() || other.dtype() == DType::kFloat32))
        c.bias = other;
      else if (!c.residual && other != v && other.type() == v.type())
        c.residual = other;
      else
        break;
    } else if (user->is("pd_op.relu")) {
      c.relu = true;
      c.ops.push_back(user);
      break;
    } else {
      break;
    }
    c.ops.push_back(user);
    v = user->result();
  }
  return c;
}

bool fuse(Operation& conv) {
  if (!taken(conv)) return false;
  Chain c = follow(conv);
  if (c.ops.empty()) return false;
  Operation* last = c.ops.back();
  pir::Builder b;
  b.before(last);
  b.set_loc(pir::Location::derived("fuse_convolution", last->loc()));
  if (c.bias && c.bias.shape().size() != 1)
    c.bias = b.value("pd_op.reshape", {c.bias, b.full_int_array(std::vector<int64_t>{-1})});
  pir::AttrMap attrs = conv.attrs();
  attrs.erase("stop_gradient");
  attrs.set("activation", Attribute::string(c.relu ? "relu" : "identity"));
  const Value out = b.value("pd_op.fused_conv2d_add_act",
                            {conv.operand("input"), conv.operand("filter"), c.bias, c.residual}, std::move(attrs));
  out.set_stop_gradient(last->result().stop_gradient());
  last->result().replace_all_uses_with(out);
  for (size_t i = c.ops.size(); i-- > 0;) c.ops[i]->erase();
  conv.erase();
  return true;
}

}  // namespace

size_t fuse_convolution(Operation& root) {
  std::vector<Operation*> convs;
  root.walk([&](Operation& op) {
    if (op.is("pd_op.conv2d")) convs.push_back(&op);
  });
  // The last first: where two are added, the sum follows the later one.
  size_t n = 0;
  for (size_t i = convs.size(); i-- > 0;) n += fuse(*convs[i]);
  return n;
}

}  // namespace paddle::passes
