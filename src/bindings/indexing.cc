// x[...] and x[...] = v, with NumPy's meaning: integers, slices, None, Ellipsis, integer arrays, masks, and any mix of
// them.
//
// The key is parsed once into items. Basic items (integers, slices) become one slice, a view in eager. Advanced items
// become gather_nd or index_put over what the basic ones left. All of it are operator calls, so gradients, capture and
// sharding follow.
#include "bindings/tensor_methods.h"

#include "api/ops.h"
#include "base/error.h"
#include "bindings/op_entry.h"
#include "dispatch/trace.h"
#include "tensor/shown_shape.h"

namespace paddle::bindings {
namespace {

constexpr int64_t kEnd = INT32_MAX;  // "to the end", as official programs write it

struct Item {
  enum Kind { kInt, kSlice, kFull, kNewAxis, kIndex, kMask } kind;
  Dim at;           // kInt
  Tensor tensor;    // kInt by a traced tensor, kIndex, kMask
  Dim start, stop;  // kSlice
  Tensor start_tensor, stop_tensor;
  int64_t step = 1;
};

bool is_index_array(PyObject* o) {
  return PyList_Check(o) || PyObject_HasAttrString(o, "__array_interface__") || PyRange_Check(o);
}

// A slice bound: a size, or a tensor of one element (read if it has a value).
void set_bound(PyObject* o, Dim& value, Tensor& tensor) {
  if (!is_tensor(o)) {
    value = dim_of(o);
    return;
  }
  Tensor& t = expect_tensor(o, "slice");
  if (t.is_traced() || dispatch::tracing())
    tensor = t;
  else
    value = Dim(Scalar(t).to_int());
}

Item slice_item(PyObject* o) {
  auto* s = reinterpret_cast<PySliceObject*>(o);
  Item item{Item::kSlice, {}, {}, {}, {}, {}, {}, 1};
  if (s->step != Py_None) {
    Tensor unused;
    Dim step;
    set_bound(s->step, step, unused);
    item.step = step.is_const() ? step.value() : guard_int(step);
    check(item.step != 0, ErrorKind::kValue, "[getitem] a slice's step can't be 0");
  }
  bool full = s->start == Py_None && s->stop == Py_None && item.step == 1;
  if (full) item.kind = Item::kFull;
  item.start = Dim(item.step > 0 ? 0 : kEnd);
  item.stop = Dim(item.step > 0 ? kEnd : -kEnd - 1);
  if (s->start != Py_None) set_bound(s->start, item.start, item.start_tensor);
  if (s->stop != Py_None) set_bound(s->stop, item.stop, item.stop_tensor);
  return item;
}

Item tensor_item(const Tensor& t) {
  if (t.dtype() == DType::kBool) return {Item::kMask, {}, t, {}, {}, {}, {}, 1};
  check(is_integer(t.dtype()), ErrorKind::kIndex, "[getitem] expected indices of an integer dtype or bool, got {}",
        name_of(t.dtype()));
  if (t.rank() == 0) {
    if (t.is_traced() || dispatch::tracing()) return {Item::kInt, {}, t, {}, {}, {}, {}, 1};
    return {Item::kInt, Dim(Scalar(t).to_int()), {}, {}, {}, {}, {}, 1};
  }
  return {Item::kIndex, {}, t, {}, {}, {}, {}, 1};
}

Item parse_item(PyObject* o) {
  if (PySlice_Check(o)) return slice_item(o);
  if (o == Py_None) return {Item::kNewAxis, {}, {}, {}, {}, {}, {}, 1};
  if (is_tensor(o)) return tensor_item(expect_tensor(o, "getitem"));
  if (PyBool_Check(o)) return {Item::kMask, {}, to_tensor(o, DType::kBool, Place::cpu()), {}, {}, {}, {}, 1};
  if (PyLong_Check(o) || is_symint(o)) return {Item::kInt, dim_of(o), {}, {}, {}, {}, {}, 1};
  if (is_index_array(o) || PyTuple_Check(o)) {
    bool empty = PySequence_Check(o) && PySequence_Size(o) == 0;
    Tensor t = to_tensor(o, empty ? DType::kInt64 : DType::kUndefined, Place::cpu());
    return tensor_item(t);
  }
  if (PyIndex_Check(o)) return {Item::kInt, dim_of(o), {}, {}, {}, {}, {}, 1};
  fail(ErrorKind::kValue, "[getitem] expected integers, slices, None, Ellipsis, tensors or lists as indices, got {}",
       Py_TYPE(o)->tp_name);
}

int64_t axes_taken(const Item& i) { return i.kind == Item::kNewAxis ? 0 : i.kind == Item::kMask ? i.tensor.rank() : 1; }

std::vector<Item> parse(PyObject* key, int64_t rank) {
  std::vector<Item> items;
  int64_t taken = 0, ellipsis = -1;
  auto add = [&](PyObject* o) {
    if (o == Py_Ellipsis) {
      check(ellipsis < 0, ErrorKind::kValue, "[getitem] an index can have only one Ellipsis");
      ellipsis = static_cast<int64_t>(items.size());
      return;
    }
    items.push_back(parse_item(o));
    taken += axes_taken(items.back());
  };
  if (PyTuple_Check(key)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i) add(PyTuple_GET_ITEM(key, i));
  } else {
    add(key);
  }
  check(taken <= rank, ErrorKind::kIndex, "[getitem] too many indices: {} for a tensor of rank {}", taken, rank);
  Item full{Item::kFull, {}, {}, {}, {}, {}, {}, 1};
  auto at = ellipsis < 0 ? items.end() : items.begin() + ellipsis;
  items.insert(at, static_cast<size_t>(rank - taken), full);
  return items;
}

// The basic part of a key, in the form of slice operators.
struct Basic {
  std::vector<int64_t> axes, strides, decrease;
  Shape starts, ends;
  Tensors start_tensors, end_tensors;  // where a bound is a traced tensor
  bool unit = true;                    // all steps are 1

  void add(int64_t axis, Dim start, Dim end, int64_t step, Tensor start_tensor, Tensor end_tensor) {
    axes.push_back(axis);
    starts.push_back(start);
    ends.push_back(end);
    strides.push_back(step);
    start_tensors.push_back(std::move(start_tensor));
    end_tensors.push_back(std::move(end_tensor));
    unit &= step == 1;
  }
  static Ints list(const Shape& values, const Tensors& tensors) {
    for (const Tensor& t : tensors)
      if (t.defined()) return Ints(values, tensors);
    return Ints(values);
  }
  Ints start_list() const { return list(starts, start_tensors); }
  Ints end_list() const { return list(ends, end_tensors); }
};

void add_int(Basic& b, const Item& item, int64_t axis, Dim size) {
  if (item.tensor.defined()) {
    Tensor next = ops::scale(item.tensor, Scalar(1.0), Scalar(int64_t{1}), true);
    b.add(axis, Dim(0), Dim(0), 1, item.tensor, next);
  } else {
    Dim i = item.at;
    bool in_range = !less(i, -size) && less(i, size);
    check(in_range, ErrorKind::kIndex, "[getitem] index {} is out of range for axis {} of size {}", i.str(), axis,
          size.str());
    if (less(i, Dim(0))) i = i + size;
    b.add(axis, i, i + Dim(1), 1, {}, {});
  }
  b.decrease.push_back(axis);
}

void add_slice(Basic& b, const Item& item, int64_t axis, Dim size) {
  Dim start = item.start, stop = item.stop;
  if (size.is_const() && start.is_const() && stop.is_const() && !item.start_tensor.defined() &&
      !item.stop_tensor.defined()) {
    Py_ssize_t from = start.value(), to = stop.value();
    Py_ssize_t length = PySlice_AdjustIndices(size.value(), &from, &to, item.step);
    start = Dim(static_cast<int64_t>(from));
    int64_t end = from + length * item.step;
    // An end before the first element would read as "from the back".
    stop = end < 0 ? Dim(-size.value() - 1) : Dim(end);
    if (length == 0) stop = start;
  }
  b.add(axis, start, stop, item.step, item.start_tensor, item.stop_tensor);
}

// What the advanced part works on after the basic one.
struct Advanced {
  std::vector<int64_t> axes;  // of the sliced tensor, one per index tensor
  Tensors indices;
  bool adjacent = true;
};

struct Plan {
  Basic basic;
  std::vector<int64_t> new_axes;  // positions in the sliced tensor after its integer axes went
  Advanced advanced;
  Tensor lone_mask;  // the key is one mask and nothing else
};

// A mask selects like the coordinates of its true elements.
void add_mask(Advanced& a, const Tensor& mask, const Tensor& x, int64_t axis, int64_t out_axis) {
  for (int64_t k = 0; k < mask.rank(); ++k)
    check(equal(mask.dim(k), x.dim(axis + k)), ErrorKind::kIndex,
          "[getitem] a mask of shape {} doesn't match the tensor's shape {} from axis {} on", shown(mask.shape()),
          shown(x.shape()), axis);
  if (mask.rank() == 0) {  // True or False: an axis of length 1 or 0
    Tensor hit = ops::nonzero(ops::reshape(mask, Ints{1}));
    a.axes.push_back(out_axis);
    a.indices.push_back(ops::reshape(hit, Ints{-1}));
    return;
  }
  Tensor where = ops::nonzero(mask);
  for (int64_t k = 0; k < mask.rank(); ++k) {
    a.axes.push_back(out_axis + k);
    a.indices.push_back(ops::slice(where, {1}, Ints{k}, Ints{k + 1}, {}, {1}));
  }
}

Plan make_plan(const Tensor& x, PyObject* key) {
  std::vector<Item> items = parse(key, x.rank());
  Plan p;
  int64_t axis = 0, out_axis = 0, last_advanced = -2;
  for (size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    switch (item.kind) {
      case Item::kInt:
        add_int(p.basic, item, axis, x.dim(axis));
        ++axis;
        break;
      case Item::kSlice:
        add_slice(p.basic, item, axis, x.dim(axis));
        ++axis;
        ++out_axis;
        break;
      case Item::kFull:
        ++axis;
        ++out_axis;
        break;
      case Item::kNewAxis:
        p.new_axes.push_back(out_axis++);
        break;
      case Item::kIndex:
      case Item::kMask: {
        if (last_advanced >= 0 && last_advanced != static_cast<int64_t>(i) - 1) p.advanced.adjacent = false;
        last_advanced = static_cast<int64_t>(i);
        if (item.kind == Item::kIndex) {
          p.advanced.axes.push_back(out_axis);
          p.advanced.indices.push_back(item.tensor);
          ++axis;
          ++out_axis;
          break;
        }
        if (item.tensor.rank() == 0) p.new_axes.push_back(out_axis);
        if (items.size() == 1 || (item.tensor.rank() == x.rank())) p.lone_mask = item.tensor;
        add_mask(p.advanced, item.tensor, x, axis, out_axis);
        axis += item.tensor.rank();
        out_axis += std::max<int64_t>(item.tensor.rank(), 1);
        break;
      }
    }
  }
  return p;
}

Tensor take_basic(const Tensor& x, const Plan& p) {
  const Basic& b = p.basic;
  Tensor y = x;
  if (!b.axes.empty() && b.unit) {
    y = ops::slice(x, b.axes, b.start_list(), b.end_list(), {}, b.decrease);
  } else if (!b.axes.empty()) {
    Shape strides(b.strides.begin(), b.strides.end());
    y = ops::strided_slice(x, b.axes, b.start_list(), b.end_list(), Ints(strides));
    if (!b.decrease.empty()) y = ops::squeeze(y, Ints(std::span<const int64_t>(b.decrease)));
  }
  if (!p.new_axes.empty()) y = ops::unsqueeze(y, Ints(std::span<const int64_t>(p.new_axes)));
  return y;
}

// The order of axes that brings the advanced ones to the front.
std::vector<int64_t> front_order(const Advanced& a, int64_t rank) {
  std::vector<int64_t> order(a.axes);
  for (int64_t i = 0; i < rank; ++i)
    if (std::find(a.axes.begin(), a.axes.end(), i) == a.axes.end()) order.push_back(i);
  return order;
}

bool identity(const std::vector<int64_t>& order) {
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<int64_t>(i)) return false;
  return true;
}

std::vector<int64_t> inverse(const std::vector<int64_t>& order) {
  std::vector<int64_t> out(order.size());
  for (size_t i = 0; i < order.size(); ++i) out[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return out;
}

// All index tensors with one shape and dtype.
Tensors aligned(const Advanced& a) {
  Tensors out;
  for (const Tensor& t : a.indices) out.push_back(t.dtype() == DType::kInt64 ? t : ops::cast(t, DType::kInt64));
  if (out.size() > 1) out = ops::broadcast_tensors(out);
  return out;
}

// With the advanced axes side by side the result's index axes stand where they stood; else in front.
std::vector<int64_t> result_order(const Advanced& a, int64_t index_rank, int64_t rank) {
  std::vector<int64_t> order;
  int64_t first = a.adjacent ? a.axes.front() : 0;
  for (int64_t i = 0; i < first; ++i) order.push_back(index_rank + i);
  for (int64_t i = 0; i < index_rank; ++i) order.push_back(i);
  for (int64_t i = first; i + index_rank < rank; ++i) order.push_back(index_rank + i);
  return order;
}

Tensor permuted(const Tensor& t, const std::vector<int64_t>& order) {
  return identity(order) ? t : ops::transpose(t, order);
}

Tensor get(const Tensor& x, PyObject* key) {
  Plan p = make_plan(x, key);
  Tensor y = take_basic(x, p);
  const Advanced& a = p.advanced;
  if (a.indices.empty()) return y.same(x) ? ops::slice(x, {}, Ints{}, Ints{}, {}, {}) : y;
  y = permuted(y, front_order(a, y.rank()));
  Tensors indices = aligned(a);
  int64_t index_rank = indices[0].rank();
  Tensor coordinates = indices.size() == 1 ? ops::unsqueeze(indices[0], Ints{-1}) : ops::stack(indices, -1);
  Tensor out = ops::gather_nd(y, coordinates);
  return permuted(out, result_order(a, index_rank, out.rank()));
}

// The value in x's dtype, and in memory of its own: x[:] = x[::-1] reads all of x before it writes any.
Tensor value_for(PyObject* value, const Tensor& x) {
  Tensor v = is_tensor(value) ? expect_tensor(value, "setitem") : to_tensor(value, DType::kUndefined, x.place());
  if (v.dtype() != x.dtype()) return ops::cast(v, x.dtype());
  bool shared = x->storage.get() && v->storage.get() == x->storage.get();
  return shared ? ops::assign(v) : v;
}

void write_basic(Tensor& x, const Tensor& value, const Plan& p) {
  const Basic& b = p.basic;
  Shape strides(b.strides.begin(), b.strides.end());
  ops::set_value_with_tensor_(x, value, b.start_list(), b.end_list(), Ints(strides), b.axes, b.decrease, p.new_axes);
}

void set(Tensor& x, PyObject* key, PyObject* value) {
  Plan p = make_plan(x, key);
  Tensor v = value_for(value, x);
  if (p.advanced.indices.empty()) return write_basic(x, v, p);
  if (p.lone_mask.defined() && v.rank() == 0 && p.basic.axes.empty() && p.lone_mask.rank() == x.rank()) {
    ops::masked_fill_(x, p.lone_mask, v);
    return;
  }
  Tensor part = take_basic(x, p);
  std::vector<int64_t> order = front_order(p.advanced, part.rank());
  Tensors indices = aligned(p.advanced);
  int64_t index_rank = indices[0].rank();
  Tensor front = permuted(part, order);
  int64_t result_rank = index_rank + front.rank() - static_cast<int64_t>(indices.size());
  std::vector<int64_t> to_result = result_order(p.advanced, index_rank, result_rank);
  // index_put wants the index axes in front; the value comes in the result's order.
  if (v.rank() > 0 && !identity(to_result)) {
    if (v.rank() < result_rank) {
      std::vector<int64_t> lead(static_cast<size_t>(result_rank - v.rank()));
      for (size_t i = 0; i < lead.size(); ++i) lead[i] = static_cast<int64_t>(i);
      v = ops::unsqueeze(v, Ints(std::span<const int64_t>(lead)));
    }
    v = permuted(v, inverse(to_result));
  }
  if (front.same(x)) {
    ops::index_put_(x, indices, v, false);
    return;
  }
  Tensor changed = permuted(ops::index_put(front, indices, v, false), inverse(order));
  write_basic(x, changed, p);
}

PyObject* get_item(PyObject* self, PyObject* key) {
  return guard([&] { return wrap(get(expect_tensor(self, "getitem"), key)); });
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
  return guard_int([&] {
    check(value, ErrorKind::kType, "items of a Tensor can't be deleted");
    set(expect_tensor(self, "setitem"), key, value);
    return 0;
  });
}

// for row in x
PyObject* iterate(PyObject* self) {
  return guard([&] {
    Tensor& x = expect_tensor(self, "iter");
    check(x.rank() > 0, ErrorKind::kType, "iteration over a 0-D tensor");
    Object rows = own(wrap_list(ops::unbind(x, 0)));
    return must(PyObject_GetIter(rows.get()));
  });
}

}  // namespace

std::vector<PyType_Slot> indexing_slots() {
  return {{Py_mp_subscript, reinterpret_cast<void*>(get_item)},
          {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
          {Py_tp_iter, reinterpret_cast<void*>(iterate)}};
}

}  // namespace paddle::bindings
