#include <bit>
#include <cmath>

#include "base/error.h"
#include "pir/constant.h"
#include "pir/serialize/bytes.h"
#include "spmd/attr_text.h"

namespace paddle::pir {

ProgramWriter::ProgramWriter(std::span<const Dim> known) : symbols_(known.begin(), known.end()) {
  for (Dim d : known) dims_.emplace(d.bits(), dims_.size());
}

// The number of something; at its first occurrence what it is follows.
template <class Map, class Define>
void ProgramWriter::interned(Map& table, typename Map::key_type key, Define&& define) {
  const auto [it, fresh] = table.try_emplace(std::move(key), table.size());
  out_.size(it->second);
  if (fresh) define();
}

void ProgramWriter::name(std::string_view s) {
  interned(names_, std::string(s), [&] { out_.text(s); });
}

// 0 and a constant, else the expression's number from 1.
void ProgramWriter::dim(Dim d) {
  if (d.is_const()) {
    out_.number(0);
    return out_.number(d.bits());
  }
  const DimNode& n = node_of(d);
  const auto [it, fresh] = dims_.try_emplace(d.bits(), dims_.size());
  out_.size(it->second + 1);
  if (!fresh) return;
  out_.number(n.op);
  if (n.op == DimOp::kSymbol) {
    symbols_.push_back(d);
    return out_.number(n.seen ? n.hint : 0);
  }
  out_.size(n.operands.size());
  for (Dim o : n.operands) dim(o);
}

void ProgramWriter::shape(const Shape& s) {
  out_.size(s.size());
  for (Dim d : s) dim(d);
}

void ProgramWriter::elements(DType dtype, const Sizes& shape, const void* data) {
  size_t bytes = size_of(dtype);
  out_.number(dtype);
  out_.size(shape.size());
  for (int64_t s : shape) {
    out_.number(s);
    bytes *= static_cast<size_t>(s);
  }
  out_.text({static_cast<const char*>(data), bytes});
}

void ProgramWriter::dense(const DenseData& d) { elements(d.dtype, d.shape, d.bytes.data()); }

void ProgramWriter::tensor(const Tensor& t) {
  if (!t.is_dense() || !t.place().is_cpu() || !t.is_contiguous()) return dense(dense_of(t));
  elements(t.dtype(), static_sizes(view(t.shape())), t.data());
}

void ProgramWriter::type(Type t) {
  interned(types_, t, [&] {
    out_.number(t.kind());
    if (!t) return;
    const TypeData& d = *t.data();
    out_.number(d.dtype);
    out_.number(d.layout);
    shape(d.shape);
    out_.size(d.elements.size());
    for (Type e : d.elements) type(e);
    out_.text(d.dist ? spmd::encode(*d.dist) : std::string());
  });
}

void ProgramWriter::attribute(const Attribute& a) {
  interned(attributes_, a, [&] {
    out_.number(a.kind());
    contents(a);
  });
}

void ProgramWriter::contents(const Attribute& a) {
  switch (a.kind()) {
    case AttrKind::kNone:
      return;
    case AttrKind::kBool:
    case AttrKind::kInt32:
    case AttrKind::kInt64:
      return out_.number(a.as_int());
    case AttrKind::kFloat:
      // The text keeps a NaN's payload.
      if (std::isnan(a.as_double())) return out_.text(a.str());
      out_.text({});
      return out_.real(a.as_double());
    case AttrKind::kDouble:
      return out_.real(a.as_double());
    case AttrKind::kComplex64:
    case AttrKind::kComplex128:
      out_.real(a.as_complex().real());
      return out_.real(a.as_complex().imag());
    case AttrKind::kString:
    case AttrKind::kSymbol:
      return out_.text(a.as_string());
    case AttrKind::kDType:
      return out_.number(a.as_dtype());
    case AttrKind::kPlace:
      out_.number(int64_t{a.place_undefined()});
      out_.number(int64_t{a.as_place().kind});
      return out_.number(int64_t{a.as_place().index});
    case AttrKind::kLayout:
      return out_.number(a.as_layout());
    case AttrKind::kType:
      return type(a.as_type());
    case AttrKind::kDim:
      return dim(a.as_dim());
    case AttrKind::kIntArray:
      return shape(a.as_ints());
    case AttrKind::kArray:
      out_.size(a.items().size());
      for (const Attribute& i : a.items()) attribute(i);
      return;
    case AttrKind::kScalar:
      return attribute(a.inner());
    case AttrKind::kDict:
      out_.size(a.keys().size());
      for (size_t i = 0; i < a.keys().size(); ++i) {
        name(a.keys()[i]);
        attribute(a.values()[i]);
      }
      return;
    case AttrKind::kDist:
      return out_.text(spmd::encode(a.as_dist()));
    case AttrKind::kDense:
      return dense(a.as_dense());
  }
}

void ProgramWriter::attributes(const AttrMap& attrs) {
  out_.size(attrs.size());
  for (const NamedAttr& a : attrs) {
    name(a.name.str());
    attribute(a.value);
  }
}

void ProgramWriter::location(Location l) {
  interned(locations_, std::bit_cast<uintptr_t>(l), [&] {
    const bool made_by_pass = !l.pass().empty();
    out_.number(int64_t{!l ? 0 : made_by_pass ? 1 : 2});
    if (!l) return;
    if (made_by_pass) {
      name(l.pass());
      return location(l.source());
    }
    name(l.file());
    out_.number(l.line());
    name(l.function());
    location(l.caller());
  });
}

void ProgramWriter::value(Value v) {
  if (!v) return out_.number(0);
  auto it = values_.find(v);
  PD_INVARIANT(it != values_.end());
  out_.size(it->second + 1);
}

void ProgramWriter::operation(const Operation& op) {
  name(op.name());
  location(op.loc());
  out_.size(op.num_operands());
  for (const OpOperand& o : op.op_operands()) value(o.get());
  attributes(op.attrs());
  out_.size(op.num_results());
  for (size_t i = 0; i < op.num_results(); ++i) type(op.result(i).type());
  out_.size(op.num_regions());
  for (size_t i = 0; i < op.num_regions(); ++i) region(op.region(i));
  for (size_t i = 0; i < op.num_results(); ++i) values_.emplace(op.result(i), values_.size());
}

void ProgramWriter::block(const Block& b) {
  out_.size(b.num_args());
  for (size_t i = 0; i < b.num_args(); ++i) {
    type(b.arg(i).type());
    attributes(b.arg_attrs(i));
    values_.emplace(b.arg(i), values_.size());
  }
  out_.size(b.size());
  for (Operation& op : b) operation(op);
}

void ProgramWriter::region(const Region& r) {
  out_.size(r.size());
  for (size_t i = 0; i < r.size(); ++i) block(r.block(i));
}

void ProgramWriter::program(const Program& program, const std::function<bool(const std::string&)>& keeps) {
  values_.clear();
  attributes(program.module().attrs());
  block(program.block());
  std::vector<std::string> kept;
  for (const auto& [name, tensor] : program.parameters())
    if (keeps && keeps(name)) kept.push_back(name);
  out_.size(kept.size());
  for (const std::string& k : kept) {
    out_.text(k);
    tensor(program.parameter(k));
  }
}

}  // namespace paddle::pir
