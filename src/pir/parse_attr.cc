#include "pir/parse_attr.h"

#include <optional>

#include "pir/text.h"
#include "spmd/placement.h"

namespace paddle::pir {
namespace {

// Errors of the parts we call (sizes, meshes, places) get the position in this text.
template <class F>
auto located(Reader& in, size_t start, F&& f) {
  try {
    return f();
  } catch (const Error& e) {
    in.error_at(start, e.kind(), e.what());
  }
}

Dim parse_size(Reader& in, std::string_view stops) {
  size_t start = in.position();
  std::string_view text = in.until(stops);
  return located(in, start, [&] { return parse_dim(text); });
}

std::vector<int64_t> integers(Reader& in) {
  std::vector<int64_t> r;
  in.expect("[");
  while (!in.take("]")) {
    if (!r.empty()) in.expect(",");
    r.push_back(in.integer());
  }
  return r;
}

spmd::Placement placement(Reader& in) {
  std::string_view kind = in.word();
  if (kind == "Replicate") return spmd::Replicate();
  in.expect("(");
  spmd::Placement p;
  if (kind == "Shard") {
    int64_t dim = in.integer();
    if (dim < 0 || dim > 1000) in.bad("a dimension of the tensor");
    p = spmd::Shard(static_cast<int>(dim));
  } else if (kind == "Partial") {
    std::string_view name = in.word();
    std::optional<spmd::PartialKind> found;
    for (int k = 0; k <= static_cast<int>(spmd::PartialKind::kAll); ++k)
      if (spmd::name_of(static_cast<spmd::PartialKind>(k)) == name) found = static_cast<spmd::PartialKind>(k);
    if (!found) in.bad("a kind of reduction");
    p = spmd::Partial(*found);
  } else {
    in.bad("Replicate, Shard or Partial");
  }
  in.expect(")");
  return p;
}

spmd::DistAttr parse_dist(Reader& in) {
  size_t start = in.position();
  in.expect("{");
  in.expect("mesh:");
  auto shape = integers(in);
  in.expect(",");
  in.expect("ranks:");
  auto ranks = integers(in);
  in.expect(",");
  in.expect("names:");
  in.expect("[");
  std::vector<std::string> names;
  while (!in.take("]")) {
    if (!names.empty()) in.expect(",");
    names.push_back(in.string());
  }
  in.expect(",");
  in.expect("placements:");
  in.expect("[");
  spmd::DistAttr attr;
  while (!in.take("]")) {
    if (!attr.placements.empty()) in.expect(",");
    attr.placements.push_back(placement(in));
  }
  in.expect("}");
  if (attr.placements.size() > shape.size()) in.error_at(start, ErrorKind::kValue, "more placements than mesh axes");
  attr.mesh = located(in, start, [&] { return spmd::ProcessMesh(shape, ranks, names); });
  return attr;
}

// <4xS0x(2*S0 + 1)xf32, NHWC  without the closing bracket.
void tensor_body(Reader& in, DType* dtype, Shape* shape, Layout* layout) {
  in.expect("<");
  *layout = Layout::kNCHW;
  for (;;) {
    char c = in.peek();
    if (in.at_integer()) {
      int64_t v = in.integer();
      if (v < -1) in.bad("an extent of at least -1");
      shape->push_back(v);
    } else if (c == '(') {
      size_t start = in.position();
      in.advance();
      std::string_view text = in.until("");
      if (!in.take_raw(')')) in.bad("\")\"");
      shape->push_back(located(in, start, [&] { return parse_dim(text); }));
    } else if (c == 'S' && std::isdigit(static_cast<unsigned char>(in.peek_raw(1)))) {
      std::string name = "S";
      for (in.advance(); std::isdigit(static_cast<unsigned char>(in.peek_raw())); in.advance()) name += in.peek_raw();
      shape->push_back(symbol_by_name(name));
    } else {
      break;
    }
    if (!in.take_raw('x')) in.bad("\"x\" after an extent");
  }
  std::string_view name = in.peek_word();
  *dtype = dtype_from_short_name(name);
  if (*dtype == DType::kUndefined && name != "undefined") in.bad("a dtype such as f32 or i64");
  in.word();
  // A layout is one of a few words; dist types go on with something else after the comma.
  size_t back = in.position();
  if (!in.take(",")) return;
  std::string_view rest = in.until(",>{");
  while (!rest.empty() && rest.back() == ' ') rest.remove_suffix(1);
  if (!layout_from_name(rest, layout)) in.advance(back - in.position());
}

Type parse_dist_type(Reader& in) {
  size_t start = in.position();
  DType dtype;
  Shape shape;
  Layout layout;
  tensor_body(in, &dtype, &shape, &layout);
  in.expect(",");
  spmd::DistAttr attr = parse_dist(in);
  in.expect(",");
  in.expect("local");
  in.expect("[");
  Shape local;
  while (!in.take("]")) {
    if (!local.empty()) in.expect(",");
    local.push_back(parse_size(in, ",]"));
  }
  in.expect(">");
  if (local.size() != shape.size()) in.error_at(start, ErrorKind::kValue, "the local shape has another rank");
  for (const spmd::Placement& p : attr.placements)
    if (p.is_shard() && static_cast<size_t>(p.dim) >= shape.size())
      in.error_at(start, ErrorKind::kValue, fmt::format("Shard({}) of a tensor of rank {}", p.dim, shape.size()));
  return Type::dist(Type::tensor(dtype, shape, layout), attr, local);
}

bool starts_type(std::string_view w) {
  return w == "tensor" || w == "vec" || w == "scalar" || w == "dist_tensor" || w == "coo_tensor" || w == "csr_tensor" ||
         w == "selected_rows" || w == "tensor_array" || w == "stack" || w == "inlet" || w == "outlet" || w == "none";
}

Attribute parse_dense(Reader& in) {
  size_t start = in.position();
  in.expect("<");
  Type t = parse_type(in);
  if (!t.is_tensor() || !is_static(view(t.shape())) || size_of(t.dtype()) == 0)
    in.error_at(start, ErrorKind::kValue, "expected a dense tensor type with constant extents");
  DenseData d;
  d.dtype = t.dtype();
  for (Dim x : t.shape()) {
    if (x.value() < 0) in.error_at(start, ErrorKind::kValue, "expected extents of at least 0");
    d.shape.push_back(x.value());
  }
  in.expect(",");
  in.expect("0x");
  auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  for (;;) {
    int hi = digit(in.peek_raw()), lo = hi < 0 ? -1 : digit(in.peek_raw(1));
    if (lo < 0) break;
    d.bytes.push_back(static_cast<std::byte>(16 * hi + lo));
    in.advance(2);
  }
  in.expect(">");
  Dim n = located(in, start, [&] { return numel(view(t.shape())); });
  if (static_cast<uint64_t>(n.value()) > d.bytes.size() ||
      d.bytes.size() != size_of(d.dtype) * static_cast<size_t>(n.value()))
    in.error_at(start, ErrorKind::kValue, fmt::format("{} doesn't have {} bytes", t.str(), d.bytes.size()));
  return Attribute::dense(std::move(d));
}

Attribute parse_ints(Reader& in) {
  Shape s;
  in.expect("[");
  while (!in.take("]")) {
    if (!s.empty()) in.expect(",");
    s.push_back(parse_size(in, ",]"));
  }
  return Attribute::ints(view(s));
}

// After "(Kind)".
Attribute parse_typed(Reader& in, std::string_view kind, size_t start) {
  if (kind == "Int32") {
    int64_t v = in.integer();
    if (v < INT32_MIN || v > INT32_MAX) in.error_at(start, ErrorKind::kValue, "the number doesn't fit 32 bits");
    return Attribute::i32(static_cast<int32_t>(v));
  }
  if (kind == "Int64") return Attribute::i64(in.integer());
  if (kind == "Float") return Attribute::f32(in.real32());
  if (kind == "Double") return Attribute::f64(in.real());
  if (kind == "Dim") return Attribute::dim(parse_size(in, ",]}"));
  if (kind == "IntArray") return parse_ints(in);
  if (kind == "Complex64" || kind == "Complex128") {
    in.expect("(");
    bool single = kind == "Complex64";
    double re = single ? in.real32() : in.real();
    in.expect(",");
    double im = single ? in.real32() : in.real();
    in.expect(")");
    return single ? Attribute::c64({static_cast<float>(re), static_cast<float>(im)}) : Attribute::c128({re, im});
  }
  if (kind == "Scalar") {
    Attribute a = parse_attribute(in);
    bool number = (a.kind() >= AttrKind::kBool && a.kind() <= AttrKind::kComplex128) || a.kind() == AttrKind::kDim;
    if (!number) in.error_at(start, ErrorKind::kValue, "a Scalar wraps a number");
    return Attribute::scalar(a);
  }
  in.error_at(start, ErrorKind::kValue, fmt::format("unknown kind of attribute ({})", kind));
}

Attribute parse_list(Reader& in) {
  size_t start = in.position();
  in.expect("[");
  bool ints = in.at_integer();
  if (!ints && in.at_word()) {
    std::string_view w = in.peek_word();
    ints = !is_reserved(w);
  }
  if (!ints && in.peek() == '-') ints = true;
  if (ints) {
    in.advance(start - in.position());  // back to the bracket
    return parse_ints(in);
  }
  std::vector<Attribute> items;
  while (!in.take("]")) {
    if (!items.empty()) in.expect(",");
    items.push_back(parse_attribute(in));
  }
  return Attribute::array(items);
}

Attribute parse_place(Reader& in) {
  size_t start = in.position();
  in.expect("(");
  std::string text(in.until(")"));
  in.expect(")");
  if (text == "undefined:0") return Attribute::undefined_place();
  return located(in, start, [&] { return Attribute::place(place_from_string(text)); });
}

Attribute parse_word(Reader& in) {
  size_t start = in.position();
  std::string_view w = in.peek_word();
  if (starts_type(w)) return Attribute::type(parse_type(in));
  w = in.word();
  if (w == "true") return Attribute::boolean(true);
  if (w == "false") return Attribute::boolean(false);
  if (w == "None") return {};
  if (w == "Undefined") return Attribute::dtype(DType::kUndefined);
  if (w == "Place") return parse_place(in);
  if (w == "dist") return Attribute::dist(parse_dist(in));
  if (w == "dense") return parse_dense(in);
  if (w == "Layout") {
    in.expect("(");
    Layout layout;
    if (!layout_from_name(in.string(), &layout)) in.error_at(start, ErrorKind::kValue, "unknown layout");
    in.expect(")");
    return Attribute::layout(layout);
  }
  DType t = dtype_from_name(w);
  if (t == DType::kUndefined) in.error_at(start, ErrorKind::kValue, fmt::format("unknown attribute \"{}\"", w));
  return Attribute::dtype(t);
}

}  // namespace

Type parse_type(Reader& in) {
  Reader::Deeper deeper(in);
  size_t start = in.position();
  std::string_view w = in.word();
  if (w == "none") return {};
  if (w == "stack") return Type::marker(TypeKind::kStack);
  if (w == "inlet") return Type::marker(TypeKind::kInlet);
  if (w == "outlet") return Type::marker(TypeKind::kOutlet);
  if (w == "dist_tensor") return parse_dist_type(in);
  if (w == "vec") {
    std::vector<Type> items;
    in.expect("[");
    while (!in.take("]")) {
      if (!items.empty()) in.expect(",");
      items.push_back(parse_type(in));
    }
    return Type::vector(items);
  }
  TypeKind kind;
  if (w == "tensor")
    kind = TypeKind::kTensor;
  else if (w == "selected_rows")
    kind = TypeKind::kSelectedRows;
  else if (w == "coo_tensor")
    kind = TypeKind::kSparseCoo;
  else if (w == "csr_tensor")
    kind = TypeKind::kSparseCsr;
  else if (w == "tensor_array")
    kind = TypeKind::kTensorArray;
  else if (w == "scalar")
    kind = TypeKind::kScalar;
  else
    in.error_at(start, ErrorKind::kValue, fmt::format("unknown type \"{}\"", w));
  DType dtype;
  Shape shape;
  Layout layout;
  tensor_body(in, &dtype, &shape, &layout);
  in.expect(">");
  if (kind != TypeKind::kScalar) return Type::tensor_like(kind, dtype, shape, layout);
  if (!shape.empty()) in.error_at(start, ErrorKind::kValue, "a scalar type has no extents");
  return Type::scalar(dtype);
}

Attribute parse_attribute(Reader& in) {
  Reader::Deeper deeper(in);
  size_t start = in.position();
  switch (in.peek()) {
    case '"':
      return Attribute::string(in.string());
    case '@':
      in.advance();
      return Attribute::symbol(in.string());
    case '[':
      return parse_list(in);
    case '(': {
      in.advance();
      std::string_view kind = in.word();
      in.expect(")");
      return parse_typed(in, kind, start);
    }
    case '{': {
      AttrMap map = parse_attributes(in);
      return Attribute::dict(NamedAttrs(map.begin(), map.end()));
    }
    default:
      return parse_word(in);
  }
}

AttrMap parse_attributes(Reader& in) {
  AttrMap map;
  in.expect("{");
  while (!in.take("}")) {
    if (!map.empty()) in.expect(",");
    size_t start = in.position();
    std::string name = in.peek() == '"'  ? in.string()
                       : in.at_integer() ? std::to_string(in.integer())
                                         : std::string(in.word());
    in.expect(":");
    if (map.has(name)) in.error_at(start, ErrorKind::kValue, fmt::format("attribute \"{}\" is given twice", name));
    map.set(Name(name), parse_attribute(in));
  }
  return map;
}

}  // namespace paddle::pir
