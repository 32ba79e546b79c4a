// A nest as nodes of the group. Every value has the same dimensions in the same order: those that `...` stands for,
// then one for each index of the nest, of size 1 where the value doesn't vary.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "base/error.h"
#include "cinn/group/loops.h"
#include "cinn/group/nest.h"

namespace paddle::cinn {
namespace {

using pir::Operation;
using scalar::Fn;

// A value on its way: a node, or a number that takes the type of what it meets.
struct Item {
  int node = -1;
  DType type = DType::kUndefined;  // kUndefined: a number
  double number = 0;
  bool is_number() const { return node < 0; }
};

// What a reference says about one dimension of its tensor.
struct Place {
  enum Kind { kRest, kIndex, kComputed } kind;
  size_t at = 0;                   // kRest, kIndex: position among the common dimensions
  const NestTerm* term = nullptr;  // kComputed
};

DType wide(DType t) { return t == DType::kBool ? Nest::kInt : compute_type(t); }

DType common_type(const Item& a, const Item& b) {
  if (a.is_number() && b.is_number()) {
    const bool whole = a.number == std::trunc(a.number) && b.number == std::trunc(b.number);
    return whole ? Nest::kInt : DType::kFloat32;
  }
  if (a.is_number() || b.is_number()) {
    const DType t = a.is_number() ? b.type : a.type;
    const double x = a.is_number() ? a.number : b.number;
    return !is_float(t) && (x != std::trunc(x)) ? DType::kFloat32 : t;
  }
  if (a.type == b.type) return a.type;
  const DType x = wide(a.type), y = wide(b.type);
  if (x == DType::kFloat64 || y == DType::kFloat64) return DType::kFloat64;
  return is_float(x) || is_float(y) ? DType::kFloat32 : Nest::kInt;
}

Fn function_named(const std::string& name) {
  for (int i = 0; i < static_cast<int>(Fn::kCount); ++i)
    if (name == scalar::info(static_cast<Fn>(i)).name) return static_cast<Fn>(i);
  throw InternalError("no scalar function " + name);
}

class Reader {
 public:
  Reader(Translator& t, const Operation& op) : e_(t), op_(op) {}

  void run(const std::vector<NestTerm>& nest) {
    for (const NestTerm& s : nest) {
      find_rest(s);
      find_indices(s);
    }
    extents_.assign(index_.size(), Index(1));
    for (const NestTerm& s : nest) find_extents(s);
    for (const NestTerm& s : nest) {
      if (s.word == "let")
        values_[s.items[0].word] = eval(s.items[1]);
      else
        set(s);
    }
  }

 private:
  // -- which dimensions there are

  pir::Value tensor(std::string_view name) const {
    for (size_t r = 0; r < op_.def().results.size(); ++r)
      if (op_.def().results[r].name == name) return op_.result(r);
    return op_.operand(name);
  }

  // The places between the brackets after a tensor's name.
  static std::span<const NestTerm> places(const NestTerm& t) {
    return t.word == "set" ? std::span<const NestTerm>(t.items[1].items)
                           : std::span<const NestTerm>(t.items).subspan(1);
  }

  bool flattened(const NestTerm& along, size_t rank) const {
    return rank == 0 || (along.items.size() > 2 && flag(op_, along.items[2].word));
  }

  Shape shape_for(const NestTerm& reference) const {
    const Shape s = e_.t.shape_of(tensor(reference.items[0].word));
    for (const NestTerm& p : places(reference))
      if (p.word == "along" && flattened(p, s.size())) return {element_count(s)};
    return s;
  }

  // How many dimensions `...` are in this reference.
  static size_t rest_of(std::span<const NestTerm> list, size_t rank) {
    size_t named = 0;
    bool any = false;
    for (const NestTerm& p : list) {
      const bool along = p.word == "along";
      any |= along || p.word == "...";
      named += along || p.word != "...";
    }
    check(any ? rank >= named : rank == named, ErrorKind::kNotImplemented,
          "[cinn] a nest for {} dimensions or more, got {}", named, rank);
    return rank - named;
  }

  template <class Visit>
  static void each_reference(const NestTerm& t, Visit&& visit) {
    if (t.word == "read" || t.word == "set") visit(t);
    for (const NestTerm& i : t.items) each_reference(i, visit);
  }

  bool reduces_axis(const NestTerm& reference) const {  // out[:axis], whose own shape may have lost the dimension
    return reference.word == "set" && places(reference).size() == 1 && places(reference)[0].word == "along" &&
           places(reference)[0].items[0].word == "-";
  }

  void find_rest(const NestTerm& s) {
    each_reference(s, [&](const NestTerm& r) {
      if (reduces_axis(r)) return;
      const Shape shape = shape_for(r);
      const auto list = places(r);
      const size_t n = rest_of(list, shape.size());
      if (n <= rest_.size()) return;
      rest_.clear();
      size_t d = 0;
      for (const NestTerm& p : list) {
        if (p.word == "along") {
          rest_ = shape;
          rest_.erase(rest_.begin() + static_cast<std::ptrdiff_t>(axis(p, shape.size())));
          return;
        }
        if (p.word == "...")
          for (size_t k = 0; k < n; ++k) rest_.push_back(shape[d++]);
        else
          ++d;
      }
    });
  }

  void find_indices(const NestTerm& t) {
    if (t.word == "i" && t.is_list) index_.try_emplace(t.items[0].word, index_.size());
    if (t.word == "reduce")
      for (const NestTerm& name : t.items[1].items)
        if (name.word != "...") index_.try_emplace(name.word, index_.size());
    for (const NestTerm& i : t.items) find_indices(i);
  }

  void find_extents(const NestTerm& s) {
    each_reference(s, [&](const NestTerm& r) {
      if (reduces_axis(r)) return;
      const Shape shape = shape_for(r);
      const std::vector<Place> where = resolve(r, shape);
      for (size_t d = 0; d < shape.size(); ++d)
        if (where[d].kind == Place::kIndex && !shape[d].is(1)) extents_[where[d].at - rest_.size()] = shape[d];
    });
  }

  size_t axis(const NestTerm& along, size_t rank) const {
    if (flattened(along, rank)) return 0;
    return static_cast<size_t>(e_.t.axis(op_, along.items[1].word, static_cast<int>(rank)));
  }

  size_t position(const std::string& index) const { return rest_.size() + index_.at(index); }
  size_t rank() const { return rest_.size() + index_.size(); }

  // One place for each dimension of the tensor.
  std::vector<Place> resolve(const NestTerm& reference, const Shape& shape) const {
    const auto list = places(reference);
    const size_t n = rest_of(list, shape.size());
    size_t rest = rest_.size() - n;  // aligned at the last
    std::vector<Place> out;
    auto one = [&](const NestTerm& p) {
      if (p.word == "i")
        out.push_back({Place::kIndex, position(p.items[0].word)});
      else
        out.push_back({Place::kComputed, 0, &p});
    };
    for (const NestTerm& p : list) {
      if (p.word == "along") {
        const size_t a = axis(p, shape.size());
        for (size_t d = 0; d < shape.size(); ++d)
          if (d == a)
            one(p.items[0]);
          else
            out.push_back({Place::kRest, rest++});
      } else if (p.word == "...") {
        for (size_t k = 0; k < n; ++k) out.push_back({Place::kRest, rest++});
      } else {
        one(p);
      }
    }
    return out;
  }

  const Index& extent(size_t at) const { return at < rest_.size() ? rest_[at] : extents_[at - rest_.size()]; }

  Shape ones() const { return Shape(rank(), Index(1)); }

  // -- values

  int node_of(const Item& v, DType type) {
    if (v.is_number())
      return is_float(type) ? e_.g.constant(type, v.number) : e_.g.constant_int(type, static_cast<int64_t>(v.number));
    return e_.g.cast(v.node, type);
  }

  int iota(size_t at) {
    Shape s = ones();
    s[at] = extent(at);
    return e_.iota(s, at);
  }

  Item eval(const NestTerm& t) {
    if (t.word == "int" || t.word == "number")
      return {-1, DType::kUndefined, std::strtod(t.items[0].word.c_str(), nullptr)};
    if (t.word == "i") return {iota(position(t.items[0].word)), Nest::kInt};
    if (t.word == "value") return values_.at(t.items[0].word);
    if (t.word == "arg") return argument(t.items[0].word);
    if (t.word == "size") return size(t);
    if (t.word == "read") return read(t);
    if (t.word == "reduce") return reduce(t);
    if (t.word == "if") return choose(t);
    return function(t);
  }

  Item argument(const std::string& name) {
    pir::Attribute a = op_.attr(name);
    if (a && a.kind() == pir::AttrKind::kBool) return {-1, DType::kUndefined, a.as_bool() ? 1.0 : 0.0};
    if (a && (a.kind() == pir::AttrKind::kInt32 || a.kind() == pir::AttrKind::kInt64))
      return {-1, DType::kUndefined, static_cast<double>(a.as_int())};
    if (a && (a.kind() == pir::AttrKind::kFloat || a.kind() == pir::AttrKind::kDouble))
      return {-1, DType::kUndefined, a.as_double()};
    return {e_.g.reshape(e_.t.scalar(op_, name, Nest::kInt), ones()), Nest::kInt};
  }

  Item size(const NestTerm& t) {
    const Shape s = e_.t.shape_of(tensor(t.items[0].word));
    const std::string& dim = t.items[1].word;
    const int rank = static_cast<int>(s.size());
    const bool named = std::isalpha(static_cast<unsigned char>(dim[0]));
    const int d = named ? e_.t.axis(op_, dim, rank) : static_cast<int>(std::strtol(dim.c_str(), nullptr, 10));
    return {e_.g.reshape(e_.count(s.at(static_cast<size_t>(d < 0 ? d + rank : d))), ones()), Nest::kInt};
  }

  Item read(const NestTerm& t) {
    const pir::Value v = tensor(t.items[0].word);
    if (!v) no_nest(op_, "an operand is absent");
    const Shape shape = shape_for(t);
    const int x = e_.g.reshape(e_.t.node(v), shape);
    const std::vector<Place> where = resolve(t, shape);
    std::set<size_t> used;
    bool plain = true;
    for (const Place& p : where) plain &= p.kind != Place::kComputed && used.insert(p.at).second;
    return {plain ? moved(x, where) : gathered(x, shape, where), v.dtype()};
  }

  // Dimensions brought into the common order.
  int moved(int x, const std::vector<Place>& where) {
    std::vector<int> order;
    for (size_t d = 0; d < where.size(); ++d) order.push_back(static_cast<int>(d));
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return where[static_cast<size_t>(a)].at < where[static_cast<size_t>(b)].at; });
    const Shape from = e_.shape(x);
    Shape s = ones();
    for (size_t d = 0; d < where.size(); ++d) s[where[d].at] = from[d];
    if (!std::is_sorted(order.begin(), order.end())) x = e_.g.transpose(x, order);
    return e_.g.reshape(x, s);
  }

  // Elements at computed indices: by their numbers in row-major order.
  int gathered(int x, const Shape& shape, const std::vector<Place>& where) {
    int flat = -1;
    for (size_t d = 0; d < shape.size(); ++d) {
      int at;
      if (where[d].kind == Place::kComputed)
        at = node_of(eval(*where[d].term), Nest::kInt);
      else
        at = shape[d].is(1) ? e_.number(0) : iota(where[d].at);
      flat = flat < 0 ? at : e_.add(e_.mul(flat, e_.count(shape[d])), at);
    }
    if (e_.shape(flat).size() != rank()) flat = e_.g.broadcast(flat, ones());
    return e_.g.gather(e_.flatten(x), flat, 0);
  }

  Item reduce(const NestTerm& t) {
    static const std::map<std::string, ReduceKind> kinds = {{"sum", ReduceKind::kSum}, {"prod", ReduceKind::kProd},
                                                            {"max", ReduceKind::kMax}, {"min", ReduceKind::kMin},
                                                            {"any", ReduceKind::kAny}, {"all", ReduceKind::kAll}};
    const ReduceKind kind = kinds.at(t.items[0].word);
    std::vector<int> dims;
    for (const NestTerm& name : t.items[1].items) {
      if (name.word == "...")
        for (size_t d = 0; d < rest_.size(); ++d) dims.push_back(static_cast<int>(d));
      else
        dims.push_back(static_cast<int>(position(name.word)));
    }
    std::sort(dims.begin(), dims.end());
    const Item v = eval(t.items[2]);
    const bool truth = kind == ReduceKind::kAny || kind == ReduceKind::kAll;
    const bool extreme = kind == ReduceKind::kMax || kind == ReduceKind::kMin;
    const DType type = truth ? DType::kBool : v.is_number() ? Nest::kInt : extreme ? v.type : wide(v.type);
    int x = node_of(v, type);
    Shape full = e_.shape(x);
    if (full.size() < rank()) full = ones();
    for (int d : dims) full[static_cast<size_t>(d)] = extent(static_cast<size_t>(d));
    return {e_.g.reduce(kind, e_.g.broadcast(x, full), dims, true, type), type};
  }

  Item choose(const NestTerm& t) {
    const Item c = eval(t.items[0]);
    if (c.is_number()) return eval(t.items[c.number != 0 ? 1 : 2]);
    const Item a = eval(t.items[1]), b = eval(t.items[2]);
    const DType type = common_type(a, b);
    return {e_.where(node_of(c, DType::kBool), node_of(a, type), node_of(b, type), type), type};
  }

  Item function(const NestTerm& t) {
    const Fn fn = function_named(t.word);
    std::vector<Item> args;
    for (const NestTerm& a : t.items) args.push_back(eval(a));
    if (fn == Fn::logical_and || fn == Fn::logical_or || fn == Fn::logical_not) return truth(fn, args);
    if (fn == Fn::neg && args[0].is_number()) return {-1, DType::kUndefined, -args[0].number};
    DType type = args.size() > 1 ? common_type(args[0], args[1]) : args[0].is_number() ? Nest::kInt : args[0].type;
    type = wide(type);
    std::vector<int> nodes;
    for (const Item& a : args) nodes.push_back(node_of(a, type));
    const DType result = scalar::info(fn).boolean ? DType::kBool : type;
    return {e_.g.pointwise(fn, std::move(nodes), result, type), result};
  }

  // What arguments decide is decided here.
  Item truth(Fn fn, const std::vector<Item>& args) {
    if (fn == Fn::logical_not) {
      if (args[0].is_number()) return {-1, DType::kUndefined, args[0].number == 0 ? 1.0 : 0.0};
      return {e_.g.pointwise(fn, {node_of(args[0], DType::kBool)}, DType::kBool, DType::kInt32), DType::kBool};
    }
    const bool is_and = fn == Fn::logical_and;
    for (int k = 0; k < 2; ++k)
      if (args[k].is_number()) return (args[k].number != 0) == is_and ? args[1 - k] : args[k];
    const int a = node_of(args[0], DType::kBool), b = node_of(args[1], DType::kBool);
    return {is_and ? e_.both(a, b) : e_.either(a, b), DType::kBool};
  }

  // -- results

  void set(const NestTerm& s) {
    const pir::Value out = tensor(s.items[0].word);
    if (!out || !out.type()) return;  // nobody wants it
    const Item v = eval(s.items[2]);
    int x = node_of(v, out.dtype());
    if (e_.shape(x).size() < rank()) x = e_.g.broadcast(x, ones());
    std::vector<Place> where;
    if (reduces_axis(s)) {
      for (size_t d = 0; d < rest_.size(); ++d) where.push_back({Place::kRest, d});
    } else {
      where = resolve(s, shape_for(s));
    }
    Shape full = ones();
    for (const Place& p : where) full[p.at] = extent(p.at);
    x = e_.g.broadcast(x, full);
    std::vector<int> order;
    for (const Place& p : where) order.push_back(static_cast<int>(p.at));
    for (size_t d = 0; d < rank(); ++d)
      if (std::find(order.begin(), order.end(), static_cast<int>(d)) == order.end())
        order.push_back(static_cast<int>(d));
    if (!std::is_sorted(order.begin(), order.end())) x = e_.g.transpose(x, order);
    e_.t.set(out, x);
  }

  Nest e_;
  const Operation& op_;
  Shape rest_;                           // what `...` stands for
  std::map<std::string, size_t> index_;  // name -> position after the rest
  std::vector<Index> extents_;           // by position
  std::map<std::string, Item> values_;
};

}  // namespace

void translate_nest(Translator& t, const Operation& op, const std::vector<NestTerm>& nest) { Reader(t, op).run(nest); }

}  // namespace paddle::cinn
