#include "dispatch/autocast.h"

#include <memory>

#include "api/ops.h"
#include "dispatch/state.h"

namespace paddle::dispatch {
namespace {

bool low_precision(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }
bool castable(DType t) { return low_precision(t) || t == DType::kFloat32; }

class Autocast final : public Interpreter {
 public:
  AmpState amp;

  void call(OpCall& c, size_t next) override {
    DType target = target_dtype(c);
    if (target != DType::kUndefined) cast_inputs(c, target);
    call_below(c, next);
  }
  const char* name() const override { return "autocast"; }

 private:
  AmpRule rule(const OpInfo& op) const {
    std::string name(op.name);
    if (amp.black.count(name)) return AmpRule::kBlack;
    if (amp.white.count(name)) return AmpRule::kWhite;
    if (amp.level >= 2 && op.amp == AmpRule::kPromote) return AmpRule::kWhite;
    return op.amp;
  }

  DType target_dtype(const OpCall& c) const {
    if (c.op.has(kInplaceOnly) || c.inplace) return DType::kUndefined;
    switch (rule(c.op)) {
      case AmpRule::kWhite:
        return amp.dtype;
      case AmpRule::kBlack:
        return DType::kFloat32;
      case AmpRule::kPromote: {
        bool f32 = false, low = false;
        c.for_each_tensor([&](const Tensor& t) {
          f32 |= t.dtype() == DType::kFloat32;
          low |= low_precision(t.dtype());
        });
        return f32 && low ? DType::kFloat32 : DType::kUndefined;
      }
      case AmpRule::kKeep:
        break;
    }
    return DType::kUndefined;
  }

  void cast_inputs(OpCall& c, DType target) {
    for (Arg& a : c.args) {
      if (a.tag() == Arg::Tag::kTensor && castable(a.tensor().dtype()) && a.tensor().dtype() != target) {
        a = Arg(c.kept_tensors.emplace_front(ops::cast(a.tensor(), target)));
      } else if (a.tag() == Arg::Tag::kTensors) {
        Tensors cast;
        bool any = false;
        for (const Tensor& t : a.tensors()) {
          bool change = t.defined() && castable(t.dtype()) && t.dtype() != target;
          any |= change;
          cast.push_back(change ? ops::cast(t, target) : t);
        }
        if (any) a = Arg(c.kept_lists.emplace_front(std::move(cast)));
      }
    }
  }
};

Autocast& interpreter() {
  static thread_local std::unique_ptr<Autocast> a;
  if (!a) a = std::make_unique<Autocast>();
  return *a;
}

}  // namespace

const AmpState& amp_state() { return interpreter().amp; }

void set_amp_state(AmpState s) {
  Autocast& a = interpreter();
  bool was = a.amp.level > 0, is = s.level > 0;
  a.amp = std::move(s);
  if (is && !was) push(&a);
  if (was && !is) pop(&a);
}

}  // namespace paddle::dispatch
