#include "compile/host_fallback.h"

#include <cstdio>
#include <mutex>
#include <set>

#include "base/flags.h"
#include "device/registry.h"
#include "dispatch/eager.h"
#include "dispatch/state.h"
#include "phi/kernels/registry.h"

namespace paddle::compile {
namespace {

Tensor on_host(const Tensor& t) {
  if (!t.defined() || !t.is_dense() || t.place().is_cpu()) return t;
  Tensor out = Tensor::empty(t.shape(), t.dtype(), Place::cpu());
  kernels::copy_elements(out, t);
  return out;
}

void announce(const OpCall& c, const std::string& reason) {
  const std::string kind = device::table(c.place).kind;
  if (flags::get_bool("forbid_host_fallback"))
    fail(ErrorKind::kNotImplemented, "[{}] has no kernel on {} and FLAGS_forbid_host_fallback is set: {}", c.op.name,
         to_string(c.place), reason);
  static std::mutex mutex;
  static auto* told = new std::set<std::pair<std::string, std::string>>;
  std::lock_guard lock(mutex);
  if (told->emplace(kind, std::string(c.op.name)).second)
    std::fprintf(stderr, "[%s] runs on the CPU for tensors on %s: %s\n", std::string(c.op.name).c_str(), kind.c_str(),
                 reason.c_str());
}

// The call's arguments with every tensor on the CPU.
struct HostArgs {
  std::vector<Arg> list;
  std::forward_list<Tensor> tensors;
  std::forward_list<Tensors> tensor_lists;

  explicit HostArgs(const OpCall& c) {
    for (const Arg& a : c.args) {
      if (a.tag() == Arg::Tag::kTensor) {
        list.push_back(Arg(tensors.emplace_front(on_host(a.tensor()))));
      } else if (a.tag() == Arg::Tag::kTensors) {
        Tensors items;
        for (const Tensor& t : a.tensors()) items.push_back(on_host(t));
        list.push_back(Arg(tensor_lists.emplace_front(std::move(items))));
      } else {
        list.push_back(a.tag() == Arg::Tag::kPlace ? Arg(Place::cpu()) : a);
      }
    }
  }
};

void bring_back(const Tensor& host, Tensor& target, Place place) {
  if (!host.defined()) return;
  if (!target.defined() || target.shape() != host.shape() || target.dtype() != host.dtype())
    target = Tensor::empty(host.shape(), host.dtype(), place);
  kernels::copy_elements(target, host);
}

}  // namespace

void run_on_host(OpCall& c, const std::string& reason) {
  bool reads = false;
  c.for_each_tensor([&](const Tensor&) { reads = true; });
  if (reads || c.op.has(kRandom)) announce(c, reason);
  HostArgs args(c);
  OpCall host(c.op, args.list);
  host.key = c.key;
  host.key_drawn = c.key_drawn;
  dispatch::GradMode off(false);
  dispatch::infer(host);
  host.place = Place::cpu();
  dispatch::run_kernel(host);
  for (size_t i = 0; i < c.num_outs(); ++i) {
    bring_back(host.out(i), c.out(i), c.place);
    Tensors& to = c.out_list(i);
    const Tensors& from = host.out_list(i);
    to.resize(from.size());
    for (size_t k = 0; k < from.size(); ++k) bring_back(from[k], to[k], c.place);
  }
}

}  // namespace paddle::compile
