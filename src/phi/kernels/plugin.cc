// Kernels that a device plugin registers through PdHost::register_kernel, as kernels of ours: arguments in plain C.
#include <array>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "device/registry.h"
#include "phi/kernels/registry.h"

namespace paddle::kernels {
namespace {

struct Registered {
  std::mutex mutex;
  std::unordered_map<uint32_t, PdKernelFn> functions;  // by kind and operator
};
Registered& registered() {
  static auto* r = new Registered;
  return *r;
}
uint32_t key_of(uint8_t kind, uint16_t op) { return uint32_t{kind} << 16 | op; }

// Tensors as plain C; what it lends lives as long as it does. Absent ones are null.
class PlainTensors {
 public:
  void add(const Tensor& t) {
    if (!t.defined()) return pointers_.push_back(nullptr);
    auto& shape = shapes_.emplace_front();
    for (Dim d : t.shape()) shape.push_back(d.value());
    auto& plain = tensors_.emplace_front();
    plain = {sizeof(PdTensor), t.data(),         static_cast<int32_t>(t.dtype()), static_cast<int32_t>(t.rank()),
             shape.data(),     t->strides.data()};
    pointers_.push_back(&plain);
  }
  PdTensor* const* data() const { return pointers_.data(); }
  int32_t size() const { return static_cast<int32_t>(pointers_.size()); }

 private:
  std::forward_list<std::vector<int64_t>> shapes_;
  std::forward_list<PdTensor> tensors_;
  std::vector<PdTensor*> pointers_;
};

// Attributes, by position in the record.
struct Attributes {
  OpCall& call;
  std::vector<int64_t> ints;
  std::string text;

  const Arg& at(int32_t i) const { return call.args[static_cast<size_t>(i)]; }
  static Attributes& of(void* self) { return *static_cast<Attributes*>(self); }

  static int64_t get_int(void* self, int32_t i) {
    const Arg& a = of(self).at(i);
    return a.tag() == Arg::Tag::kScalar ? a.scalar().to_int() : a.i();
  }
  static double get_float(void* self, int32_t i) {
    const Arg& a = of(self).at(i);
    return a.tag() == Arg::Tag::kScalar ? a.scalar().to_double() : a.d();
  }
  static const char* get_string(void* self, int32_t i) {
    of(self).text = of(self).at(i).str();
    return of(self).text.c_str();
  }
  static size_t get_ints(void* self, int32_t i, const int64_t** out) {
    Attributes& me = of(self);
    const Arg& a = me.at(i);
    if (a.tag() == Arg::Tag::kInts)
      me.ints = a.ints().to_ints();
    else
      me.ints.assign(a.int_list().begin(), a.int_list().end());
    *out = me.ints.data();
    return me.ints.size();
  }
};

void run_plugin_kernel(OpCall& c) {
  PdKernelFn fn = nullptr;
  {
    std::lock_guard lock(registered().mutex);
    fn = registered().functions.at(key_of(c.place.kind, c.op.id));
  }
  PlainTensors inputs, outputs;
  for (const Arg& a : c.args)
    for (const Tensor& t : a.tensors_or_empty()) inputs.add(t);
  for (size_t i = 0; i < c.num_outs(); ++i) {
    if (c.op.outs[i].kind != ArgKind::kTensors) outputs.add(c.out(i));
    for (const Tensor& t : c.out_list(i)) outputs.add(t);
  }
  Attributes attributes{c, {}, {}};
  const PdAttrs attrs{sizeof(PdAttrs),        &attributes,         Attributes::get_int, Attributes::get_float,
                      Attributes::get_string, Attributes::get_ints};
  device::check_status(fn(c.place.index, nullptr, inputs.data(), inputs.size(), outputs.data(), outputs.size(), &attrs),
                       c.place, std::string(c.op.name).c_str());
}

[[maybe_unused]] const bool installed = [] {
  device::set_kernel_registrar([](uint8_t kind, const char* op, PdKernelFn fn) {
    const OpInfo* info = find_op(op);
    check(info != nullptr, ErrorKind::kValue, "[device] kind '{}' registers a kernel for '{}', which is no operator",
          device::table(kind).kind, op);
    {
      std::lock_guard lock(registered().mutex);
      registered().functions[key_of(kind, info->id)] = fn;
    }
    register_kernel(op, kind, run_plugin_kernel);
  });
  return true;
}();

}  // namespace
}  // namespace paddle::kernels
