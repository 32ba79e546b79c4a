// Programs as bytes and back, for caches: quick and short, read only by the build that wrote them. Nothing is lost:
// locations, symbolic sizes with what was seen of them, tensors' data.
//
// Symbols go by the order in which they appear, so that equal programs of two processes have equal bytes. Those that
// both sides know before (`known`) are meant by their number; others become new symbols when they are read.
#pragma once
#include <functional>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "pir/program.h"

namespace paddle::pir {

class ProgramWriter {
 public:
  explicit ProgramWriter(std::span<const Dim> known = {});
  ByteWriter& out() { return out_; }

  // keeps: which of the program's named tensors are written with their elements; null: none.
  void program(const Program& program, const std::function<bool(const std::string&)>& keeps = nullptr);
  void value(Value v);  // one that was written with a program
  void dim(Dim d);
  void shape(const Shape& s);
  void dense(const DenseData& d);
  void tensor(const Tensor& t);

  // Those known before, then those met, in order.
  const std::vector<Dim>& symbols() const { return symbols_; }

 private:
  struct Hash {
    size_t operator()(const Attribute& a) const { return a.hash(); }
    size_t operator()(Type t) const { return t.hash(); }
  };
  template <class Map, class Define>
  void interned(Map& table, typename Map::key_type key, Define&& define);
  void elements(DType dtype, const Sizes& shape, const void* data);
  void name(std::string_view s);
  void type(Type t);
  void attribute(const Attribute& a);
  void contents(const Attribute& a);
  void attributes(const AttrMap& attrs);
  void location(Location l);
  void operation(const Operation& op);
  void block(const Block& b);
  void region(const Region& r);

  ByteWriter out_;
  std::vector<Dim> symbols_;
  std::unordered_map<int64_t, size_t> dims_;
  std::unordered_map<std::string, size_t> names_;
  std::unordered_map<Type, size_t, Hash> types_;
  std::unordered_map<Attribute, size_t, Hash> attributes_;
  std::unordered_map<uintptr_t, size_t> locations_;
  std::unordered_map<Value, size_t> values_;
};

// Reads, in the same order, what a ProgramWriter wrote. ValueError for bytes that no writer made.
class ProgramReader {
 public:
  explicit ProgramReader(std::string_view bytes, std::span<const Dim> known = {})
      : in_(bytes), dims_(known.begin(), known.end()) {}
  ByteReader& in() { return in_; }

  Program program();  // with the tensors whose elements were written
  Value value();      // of the program read last
  Dim dim();
  Shape shape();
  DenseData dense();
  Tensor tensor();  // what tensor() or dense() wrote

 private:
  std::string_view elements(DType& dtype, Sizes& shape);
  template <class T, class Define>
  T interned(std::vector<T>& table, Define&& define);
  std::string name();
  Type type();
  Attribute attribute();
  Attribute contents(AttrKind kind);
  AttrMap attributes();
  Location location();
  void operation(Block& block);
  void block(Block& b);
  void region(Region& r);
  void deeper();

  ByteReader in_;
  size_t depth_ = 0;
  std::vector<Dim> dims_;
  std::vector<std::string> names_;
  std::vector<Type> types_;
  std::vector<Attribute> attributes_;
  std::vector<Location> locations_;
  std::vector<Value> values_;
};

}  // namespace paddle::pir
