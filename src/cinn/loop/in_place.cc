#include "cinn/loop/in_place.h"

#include <algorithm>
#include <map>

namespace paddle::cinn {
namespace {

// One load or store, in the order of the kernel's text.
struct Access {
  const Index* index;
  std::vector<const Stmt*> loops;  // around it, outermost first, besides the parallel one
};

struct Accesses {
  std::vector<Access> loads, stores;
  bool loads_last = false;  // a load follows a store in the text
};

class Collector {
 public:
  Collector(const Module& m, int input, int output) : m_(m), input_(input), output_(output) {}

  Accesses run(const Kernel& k) {
    block(k.body);
    return std::move(found_);
  }

 private:
  void block(const std::vector<Stmt>& body) {
    for (const Stmt& s : body) {
      if (s.kind == StmtKind::kFor) {
        loops_.push_back(&s);
        block(s.body);
        loops_.pop_back();
      } else if (s.kind == StmtKind::kStore && s.buffer == output_) {
        found_.stores.push_back({&s.index, loops_});
      } else if (s.kind == StmtKind::kLet) {
        const Value& v = m_.values[static_cast<size_t>(s.value)];
        if (v.op != ValueOp::kLoad || v.buffer != input_) continue;
        found_.loads.push_back({&v.index, loops_});
        found_.loads_last |= !found_.stores.empty();
      }
    }
  }

  const Module& m_;
  int input_, output_;
  Accesses found_;
  std::vector<const Stmt*> loops_;
};

// Does the load, which stands before the store, touch in each iteration of the loops around both just what the store
// touches in that iteration? Each element is stored once, so other iterations touch others.
bool same_elements(const Module& m, const Access& load, const Access& store) {
  if (load.loops.size() != store.loops.size()) return false;
  std::map<AtomId, Index> renamed;
  for (size_t k = 0; k < load.loops.size(); ++k) {
    const Stmt &a = *load.loops[k], &b = *store.loops[k];
    if (&a == &b) continue;
    if (!(a.extent == b.extent)) return false;
    renamed[a.var] = Index::of_atom(b.var);
  }
  if (renamed.empty()) return *load.index == *store.index;
  IndexPool pool = m.pool;
  return pool.substitute(*load.index, renamed) == *store.index;
}

bool fits(const Module& m, const Accesses& a) {
  if (a.loads.empty() || a.stores.empty()) return true;
  if (a.stores.size() != 1 || a.loads_last) return false;
  return std::all_of(a.loads.begin(), a.loads.end(),
                     [&](const Access& load) { return same_elements(m, load, a.stores[0]); });
}

// One of them runs in a call, never both.
bool exclusive(const Kernel& a, const Kernel& b) { return (a.when + b.when).is(1); }

int buffer_of(const Module& m, BufferRole role, int slot) {
  for (size_t b = 0; b < m.buffers.size(); ++b)
    if (m.buffers[b].role == role && m.buffers[b].slot == slot) return static_cast<int>(b);
  return -1;
}

}  // namespace

bool may_overwrite(const Module& m, int input, int output) {
  const int in = buffer_of(m, BufferRole::kInput, input), out = buffer_of(m, BufferRole::kOutput, output);
  if (in < 0 || out < 0) return false;
  const Buffer &from = m.buffers[static_cast<size_t>(in)], &to = m.buffers[static_cast<size_t>(out)];
  if (from.dtype != to.dtype || !(from.size == to.size)) return false;
  std::vector<const Kernel*> stored;
  for (const Kernel& k : m.kernels) {
    const Accesses a = Collector(m, in, out).run(k);
    if (!fits(m, a)) return false;
    for (const Kernel* before : stored)
      if (!a.loads.empty() && !exclusive(*before, k)) return false;
    if (!a.stores.empty()) stored.push_back(&k);
  }
  return true;
}

}  // namespace paddle::cinn
