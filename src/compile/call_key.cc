#include "compile/call_key.h"

#include <cstring>

namespace paddle::compile {
namespace {

class Writer {
 public:
  template <class T>
  void put(T v) {
    char bytes[sizeof v];
    std::memcpy(bytes, &v, sizeof v);
    out_.append(bytes, sizeof v);
  }
  void put(std::string_view s) {
    put(static_cast<uint32_t>(s.size()));
    out_ += s;
  }
  void put(const Tensor& t) {
    if (!t.defined()) return put(uint8_t{255});
    put(static_cast<uint8_t>(t.dtype()));
    put(t.shape());
  }
  void put(const Shape& s) {
    put(static_cast<uint8_t>(s.size()));
    for (Dim d : s) put(d.bits());
  }
  void put(const Scalar& s) {
    put(static_cast<uint8_t>(s.kind()));
    if (s.kind() == Scalar::Kind::kComplex) {
      put(s.to_complex().real());
      put(s.to_complex().imag());
    } else if (s.kind() == Scalar::Kind::kFloat) {
      put(s.to_double());
    } else if (s.kind() != Scalar::Kind::kTensor) {
      put(s.to_int());
    }
  }
  template <class T>
  void put_list(std::span<const T> list) {
    put(static_cast<uint32_t>(list.size()));
    for (const T& x : list) put(x);
  }
  void put(const Arg& a);
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

void Writer::put(const Arg& a) {
  put(static_cast<uint8_t>(a.tag()));
  switch (a.tag()) {
    case Arg::Tag::kNone:
      return;
    case Arg::Tag::kTensor:
      return put(a.tensor());
    case Arg::Tag::kTensors:
      return put_list(a.tensors());
    case Arg::Tag::kScalar:
      return put(a.scalar());
    case Arg::Tag::kInts:
      return put(a.ints().values());
    case Arg::Tag::kFloat:
      return put(a.d());
    case Arg::Tag::kInt:
    case Arg::Tag::kBool:
      return put(a.i());
    case Arg::Tag::kDType:
      return put(static_cast<int64_t>(a.dtype()));
    case Arg::Tag::kPlace:
      return put(static_cast<int64_t>(a.place().kind) << 16 | a.place().index);
    case Arg::Tag::kString:
      return put(a.str());
    case Arg::Tag::kIntList:
      return put_list(a.int_list());
    case Arg::Tag::kFloatList:
      return put_list(a.float_list());
    case Arg::Tag::kBoolList:
      return put_list(a.bool_list());
    case Arg::Tag::kStringList:
      put(static_cast<uint32_t>(a.string_list().size()));
      for (const std::string& s : a.string_list()) put(std::string_view(s));
      return;
    case Arg::Tag::kScalarList:
      return put_list(a.scalar_list());
  }
}

}  // namespace

std::string call_key(const OpCall& c) {
  Writer w;
  w.put(c.op.id);
  w.put(c.inplace);
  w.put(static_cast<int64_t>(c.place.kind) << 16 | c.place.index);
  const bool numbers = reads_numbers_at_run(c.op);
  for (const Arg& a : c.args)
    if (!numbers || a.tag() != Arg::Tag::kFloat) w.put(a);
  return w.take();
}

}  // namespace paddle::compile
