#include "cinn/loop/key.h"

#include <bit>
#include <type_traits>

namespace paddle::cinn {
namespace {

class Writer {
 public:
  std::string take() && { return std::move(out_); }

  // Seven bits a byte, small numbers of either sign in one.
  void number(int64_t v) {
    uint64_t u = (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
    for (; u >= 0x80; u >>= 7) out_.push_back(static_cast<char>(u | 0x80));
    out_.push_back(static_cast<char>(u));
  }
  template <class E>
  requires std::is_enum_v<E>
  void number(E e) { number(static_cast<int64_t>(e)); }
  void real(double v) {
    const auto bits = std::bit_cast<uint64_t>(v);
    for (int i = 0; i < 8; ++i) out_.push_back(static_cast<char>(bits >> (8 * i)));
  }
  void text(const std::string& s) {
    number(static_cast<int64_t>(s.size()));
    out_ += s;
  }
  void size(size_t n) { number(static_cast<int64_t>(n)); }

  void index(const Index& x) {
    size(x.terms().size());
    for (const auto& [monomial, c] : x.terms()) {
      size(monomial.size());
      for (AtomId a : monomial) number(a);
      number(c);
    }
  }
  void atom(const Atom& a) {
    number(a.kind);
    number(a.number);
    index(a.a);
    index(a.b);
  }
  void buffer(const Buffer& b) {
    number(b.role);
    number(b.slot);
    number(b.dtype);
    index(b.size);
    index(b.offset);
  }
  void value(const Value& v) {
    number(v.op);
    number(v.dtype);
    number(v.fn);
    size(v.args.size());
    for (ValueId a : v.args) number(a);
    real(v.imm);
    number(v.integer);
    number(v.buffer);
    index(v.index);
  }
  void statement(const Stmt& s) {
    number(s.kind);
    number(s.value);
    number(s.buffer);
    index(s.index);
    number(s.streaming);
    number(s.var);
    index(s.extent);
    number(s.vectorize);
    number(s.unroll);
    number(s.acc);
    number(s.reduce);
    number(s.dtype);
    block(s.body);
  }
  void block(const std::vector<Stmt>& body) {
    size(body.size());
    for (const Stmt& s : body) statement(s);
  }
  void kernel(const Kernel& k) {
    text(k.name);
    index(k.parallel_extent);
    number(k.parallel_var);
    block(k.body);
  }

 private:
  std::string out_;
};

}  // namespace

std::string key_of(const Module& m) {
  Writer w;
  w.size(m.pool.size());
  for (size_t i = 0; i < m.pool.size(); ++i) w.atom(m.pool.atom(static_cast<AtomId>(i)));
  w.size(m.buffers.size());
  for (const Buffer& b : m.buffers) w.buffer(b);
  w.size(m.values.size());
  for (const Value& v : m.values) w.value(v);
  w.size(m.kernels.size());
  for (const Kernel& k : m.kernels) w.kernel(k);
  w.number(m.num_inputs);
  w.number(m.num_outputs);
  w.number(m.num_symbols);
  return std::move(w).take();
}

}  // namespace paddle::cinn
