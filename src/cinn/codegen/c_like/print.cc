#include "cinn/codegen/c_like/print.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/error.h"
#include "cinn/codegen/c_like/helpers.h"
#include "cinn/codegen/c_like/spelling.h"

namespace paddle::cinn {
namespace {

class Printer {
 public:
  Printer(const Module& m, const Dialect& d) : m_(m), d_(d) {}

  std::string run(const std::string& prefix) {
    for (const Kernel& k : m_.kernels) kernel(k, prefix);
    return std::move(out_);
  }

 private:
  std::string buffer(int b) const {
    constexpr const char* names[] = {"in", "out", "temp", "scratch"};
    return fmt::format("{}{}", names[static_cast<int>(m_.buffers[b].role)], m_.buffers[b].slot);
  }

  std::string memory_type(DType t) const {
    if (t == DType::kBool) return "pd_u8";
    if (t == DType::kBFloat16 || t == DType::kFloat16) return "pd_u16";
    return type_name(t, d_);
  }

  std::string pointer(DType t) const { return fmt::format("{} {}*", d_.global, memory_type(t)); }

  void line(int depth, const std::string& text) {
    out_.append(2 * depth, ' ');
    out_ += text + "\n";
  }

  // -- kernels

  std::string parameters() const {
    std::string out;
    bool temporaries = false;
    for (size_t b = 0; b < m_.buffers.size(); ++b) {
      const Buffer& x = m_.buffers[b];
      temporaries |= x.role == BufferRole::kTemp;
      if (x.role > BufferRole::kOutput) continue;
      out += fmt::format("{}{} {} {}, ", x.role == BufferRole::kInput ? "const " : "", pointer(x.dtype),
                         d_.restrict_qualifier, buffer(static_cast<int>(b)));
    }
    if (temporaries || !d_.parallel()) out += d_.global + " char* workspace, ";
    if (!d_.parallel()) out += d_.global + " char* scratch, ";
    for (int i = 0; i < m_.num_symbols; ++i) out += fmt::format("pd_i64 s{}, ", i);
    return out + "pd_i64 begin, pd_i64 end";
  }

  void kernel(const Kernel& k, const std::string& prefix) {
    kernel_ = &k;
    shared_.clear();
    dealt_out_.clear();
    if (k.by_group) find_dealt_out(k.body, false);
    line(0, fmt::format("{} {}{}({}) {{", d_.kernel, prefix, k.name, parameters()));
    for (DType t : shared_types(k.body))
      line(1, fmt::format("{} {} shared_{}[{}];", d_.local, type_name(t, d_), paddle::name_of(t), d_.group_size));
    for (size_t b = 0; b < m_.buffers.size(); ++b) {
      const Buffer& x = m_.buffers[b];
      if (x.role <= BufferRole::kOutput) continue;
      check(x.role == BufferRole::kTemp || !d_.parallel(), ErrorKind::kNotImplemented,
            "[cinn] scratch memory of threads, which the device does not have");
      line(1, fmt::format("{0} {1} = ({0})({2} + {3});", pointer(x.dtype), buffer(static_cast<int>(b)),
                          x.role == BufferRole::kTemp ? "workspace" : "scratch", index(x.offset)));
    }
    const std::string p = atom(k.parallel_var);
    if (!d_.parallel()) {
      line(1, fmt::format("for (pd_i64 {0} = begin; {0} < end; ++{0}) {{", p));
      block(k.body, 2, false);
      line(1, "}");
    } else if (k.by_group) {  // as many groups as iterations: no thread turns away from a barrier
      line(1, fmt::format("pd_i64 {} = begin + {}, item = {};", p, d_.group_id, d_.local_id));
      block(k.body, 1, false);
    } else {
      line(1, fmt::format("pd_i64 {} = begin + {} * {} + {};", p, d_.group_id, d_.group_size, d_.local_id));
      line(1, fmt::format("if ({} < end) {{", p));
      block(k.body, 2, false);
      line(1, "}");
    }
    line(0, "}");
    kernel_ = nullptr;
  }

  // -- kernels whose iterations are computed by groups: loops marked vectorize are dealt out to the group's threads

  bool deals_out(const Stmt& s) const { return kernel_->by_group && d_.parallel() && s.vectorize; }

  // Accumulators that each thread has a part of.
  void find_dealt_out(const std::vector<Stmt>& body, bool inside) {
    for (const Stmt& s : body) {
      if (s.kind == StmtKind::kFor) find_dealt_out(s.body, inside || deals_out(s));
      if (s.kind == StmtKind::kUpdate && inside) dealt_out_.insert(s.acc);
    }
  }

  std::set<DType> shared_types(const std::vector<Stmt>& body) const {
    std::set<DType> out;
    for (const Stmt& s : body) {
      if (s.kind == StmtKind::kAcc && dealt_out_.count(s.acc)) out.insert(s.dtype);
      if (s.kind == StmtKind::kFor) out.merge(shared_types(s.body));
    }
    return out;
  }

  // All threads' parts of an accumulator, combined as a tree in shared memory; each thread ends with the whole.
  void combine_parts(const Stmt& acc, int depth) {
    const std::string shared = fmt::format("shared_{}", paddle::name_of(acc.dtype));
    const std::string both =
        spell(function_of(acc.reduce, acc.dtype), {shared + "[item]", shared + "[item + step]"}, acc.dtype, d_);
    line(depth, fmt::format("{}[item] = acc{};", shared, acc.acc));
    line(depth, d_.barrier + ";");
    line(depth, fmt::format("for (pd_i64 step = {}; step > 0; step /= 2) {{", d_.group_size / 2));
    line(depth + 1, fmt::format("if (item < step) {}[item] = {};", shared, both));
    line(depth + 1, d_.barrier + ";");
    line(depth, "}");
    line(depth, fmt::format("acc{} = {}[0];", acc.acc, shared));
    line(depth, d_.barrier + ";");
  }

  std::string index(const Index& e) const {
    if (e.terms().empty()) return "0";
    std::string out;
    for (const auto& [monomial, c] : e.terms()) {
      std::string term = monomial.empty() || c != 1 ? fmt::format("(pd_i64){}", c) : "";
      for (AtomId id : monomial) term += (term.empty() ? "" : " * ") + atom(id);
      out += (out.empty() ? "" : " + ") + term;
    }
    return "(" + out + ")";
  }

  std::string atom(AtomId id) const {
    const Atom& x = m_.pool.atom(id);
    switch (x.kind) {
      case AtomKind::kSymbol:
        return fmt::format("s{}", x.number);
      case AtomKind::kVar:
        return fmt::format("i{}", x.number);
      case AtomKind::kValue:
        return fmt::format("v{}", x.number);
      case AtomKind::kDiv:
        return fmt::format("pd_floor_div_i64({}, {})", index(x.a), index(x.b));
      case AtomKind::kMod:
        return fmt::format("pd_mod_i64({}, {})", index(x.a), index(x.b));
      case AtomKind::kMin:
        return fmt::format("pd_min_i64({}, {})", index(x.a), index(x.b));
      default:
        return fmt::format("pd_max_i64({}, {})", index(x.a), index(x.b));
    }
  }

  static std::string v(ValueId id) { return fmt::format("v{}", id); }

  std::string load(const Value& x) {
    const DType t = m_.buffers[x.buffer].dtype;
    std::string e = fmt::format("{}[{}]", buffer(x.buffer), index(x.index));
    if (t == DType::kBool) e = fmt::format("({} != 0)", e);
    if (t == DType::kBFloat16) e = fmt::format("pd_bf16_load({})", e);
    if (t == DType::kFloat16) e = fmt::format("pd_f16_load({})", e);
    return x.args.empty() ? e : fmt::format("({} ? {} : 0)", v(x.args[0]), e);
  }

  std::string value(const Value& x) {
    switch (x.op) {
      case ValueOp::kConst:
        return is_float(x.dtype) ? number(x.imm, x.dtype) : integer(x.integer, x.dtype);
      case ValueOp::kIndex:
        return index(x.index);
      case ValueOp::kLoad:
        return load(x);
      case ValueOp::kReadAcc:
        return fmt::format("acc{}", x.integer);
      case ValueOp::kCast: {
        if (x.integer) {
          const char* half = static_cast<DType>(x.integer) == DType::kBFloat16 ? "bf16" : "f16";
          return fmt::format("pd_{0}_load(pd_{0}_store({1}))", half, v(x.args[0]));
        }
        if (x.dtype == DType::kBool) return fmt::format("({} != 0)", v(x.args[0]));
        // Narrow integers wrap, as the conversion by way of a wide one does.
        if (is_float(m_.values[x.args[0]].dtype) && is_integer(x.dtype) && size_of(x.dtype) < 4)
          return fmt::format("({})(pd_i32){}", type_name(x.dtype, d_), v(x.args[0]));
        return fmt::format("({}){}", type_name(x.dtype, d_), v(x.args[0]));
      }
      case ValueOp::kFn: {
        std::vector<std::string> args;
        for (ValueId a : x.args) args.push_back(v(a));
        DType compute = x.dtype == DType::kBool ? m_.values[x.args[0]].dtype : x.dtype;
        return spell(x.fn, args, compute, d_);
      }
    }
    return {};
  }

  // dealt_out: inside of a loop in which each thread has elements of its own; elsewhere one thread writes for all.
  void store(const Stmt& s, int depth, bool dealt_out) {
    const DType t = m_.buffers[s.buffer].dtype;
    std::string e = v(s.value);
    if (t == DType::kBFloat16) e = fmt::format("pd_bf16_store({})", e);
    if (t == DType::kFloat16) e = fmt::format("pd_f16_store({})", e);
    const char* one = kernel_->by_group && d_.parallel() && !dealt_out ? "if (item == 0) " : "";
    line(depth, fmt::format("{}{}[{}] = {};", one, buffer(s.buffer), index(s.index), e));
  }

  void let(const Stmt& s, int depth) {
    const Value& x = m_.values[s.value];
    if (x.op == ValueOp::kReadAcc && d_.parallel() && dealt_out_.count(static_cast<int>(x.integer)))
      combine_parts(shared_.at(static_cast<int>(x.integer)), depth);
    line(depth, fmt::format("{} v{} = {};", type_name(x.dtype, d_), s.value, value(x)));
  }

  void block(const std::vector<Stmt>& body, int depth, bool dealt_out) {
    for (const Stmt& s : body) switch (s.kind) {
        case StmtKind::kLet:
          let(s, depth);
          break;
        case StmtKind::kStore:
          store(s, depth, dealt_out);
          break;
        case StmtKind::kPrefetch:
          break;
        case StmtKind::kAcc: {
          const Value x = identity_of(s.reduce, s.dtype);
          shared_[s.acc] = s;
          line(depth, fmt::format("{} acc{} = {};", type_name(s.dtype, d_), s.acc,
                                  is_float(s.dtype) ? number(x.imm, s.dtype) : integer(x.integer, s.dtype)));
          break;
        }
        case StmtKind::kUpdate: {
          const std::string acc = fmt::format("acc{}", s.acc);
          const DType t = m_.values[s.value].dtype;
          line(depth, fmt::format("{} = {};", acc, spell(function_of(s.reduce, t), {v(s.value), acc}, t, d_)));
          break;
        }
        case StmtKind::kFor: {
          const bool deal = deals_out(s);
          line(depth, fmt::format("for (pd_i64 {0} = {1}; {0} < {2}; {0} += {3}) {{", atom(s.var), deal ? "item" : "0",
                                  index(s.extent), deal ? d_.group_size : 1));
          block(s.body, depth + 1, dealt_out || deal);
          line(depth, "}");
        }
      }
  }

  const Module& m_;
  const Dialect& d_;
  std::string out_;
  const Kernel* kernel_ = nullptr;
  std::set<int> dealt_out_;
  std::map<int, Stmt> shared_;  // accumulators by number, as they were declared
};

}  // namespace

std::string print_c(const Module& module, const Dialect& dialect) {
  return whole_source(print_kernels(module, dialect, ""), dialect);
}

std::string print_kernels(const Module& module, const Dialect& dialect, const std::string& prefix) {
  return Printer(module, dialect).run(prefix);
}

std::string whole_source(const std::string& kernels, const Dialect& dialect) {
  return dialect.prelude + helpers_for(kernels, dialect) + kernels;
}

}  // namespace paddle::cinn
