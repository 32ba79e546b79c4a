#include <cstring>

#include "base/error.h"
#include "pir/constant.h"
#include "pir/parse_attr.h"
#include "pir/serialize/bytes.h"
#include "spmd/attr_text.h"

namespace paddle::pir {
namespace {

constexpr size_t kMostNested = 500;

struct Owner {  // an operation that no block owns yet
  Operation* op;
  ~Owner() {
    if (op) op->destroy();
  }
};

}  // namespace

void ProgramReader::deeper() {
  if (++depth_ > kMostNested) in_.bad("less nesting");
}

// What has number n; n beyond all that are known: it follows.
template <class T, class Define>
T ProgramReader::interned(std::vector<T>& table, Define&& define) {
  const auto n = static_cast<size_t>(in_.number(0, static_cast<int64_t>(table.size())));
  if (n < table.size()) return table[n];
  deeper();
  table.emplace_back();  // its number is taken before those of its parts
  T made = define();
  table[n] = made;
  --depth_;
  return made;
}

std::string ProgramReader::name() {
  return interned(names_, [&] { return std::string(in_.text()); });
}

Dim ProgramReader::dim() {
  const auto n = static_cast<size_t>(in_.number(0, static_cast<int64_t>(dims_.size()) + 1));
  if (n == 0) {
    const int64_t v = in_.number();
    if (v < Dim::kSymbolic) in_.bad("a size");
    return Dim(v);
  }
  if (n <= dims_.size()) return dims_[n - 1];
  deeper();
  dims_.emplace_back();
  const DimOp op = in_.number(DimOp::kMax);
  Dim d;
  if (op == DimOp::kSymbol) {
    d = new_symbol(in_.number(0, INT64_MAX));
  } else {
    const size_t count = in_.size();
    if (count < 2 || op == DimOp::kConst) in_.bad("an expression of sizes");
    d = dim();
    for (size_t i = 1; i < count; ++i) {
      const Dim o = dim();
      switch (op) {
        case DimOp::kAdd:
          d = d + o;
          break;
        case DimOp::kMul:
          d = d * o;
          break;
        case DimOp::kFloorDiv:
          d = floor_div(d, o);
          break;
        case DimOp::kMod:
          d = mod(d, o);
          break;
        case DimOp::kMin:
          d = min(d, o);
          break;
        default:
          d = max(d, o);
      }
    }
  }
  --depth_;
  return dims_[n - 1] = d;
}

Shape ProgramReader::shape() {
  Shape s;
  for (size_t n = in_.size(); n > 0; --n) s.push_back(dim());
  return s;
}

std::string_view ProgramReader::elements(DType& dtype, Sizes& shape) {
  dtype = static_cast<DType>(in_.number(0, static_cast<int64_t>(DType::kCount) - 1));
  size_t bytes = size_of(dtype);
  for (size_t n = in_.size(); n > 0; --n) {
    shape.push_back(in_.number(0, INT64_MAX));
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(shape.back()), &bytes)) in_.bad("a smaller tensor");
  }
  const std::string_view data = in_.text();
  if (data.size() != bytes) in_.bad("as many elements as the shape says");
  return data;
}

DenseData ProgramReader::dense() {
  DenseData d;
  const std::string_view data = elements(d.dtype, d.shape);
  const auto* from = reinterpret_cast<const std::byte*>(data.data());
  d.bytes.assign(from, from + data.size());
  return d;
}

// In memory of the allocator's: aligned for kernels, and in large pages where it is large.
Tensor ProgramReader::tensor() {
  DType dtype;
  Sizes sizes;
  const std::string_view data = elements(dtype, sizes);
  const Shape shape(sizes.begin(), sizes.end());
  Tensor t = Tensor::empty(view(shape), dtype, Place::cpu());
  std::memcpy(t.data(), data.data(), data.size());
  return t;
}

Type ProgramReader::type() {
  return interned(types_, [&]() -> Type {
    const TypeKind kind = in_.number(TypeKind::kOutlet);
    if (kind == TypeKind::kNone) return {};
    const auto dtype = static_cast<DType>(in_.number(0, static_cast<int64_t>(DType::kCount) - 1));
    const auto layout = static_cast<Layout>(in_.number(0, static_cast<int64_t>(Layout::kCount) - 1));
    const Shape sizes = shape();
    std::vector<Type> elements;
    for (size_t n = in_.size(); n > 0; --n) elements.push_back(type());
    const std::string_view dist = in_.text();
    switch (kind) {
      case TypeKind::kVector:
        return Type::vector(elements);
      case TypeKind::kScalar:
        return Type::scalar(dtype);
      case TypeKind::kStack:
      case TypeKind::kInlet:
      case TypeKind::kOutlet:
        return Type::marker(kind);
      case TypeKind::kDist:
        if (elements.size() != 1 || !elements[0].is_tensor() || dist.empty()) in_.bad("a distributed tensor's type");
        return Type::dist(Type::tensor(dtype, sizes, layout), spmd::decode(dist), elements[0].shape());
      default:
        return Type::tensor_like(kind, dtype, sizes, layout);
    }
  });
}

Attribute ProgramReader::attribute() {
  return interned(attributes_, [&] { return contents(in_.number(AttrKind::kDense)); });
}

Attribute ProgramReader::contents(AttrKind kind) {
  switch (kind) {
    case AttrKind::kNone:
      return {};
    case AttrKind::kBool:
      return Attribute::boolean(in_.number() != 0);
    case AttrKind::kInt32:
      return Attribute::i32(static_cast<int32_t>(in_.number(INT32_MIN, INT32_MAX)));
    case AttrKind::kInt64:
      return Attribute::i64(in_.number());
    case AttrKind::kFloat: {
      const std::string_view text = in_.text();
      if (text.empty()) return Attribute::f32(static_cast<float>(in_.real()));
      Reader reader(text);
      return parse_attribute(reader);
    }
    case AttrKind::kDouble:
      return Attribute::f64(in_.real());
    case AttrKind::kComplex64:
    case AttrKind::kComplex128: {
      const double re = in_.real(), im = in_.real();
      if (kind == AttrKind::kComplex128) return Attribute::c128({re, im});
      return Attribute::c64({static_cast<float>(re), static_cast<float>(im)});
    }
    case AttrKind::kString:
      return Attribute::string(in_.text());
    case AttrKind::kSymbol:
      return Attribute::symbol(in_.text());
    case AttrKind::kDType:
      return Attribute::dtype(static_cast<DType>(in_.number(0, static_cast<int64_t>(DType::kCount) - 1)));
    case AttrKind::kPlace: {
      const bool undefined = in_.number() != 0;
      const auto device = static_cast<uint8_t>(in_.number(0, UINT8_MAX));
      const auto index = static_cast<int16_t>(in_.number(INT16_MIN, INT16_MAX));
      return undefined ? Attribute::undefined_place() : Attribute::place({device, index});
    }
    case AttrKind::kLayout:
      return Attribute::layout(static_cast<Layout>(in_.number(0, static_cast<int64_t>(Layout::kCount) - 1)));
    case AttrKind::kType:
      return Attribute::type(type());
    case AttrKind::kDim:
      return Attribute::dim(dim());
    case AttrKind::kIntArray:
      return Attribute::ints(view(shape()));
    case AttrKind::kArray: {
      std::vector<Attribute> items;
      for (size_t n = in_.size(); n > 0; --n) items.push_back(attribute());
      return Attribute::array(items);
    }
    case AttrKind::kScalar: {
      const Attribute number = attribute();
      const AttrKind k = number.kind();
      if (!(k >= AttrKind::kBool && k <= AttrKind::kComplex128) && k != AttrKind::kDim) in_.bad("a number");
      return Attribute::scalar(number);
    }
    case AttrKind::kDict: {
      std::vector<NamedAttr> items;
      for (size_t n = in_.size(); n > 0; --n) {
        Name key(name());
        items.push_back({key, attribute()});
      }
      return Attribute::dict(items);
    }
    case AttrKind::kDist:
      return Attribute::dist(spmd::decode(in_.text()));
    case AttrKind::kDense:
      return Attribute::dense(dense());
  }
  in_.bad("an attribute");
}

AttrMap ProgramReader::attributes() {
  NamedAttrs items;
  for (size_t n = in_.size(); n > 0; --n) {
    Name key(name());
    items.push_back({key, attribute()});
  }
  return AttrMap(std::move(items));
}

Location ProgramReader::location() {
  return interned(locations_, [&]() -> Location {
    const int64_t kind = in_.number(0, 2);
    if (kind == 0) return {};
    const std::string first = name();
    if (kind == 1) return Location::derived(first, location());
    const auto line = static_cast<int>(in_.number(INT32_MIN, INT32_MAX));
    const std::string function = name();
    return Location::at(first, line, function, location());
  });
}

Value ProgramReader::value() {
  const auto n = static_cast<size_t>(in_.number(0, static_cast<int64_t>(values_.size())));
  return n == 0 ? Value() : values_[n - 1];
}

void ProgramReader::operation(Block& block) {
  deeper();
  const OpDef& def = op_def(name());
  const Location loc = location();
  std::vector<Value> operands;
  for (size_t n = in_.size(); n > 0; --n) operands.push_back(value());
  AttrMap attrs = attributes();
  std::vector<Type> types;
  for (size_t n = in_.size(); n > 0; --n) types.push_back(type());
  const size_t num_regions = in_.size();
  Owner owner{Operation::create(def, operands, std::move(attrs), types, num_regions, loc)};
  for (size_t i = 0; i < num_regions; ++i) region(owner.op->region(i));
  for (size_t i = 0; i < types.size(); ++i) values_.push_back(owner.op->result(i));
  block.push_back(std::exchange(owner.op, nullptr));
  --depth_;
}

void ProgramReader::block(Block& b) {
  for (size_t n = in_.size(); n > 0; --n) {
    const Type t = type();
    values_.push_back(b.add_arg(t, attributes()));
  }
  for (size_t n = in_.size(); n > 0; --n) operation(b);
}

void ProgramReader::region(Region& r) {
  for (size_t n = in_.size(); n > 0; --n) block(r.add_block());
}

Program ProgramReader::program() {
  Program p;
  values_.clear();
  p.module().set_attrs(attributes());
  block(p.block());
  for (size_t n = in_.size(); n > 0; --n) {
    const std::string name(in_.text());
    p.set_parameter(name, tensor());
  }
  return p;
}

}  // namespace paddle::pir
