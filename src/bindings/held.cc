#include "bindings/held.h"

#include <atomic>
#include <unordered_map>
#include <vector>

#include "autograd/op_node.h"
#include "base/error.h"

namespace paddle::bindings {
namespace {

// Of Python objects in C++. Where there are none, as in most programs, no graph is walked.
std::atomic<int64_t> alive{0};

}  // namespace

HeldObject::HeldObject(Object o) : object_(std::move(o)) { alive.fetch_add(1, std::memory_order_relaxed); }
HeldObject::~HeldObject() {
  alive.fetch_sub(1, std::memory_order_relaxed);
  if (!Py_IsInitialized()) {
    object_.release();
    return;
  }
  AcquireGil gil;
  object_ = Object();
}

Tensor PythonHook::operator()(const Tensor& gradient) const {
  AcquireGil gil;
  Object arg = own(wrap(gradient));
  Object result = own(PyObject_CallOneArg(function->get(), arg.get()));
  return result.get() == Py_None ? Tensor() : expect_tensor(result.get(), "hook's result");
}

void PythonCall::operator()() const {
  AcquireGil gil;
  own(PyObject_CallNoArgs(function->get()));
}

PyState::PyState(PyTypeObject* t, PyObject* d) : type(t), dict(d) { alive.fetch_add(1, std::memory_order_relaxed); }
PyState::~PyState() {
  alive.fetch_sub(1, std::memory_order_relaxed);
  Py_XDECREF(type);
  Py_XDECREF(dict);
}

namespace {

// An object is entered when as many references to it were met as it has: then nobody else keeps it alive, and each
// reference to Python from there counts as one of the tensor that the walk began at.
class Walk final : public autograd::HeldVisitor {
 public:
  Walk(visitproc visit, void* arg) : visit_(visit), arg_(arg) {}

  int from(const TensorImpl* root) {
    object(root);
    while (!ready_.empty() && result_ == 0) {
      const RefCounted* o = ready_.back();
      ready_.pop_back();
      enter(o);
    }
    return result_;
  }

  void object(const RefCounted* o) override {
    if (o && ++met_[o] == o->use_count()) ready_.push_back(o);
  }

 private:
  void enter(const RefCounted* o) {
    if (auto* impl = dynamic_cast<const TensorImpl*>(o)) {
      enter_tensor(*impl);
    } else if (auto* node = dynamic_cast<const autograd::Node*>(o)) {
      enter_node(*node);
    } else if (auto* meta = dynamic_cast<const autograd::Meta*>(o)) {
      object(meta->grad.impl());
      hooks(meta->hooks);
      for (const auto& fn : meta->after_accumulate)
        if (auto* call = fn.target<PythonCall>()) object(call->function.get());
    } else if (auto* held = dynamic_cast<const HeldObject*>(o)) {
      python(held->get());
    } else if (auto* saved = dynamic_cast<const autograd::SavedTensorHooks*>(o)) {
      saved->visit_held(*this);
    }
  }
  void enter_tensor(const TensorImpl& impl) {
    object(impl.grad_fn.get());
    object(impl.autograd.get());
    object(impl.base.get());
    if (auto* state = static_cast<const PyState*>(impl.py_state)) {
      python(reinterpret_cast<PyObject*>(state->type));
      python(state->dict);
    }
  }
  void enter_node(const autograd::Node& node) {
    for (const autograd::Edge& e : node.edges) object(e.node.get());
    hooks(node.hooks);
    node.visit_held(*this);
  }
  void hooks(const std::vector<autograd::Node::OutputHook>& list) {
    for (const auto& h : list)
      if (auto* hook = h.fn.target<PythonHook>()) object(hook->function.get());
  }
  void python(PyObject* o) {
    if (o && result_ == 0) result_ = visit_(o, arg_);
  }

  visitproc visit_;
  void* arg_;
  int result_ = 0;
  std::unordered_map<const RefCounted*, uint32_t> met_;
  std::vector<const RefCounted*> ready_;
};

}  // namespace

// A thread that computes without the interpreter's lock may change histories while they are read: then circles wait
// for a later collection. Such threads come and go under the lock, so all of one collection sees the same.
int traverse_history(const Tensor& t, visitproc visit, void* arg) {
  if (alive.load(std::memory_order_relaxed) == 0 || ReleaseGil::threads() > 0) return 0;
  if (!t.defined() || t.impl()->use_count() != 1 || !(t->grad_fn || t->autograd || t->base)) return 0;
  return Walk(visit, arg).from(t.impl());
}

void clear_history(const Tensor& t) {
  if (!t.defined() || t.impl()->use_count() != 1) return;
  Ref<RefCounted> history = std::move(t->grad_fn), meta = std::move(t->autograd);
  Ref<TensorImpl> base = std::move(t->base);
}

}  // namespace paddle::bindings
