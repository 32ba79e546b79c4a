// paddle._core.dist: distributed tensors, made of and taken to their parts.
#include "api/ops.h"
#include "base/error.h"
#include "bindings/dist.h"
#include "distributed/reshard.h"
#include "spmd/attr_text.h"

namespace paddle::bindings {
namespace {

// encode(mesh shape, ids, names, [(kind, number)]): R 0, S dim, P kind; checks the mesh.
PyObject* encode(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *shape, *ids, *names, *placements;
    int rank;
    if (!PyArg_ParseTuple(args, "OOOOi", &shape, &ids, &names, &placements, &rank)) throw PythonError();
    std::vector<std::string> labels;
    Object seq = own(PySequence_Fast(names, "dim_names"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(seq.get()); ++i)
      labels.push_back(string_from(PySequence_Fast_GET_ITEM(seq.get(), i), "dim_names"));
    spmd::DistAttr attr;
    attr.mesh = spmd::ProcessMesh(int_list_from(shape, "ProcessMesh"), int_list_from(ids, "ProcessMesh"), labels);
    Object list = own(PySequence_Fast(placements, "placements"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
      int kind, n;
      PyObject* item = PySequence_Fast_GET_ITEM(list.get(), i);
      if (!PyArg_ParseTuple(item, "Ci", &kind, &n)) throw PythonError();
      attr.placements.push_back(kind == 'S'   ? spmd::Shard(n)
                                : kind == 'P' ? spmd::Partial(static_cast<spmd::PartialKind>(n))
                                              : spmd::Replicate());
    }
    if (rank >= 0) attr.placements = spmd::normalize(attr.placements, attr.mesh, rank);
    return must(PyUnicode_FromString(spmd::encode(attr).c_str()));
  });
}
PyObject* attr_text(PyObject*, PyObject* x) {
  return guard([&]() -> PyObject* {
    Tensor& t = expect_tensor(x, "placements");
    if (!t.is_dist()) Py_RETURN_NONE;
    return must(PyUnicode_FromString(spmd::encode(spmd::dist_attr(t)).c_str()));
  });
}
// The part of a whole of some shape that process `rank` holds: (shape, offset), or None outside the mesh.
PyObject* local_part(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject* shape;
    const char* text;
    int rank;
    if (!PyArg_ParseTuple(args, "Osi", &shape, &text, &rank)) throw PythonError();
    spmd::DistAttr attr = spmd::decode(text);
    auto at = attr.mesh.coordinate_of(rank);
    if (!at) Py_RETURN_NONE;
    spmd::LocalShard s = spmd::local_shard(int_list_from(shape, "shape"), attr.mesh, attr.placements, *at);
    Object sizes = own(PyList_New(0)), offset = own(PyList_New(0));
    for (int64_t n : s.shape) must_zero(PyList_Append(sizes.get(), own(PyLong_FromLongLong(n)).get()));
    for (int64_t n : s.offset) must_zero(PyList_Append(offset.get(), own(PyLong_FromLongLong(n)).get()));
    return must(Py_BuildValue("(OO)", sizes.get(), offset.get()));
  });
}
// The shard itself, sharing its memory; None where this rank has none.
PyObject* local_value(PyObject*, PyObject* x) {
  return guard([&] {
    Tensor& t = expect_tensor(x, "_local_value");
    return wrap(t.is_dist() ? spmd::dist_payload(t).local : t);
  });
}
PyObject* assign(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *x, *v;
    if (!PyArg_ParseTuple(args, "OO", &x, &v)) throw PythonError();
    distributed::assign_value(expect_tensor(x, "set_value"), expect_tensor(v, "set_value"));
    Py_RETURN_NONE;
  });
}
// A distributed tensor from this rank's part (or None), without history.
PyObject* make(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *local, *shape, *dtype;
    const char* text;
    if (!PyArg_ParseTuple(args, "OOOs", &local, &shape, &dtype, &text)) throw PythonError();
    auto attr = std::make_shared<spmd::DistAttr>(spmd::decode(text));
    Shape dims;
    for (int64_t n : int_list_from(shape, "shape")) dims.push_back(Dim(n));
    Tensor part = local == Py_None ? Tensor() : expect_tensor(local, "dtensor");
    return wrap(
        spmd::make_dist(dims, part.defined() ? part.dtype() : dtype_from(dtype, "dtensor"), Place::cpu(), attr, part));
  });
}

PyMethodDef functions[] = {{"encode", encode, METH_VARARGS, nullptr},
                           {"attr", attr_text, METH_O, nullptr},
                           {"local_part", local_part, METH_VARARGS, nullptr},
                           {"local_value", local_value, METH_O, nullptr},
                           {"assign", assign, METH_VARARGS, nullptr},
                           {"make", make, METH_VARARGS, nullptr},
                           {}};

}  // namespace

void add_dist_tensors(PyObject* module) { add_functions(module, functions); }

}  // namespace paddle::bindings
