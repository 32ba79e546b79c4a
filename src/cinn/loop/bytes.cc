#include "cinn/loop/bytes.h"

#include "base/bytes.h"

namespace paddle::cinn {
namespace {

// What each part consists of, said once for both directions: `io` is a Writer or a Reader, `x` const or not.
template <class Io>
struct Fields {
  Io& io;

  void atom(auto& a) { io(a.kind, AtomKind::kMax), io(a.number), io(a.a), io(a.b); }
  void buffer(auto& b) {
    io(b.role, BufferRole::kScratch), io(b.slot), dtype(b.dtype);
    io(b.size), io(b.offset);
  }
  void dtype(auto& d) { io(d, static_cast<DType>(static_cast<int>(DType::kCount) - 1)); }
  void value(auto& v) {
    io(v.op, ValueOp::kReadAcc), dtype(v.dtype);
    io(v.fn, static_cast<scalar::Fn>(static_cast<int>(scalar::Fn::kCount) - 1));
    io.list(v.args, [&](auto& a) { io(a); });
    io(v.imm), io(v.integer), io(v.buffer), io(v.index);
  }
  void statement(auto& s) {
    io(s.kind, StmtKind::kPrefetch), io(s.value), io(s.buffer), io(s.index), io(s.streaming), io(s.level);
    io(s.var), io(s.extent), io(s.vectorize), io(s.unroll), io(s.streams);
    io(s.acc), io(s.reduce, ReduceKind::kAll), dtype(s.dtype);
    io.deeper();
    io.list(s.body, [&](auto& inner) { statement(inner); });
    io.back();
  }
  void kernel(auto& k) {  // all but `why`, which decides nothing
    io(k.name), io(k.parallel_extent), io(k.parallel_var);
    io.list(k.body, [&](auto& s) { statement(s); });
    io(k.work), io(k.by_group), io(k.when);
  }
  void module(auto& m) {
    io(m.pool, [&](auto& a) { atom(a); });
    io.list(m.buffers, [&](auto& b) { buffer(b); });
    io.list(m.values, [&](auto& v) { value(v); });
    io.list(m.kernels, [&](auto& k) { kernel(k); });
    io(m.num_inputs), io(m.num_outputs), io(m.num_symbols);
    io(m.workspace_bytes), io(m.scratch_bytes);
  }
};

class Writer {
 public:
  std::string take() && { return std::move(out_).take(); }
  template <class E>
  requires std::is_enum_v<E>
  void operator()(E e, E) { out_.number(e); }
  void operator()(int64_t v) { out_.number(v); }
  void operator()(int v) { out_.number(int64_t{v}); }
  void operator()(bool v) { out_.number(int64_t{v}); }
  void operator()(double v) { out_.real(v); }
  void operator()(const std::string& s) { out_.text(s); }
  void operator()(const Index& x) {
    out_.size(x.terms().size());
    for (const auto& [monomial, c] : x.terms()) {
      out_.size(monomial.size());
      for (AtomId a : monomial) out_.number(int64_t{a});
      out_.number(c);
    }
  }
  void operator()(const IndexPool& pool, auto&& each) {
    out_.size(pool.size());
    for (size_t i = 0; i < pool.size(); ++i) each(pool.atom(static_cast<AtomId>(i)));
  }
  template <class T>
  void list(const std::vector<T>& items, auto&& each) {
    out_.size(items.size());
    for (const T& x : items) each(x);
  }
  void deeper() {}
  void back() {}

 private:
  ByteWriter out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : in_(bytes) {}
  void finish() const {
    if (!in_.done()) in_.bad("the end");
  }
  template <class E>
  requires std::is_enum_v<E>
  void operator()(E& e, E last) { e = in_.number(last); }
  void operator()(int64_t& v) { v = in_.number(); }
  void operator()(int& v) { v = static_cast<int>(in_.number(INT32_MIN, INT32_MAX)); }
  void operator()(bool& v) { v = in_.number(0, 1) != 0; }
  void operator()(double& v) { v = in_.real(); }
  void operator()(std::string& s) { s = std::string(in_.text()); }
  void operator()(Index& x) {
    std::map<Monomial, int64_t> terms;
    for (size_t n = in_.size(); n > 0; --n) {
      Monomial m;
      for (size_t k = in_.size(); k > 0; --k) m.push_back(static_cast<AtomId>(in_.number(0, INT32_MAX)));
      terms[std::move(m)] = in_.number();
    }
    x = Index::from_terms(std::move(terms));
  }
  void operator()(IndexPool& pool, auto&& each) {
    std::vector<Atom> atoms;
    list(atoms, each);
    pool = IndexPool::of_atoms(std::move(atoms));
  }
  template <class T>
  void list(std::vector<T>& items, auto&& each) {
    items.resize(in_.size());
    for (T& x : items) each(x);
  }
  void deeper() {
    if (++depth_ > 200) in_.bad("less nesting");
  }
  void back() { --depth_; }

 private:
  ByteReader in_;
  int depth_ = 0;
};

}  // namespace

std::string to_bytes(const Module& m) {
  Writer w;
  Fields<Writer>{w}.module(m);
  return std::move(w).take();
}

Module module_of(std::string_view bytes) {
  Reader r(bytes);
  Module m;
  Fields<Reader>{r}.module(m);
  r.finish();
  return m;
}

}  // namespace paddle::cinn
