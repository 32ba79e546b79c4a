#include "pir/serialize/params.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/disk_cache.h"
#include "base/error.h"
#include "pir/constant.h"
#include "pir/serialize/json.h"

namespace paddle::pir {
namespace {

// Numbers of proto::VarType in Paddle's files.
struct ProtoType {
  DType dtype;
  uint64_t number;
};
constexpr ProtoType kProtoTypes[] = {
    {DType::kBool, 0},          {DType::kInt16, 1},       {DType::kInt32, 2},      {DType::kInt64, 3},
    {DType::kFloat16, 4},       {DType::kFloat32, 5},     {DType::kFloat64, 6},    {DType::kUInt8, 20},
    {DType::kInt8, 21},         {DType::kBFloat16, 22},   {DType::kComplex64, 23}, {DType::kComplex128, 24},
    {DType::kFloat8E4M3FN, 32}, {DType::kFloat8E5M2, 33},
};

class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool at_end() const { return at_ == bytes_.size(); }
  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }

  const std::byte* take(uint64_t n, const char* what) {
    if (n > left()) bad(fmt::format("{} needs {} bytes, {} are left", what, n, left()));
    const std::byte* p = bytes_.data() + at_;
    at_ += n;
    return p;
  }
  template <class T>
  T number(const char* what) {
    T v;
    std::memcpy(&v, take(sizeof(T), what), sizeof(T));
    return v;
  }
  uint64_t varint(const char* what) {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      auto b = static_cast<uint64_t>(number<uint8_t>(what));
      v |= (b & 0x7f) << shift;
      if (!(b & 0x80)) return v;
    }
    bad(fmt::format("{} is no number", what));
  }
  Bytes part(uint64_t n, const char* what) {
    size_t start = at_;
    take(n, what);
    Bytes b(bytes_.subspan(0, at_));
    b.at_ = start;
    b.tensor = tensor;
    return b;
  }
  [[noreturn]] void bad(const std::string& what) const {
    fail(ErrorKind::kValue, "[parameters] tensor {} at byte {}: {}", tensor, at_, what);
  }
  size_t tensor = 0;

 private:
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

struct Description {
  DType dtype = DType::kUndefined;
  Shape shape;
};

// message TensorDesc { required Type data_type = 1; repeated int64 dims = 2; }
Description description(Bytes in) {
  Description d;
  auto dim = [&](Bytes& from) {
    auto v = static_cast<int64_t>(from.varint("a dimension"));
    if (v < 0) from.bad(fmt::format("expected extents of at least 0, got {}", v));
    if (d.shape.size() >= 32) from.bad("more than 32 dimensions");
    d.shape.push_back(v);
  };
  bool typed = false;
  while (!in.at_end()) {
    uint64_t tag = in.varint("a field");
    if (tag == 0x08) {
      uint64_t number = in.varint("the dtype");
      typed = true;
      for (const ProtoType& p : kProtoTypes)
        if (p.number == number) d.dtype = p.dtype;
      if (d.dtype == DType::kUndefined) in.bad(fmt::format("dtype number {} is not known", number));
    } else if (tag == 0x10) {
      dim(in);
    } else if (tag == 0x12) {  // packed
      Bytes packed = in.part(in.varint("a length"), "the dimensions");
      while (!packed.at_end()) dim(packed);
    } else {
      in.bad(fmt::format("field {} of the description is not known", tag >> 3));
    }
  }
  if (!typed) in.bad("the description has no dtype");
  return d;
}

Tensor read_tensor(Bytes& in) {
  if (auto v = in.number<uint32_t>("the version"); v != 0) in.bad(fmt::format("version {} is not known", v));
  auto levels = in.number<uint64_t>("the levels");
  if (levels > 64) in.bad(fmt::format("{} levels of detail", levels));
  for (uint64_t i = 0; i < levels; ++i) in.take(in.number<uint64_t>("a level"), "a level");
  if (auto v = in.number<uint32_t>("the tensor's version"); v != 0)
    in.bad(fmt::format("tensor version {} is not known", v));
  auto length = in.number<int32_t>("the description's length");
  if (length < 0) in.bad("the description has a negative length");
  Description d = description(in.part(static_cast<uint64_t>(length), "the description"));
  // Sizes are compared with what is left before anything is allocated.
  unsigned __int128 bytes = size_of(d.dtype);
  for (Dim x : d.shape) {
    bytes *= static_cast<uint64_t>(x.value());
    if (bytes > in.left())
      in.bad(
          fmt::format("a {} tensor of shape {} is larger than the file", name_of(d.dtype), to_string(view(d.shape))));
  }
  if (bytes > in.left()) in.bad("the elements are cut off");
  Tensor t = Tensor::empty(view(d.shape), d.dtype, Place::cpu());
  const std::byte* from = in.take(static_cast<uint64_t>(bytes), "the elements");
  if (d.dtype == DType::kBool && std::any_of(from, from + bytes, [](std::byte b) { return b > std::byte{1}; }))
    in.bad("a bool that is neither 0 nor 1");
  if (bytes) std::memcpy(t.data(), from, static_cast<size_t>(bytes));
  return t;
}

void put_varint(std::string& s, uint64_t v) {
  for (; v >= 0x80; v >>= 7) s += static_cast<char>(v | 0x80);
  s += static_cast<char>(v);
}

template <class T>
void put(std::ostream& out, T v) {
  out.write(reinterpret_cast<const char*>(&v), sizeof v);
}

// Whose elements outlive a run. Official Paddle names scratch memory as parameters, too (a recurrent layer's state of
// dropout).
bool persistable(const Operation& op) {
  Attribute a = op.attr("persistable");
  if (a.kind() == AttrKind::kArray && !a.items().empty()) a = a.items()[0];
  return a.kind() != AttrKind::kBool || a.as_bool();
}

std::vector<Operation*> parameter_ops(const Program& program) {
  std::vector<Operation*> ops;
  program.walk([&](Operation& op) {
    if (op.is("builtin.parameter") && persistable(op)) ops.push_back(&op);
  });
  auto name = [](Operation* op) { return std::string_view(op->attr("parameter_name").as_string()); };
  std::sort(ops.begin(), ops.end(), [&](Operation* a, Operation* b) { return name(a) < name(b); });
  ops.erase(std::unique(ops.begin(), ops.end(), [&](Operation* a, Operation* b) { return name(a) == name(b); }),
            ops.end());
  return ops;
}

bool fits(const Tensor& t, Type type) {
  if (!type.has_shape() || t.dtype() != type.dtype() || t.shape().size() != type.shape().size()) return false;
  for (size_t i = 0; i < t.shape().size(); ++i) {
    Dim d = type.shape()[i];
    if (d.is_const() && d.value() >= 0 && d != t.shape()[i]) return false;
  }
  return true;
}

class Mapped {
 public:
  explicit Mapped(const std::string& path) {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail(ErrorKind::kOS, "[parameters] can't open {}: {}", path, std::strerror(errno));
    struct stat info {};
    bool ok = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    size_ = ok ? static_cast<size_t>(info.st_size) : 0;
    if (size_) data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    int error = errno;
    ::close(fd);
    if (!ok || data_ == MAP_FAILED)
      fail(ErrorKind::kOS, "[parameters] can't read {}: {}", path, ok ? std::strerror(error) : "no regular file");
  }
  ~Mapped() {
    if (data_ && data_ != MAP_FAILED) ::munmap(data_, size_);
  }
  Mapped(const Mapped&) = delete;
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace

std::vector<Tensor> read_tensors(std::span<const std::byte> bytes) {
  std::vector<Tensor> r;
  Bytes in(bytes);
  for (; !in.at_end(); ++in.tensor) r.push_back(read_tensor(in));
  return r;
}

void write_tensor(std::ostream& out, const Tensor& tensor) {
  DenseData data;  // only for what isn't one block of memory already
  const bool direct = tensor.is_dense() && tensor.place().is_cpu() && tensor.is_contiguous();
  if (!direct) data = dense_of(tensor);
  std::string desc;
  const ProtoType* type =
      std::find_if(std::begin(kProtoTypes), std::end(kProtoTypes), [&](auto& p) { return p.dtype == tensor.dtype(); });
  check(type != std::end(kProtoTypes), ErrorKind::kNotImplemented,
        "[parameters] Paddle's files have no tensors of dtype {}", name_of(tensor.dtype()));
  put_varint(desc, 1 << 3);
  put_varint(desc, type->number);
  for (Dim d : tensor.shape()) {
    put_varint(desc, 2 << 3);
    put_varint(desc, static_cast<uint64_t>(d.value()));
  }
  put<uint32_t>(out, 0);
  put<uint64_t>(out, 0);
  put<uint32_t>(out, 0);
  put<int32_t>(out, static_cast<int32_t>(desc.size()));
  out.write(desc.data(), static_cast<std::streamsize>(desc.size()));
  auto bytes = static_cast<std::streamsize>(static_cast<size_t>(tensor.numel()) * size_of(tensor.dtype()));
  const void* from = direct ? tensor.data() : data.bytes.data();
  if (bytes) out.write(static_cast<const char*>(from), bytes);
  check(static_cast<bool>(out), ErrorKind::kRuntime, "[parameters] writing failed");
}

std::string digest_of_tensors(std::span<const Tensor> tensors) {
  std::string all;
  for (const Tensor& t : tensors) {
    DenseData data;
    const bool direct = t.is_dense() && t.place().is_cpu() && t.is_contiguous();
    if (!direct) data = dense_of(t);
    const auto* from = direct ? static_cast<const char*>(t.data()) : reinterpret_cast<const char*>(data.bytes.data());
    const size_t bytes = static_cast<size_t>(t.numel()) * size_of(t.dtype());
    all += fmt::format("{} {} {};", name_of(t.dtype()), to_string(view(t.shape())), digest_of({from, bytes}).str());
  }
  return digest_of(all).str();
}

void compare_digest(Program& program, std::span<const Tensor> tensors) {
  const Attribute expected = program.module().attr(kParametersDigest);
  if (!expected) return;
  check(digest_of_tensors(tensors) == expected.as_string(), ErrorKind::kValue,
        "[parameters] they aren't those that the program was saved with, their digest is another; to use others on "
        "purpose, remove the key \"digest\" from the program's \"base_code\"");
  program.module().erase_attr(kParametersDigest);
}

std::vector<std::string> parameter_names(const Program& program) {
  std::vector<std::string> names;
  for (Operation* op : parameter_ops(program)) names.push_back(op->attr("parameter_name").as_string());
  return names;
}

void make_scratch(Program& program) {
  program.walk([&](Operation& op) {
    if (!op.is("builtin.parameter") || persistable(op) || !op.result().type().has_shape()) return;
    Shape sizes;
    for (Dim d : op.result().shape()) sizes.push_back(d.is_const() && d.value() > 0 ? d.value() : 0);
    Tensor t = Tensor::empty(view(sizes), op.result().dtype(), Place::cpu());
    if (t.numel()) std::memset(t.data(), 0, static_cast<size_t>(t.numel()) * size_of(t.dtype()));
    program.set_parameter(op.attr("parameter_name").as_string(), std::move(t));
  });
}

void load_parameters(Program& program, std::span<const std::byte> bytes) {
  auto ops = parameter_ops(program);
  std::vector<Tensor> tensors = read_tensors(bytes);
  check(tensors.size() == ops.size(), ErrorKind::kValue,
        "[parameters] the program has {} parameters, the file {} tensors", ops.size(), tensors.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    Type type = ops[i]->result().type();
    check(fits(tensors[i], type), ErrorKind::kValue, "[parameters] \"{}\": the program says {}, the file holds {} {}",
          ops[i]->attr("parameter_name").as_string(), type.str(), name_of(tensors[i].dtype()),
          to_string(view(tensors[i].shape())));
  }
  compare_digest(program, tensors);
  for (size_t i = 0; i < ops.size(); ++i) {
    tensors[i]->persistable = true;
    program.set_parameter(ops[i]->attr("parameter_name").as_string(), std::move(tensors[i]));
  }
}

void load_parameters(Program& program, const std::string& path) {
  Mapped file(path);
  load_parameters(program, file.bytes());
}

void save_parameters(const Program& program, const std::string& path) {
  std::vector<Tensor> tensors;
  for (const std::string& name : parameter_names(program)) {
    tensors.push_back(program.parameter(name));
    check(tensors.back().defined(), ErrorKind::kValue, "[parameters] the program has no value of \"{}\"", name);
  }
  std::string beside = fmt::format("{}.{}.tmp", path, ::getpid());
  {
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    check(static_cast<bool>(out), ErrorKind::kOS, "[parameters] can't write {}: {}", beside, std::strerror(errno));
    for (const Tensor& t : tensors) write_tensor(out, t);
    out.flush();
    if (!out) {
      std::remove(beside.c_str());
      fail(ErrorKind::kOS, "[parameters] writing {} failed: {}", beside, std::strerror(errno));
    }
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0) {
    std::remove(beside.c_str());
    fail(ErrorKind::kOS, "[parameters] can't write {}: {}", path, std::strerror(errno));
  }
}

}  // namespace paddle::pir
