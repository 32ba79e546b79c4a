// paddle._core.dist: process groups, collectives on whole tensors, distributed tensors.
#include <atomic>

#include "api/ops.h"
#include "base/context.h"
#include "base/error.h"
#include "bindings/py.h"
#include "dispatch/eager.h"
#include "distributed/collectives.h"
#include "distributed/environment.h"
#include "distributed/reshard.h"
#include "spmd/attr_text.h"

namespace paddle::bindings {
namespace {

using distributed::Environment;
using distributed::Waiting;

Environment& env() { return Environment::current(); }
comm::ProcessGroup& group(int id) { return env().group(id); }

// ---- who and where
PyObject* rank(PyObject*, PyObject*) {
  return guard([] { return must(PyLong_FromLong(env().rank())); });
}
PyObject* world_size(PyObject*, PyObject*) {
  return guard([] { return must(PyLong_FromLong(env().world_size())); });
}
PyObject* connect(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    const char* backend = "auto";
    double seconds = 900;
    if (!PyArg_ParseTuple(args, "|sd", &backend, &seconds)) throw PythonError();
    std::string name = backend;
    {
      ReleaseGil release(true);
      env().connect(name, comm::Milliseconds(static_cast<int64_t>(seconds * 1000)));
    }
    Py_RETURN_NONE;
  });
}
// A number of the current Context that no other has, nor ever had: what Python keeps per rank is keyed by it.
struct ContextNumber {
  static inline std::atomic<long> next{0};
  long number = next++;
};
PyObject* context(PyObject*, PyObject*) {
  return guard([] { return must(PyLong_FromLong(Context::current().get<ContextNumber>().number)); });
}
PyObject* send_ahead(PyObject*, PyObject* on) {
  return guard([&]() -> PyObject* {
    env().send_ahead(PyObject_IsTrue(on) == 1);
    Py_RETURN_NONE;
  });
}
PyObject* connected(PyObject*, PyObject*) {
  return guard([] { return PyBool_FromLong(env().connected()); });
}
PyObject* disconnect(PyObject*, PyObject*) {
  return guard([]() -> PyObject* {
    {
      ReleaseGil release(true);
      env().disconnect();
    }
    Py_RETURN_NONE;
  });
}

PyObject* new_group(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject* ranks;
    const char* backend = "auto";
    double seconds = 0;
    if (!PyArg_ParseTuple(args, "O|sd", &ranks, &backend, &seconds)) throw PythonError();
    std::vector<int64_t> list = int_list_from(ranks, "new_group");
    std::string name = backend;
    int id;
    {
      ReleaseGil release(true);
      id = env().new_group({list.begin(), list.end()}, name, comm::Milliseconds(static_cast<int64_t>(seconds * 1000)));
    }
    return must(PyLong_FromLong(id));
  });
}
PyObject* group_of(PyObject*, PyObject* ranks) {
  return guard([&] {
    std::vector<int64_t> list = int_list_from(ranks, "group_of");
    int id;
    {
      ReleaseGil release(true);
      id = env().group_of({list.begin(), list.end()});
    }
    return must(PyLong_FromLong(id));
  });
}
int number(PyObject* o) {
  long v = PyLong_AsLong(o);
  if (v == -1 && PyErr_Occurred()) throw PythonError();
  return static_cast<int>(v);
}
// (rank in the group or -1, ranks, name, back end)
PyObject* group_info(PyObject*, PyObject* id) {
  return guard([&] {
    int n = number(id);
    std::vector<int> ranks = env().ranks_of(n);
    Object list = own(PyList_New(0));
    for (int r : ranks) must_zero(PyList_Append(list.get(), own(PyLong_FromLong(r)).get()));
    bool member = env().member(n);
    std::string name = member ? group(n).name() : "";
    std::string backend = member ? std::string(group(n).backend()) : "";
    return must(Py_BuildValue("(iOss)", member ? group(n).rank() : -1, list.get(), name.c_str(), backend.c_str()));
  });
}
PyObject* drop_group(PyObject*, PyObject* id) {
  return guard([&]() -> PyObject* {
    int n = number(id);
    {
      ReleaseGil release(true);
      env().drop(n);
    }
    Py_RETURN_NONE;
  });
}

// ---- ranks as threads, for tests
void free_world(PyObject* c) {
  delete static_cast<std::shared_ptr<comm::InProcessWorld>*>(PyCapsule_GetPointer(c, "world"));
}
PyObject* in_process_world(PyObject*, PyObject* size) {
  return guard([&] {
    auto* w = new std::shared_ptr<comm::InProcessWorld>(std::make_shared<comm::InProcessWorld>(number(size)));
    return must(PyCapsule_New(w, "world", free_world));
  });
}
struct ThreadRank {
  Context context;
  Context::Use use{context};
};
thread_local std::unique_ptr<ThreadRank> thread_rank;

// The calling thread becomes rank `rank` of the world, with a Context of its own.
PyObject* enter_rank(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject* world;
    int r;
    if (!PyArg_ParseTuple(args, "Oi", &world, &r)) throw PythonError();
    auto* w = static_cast<std::shared_ptr<comm::InProcessWorld>*>(PyCapsule_GetPointer(world, "world"));
    if (!w) throw PythonError();
    thread_rank = std::make_unique<ThreadRank>();
    env().join(*w, r);
    Py_RETURN_NONE;
  });
}
PyObject* leave_rank(PyObject*, PyObject*) {
  return guard([]() -> PyObject* {
    {
      ReleaseGil release(true);
      thread_rank.reset();
    }
    Py_RETURN_NONE;
  });
}

// ---- collectives that write into tensors, as paddle.distributed has them
struct PyWork {
  comm::WorkPtr work;
  Tensors kept;                  // buffers that must live until it is done
  std::function<void()> finish;  // copies results where they belong
};
void free_work(PyObject* c) {
  auto* w = static_cast<PyWork*>(PyCapsule_GetPointer(c, "work"));
  // Buffers may be in use until the others have been there too.
  if (w->work) {
    ReleaseGil release(PyGILState_Check());
    try {
      w->work->wait();
    } catch (...) {  // whoever cares has waited
    }
  }
  delete w;
}
PyObject* wrap_work(comm::WorkPtr work, Tensors kept, std::function<void()> finish, bool sync) {
  auto w = std::make_unique<PyWork>(PyWork{std::move(work), std::move(kept), std::move(finish)});
  if (sync) {
    Waiting waiting;
    w->work->wait();
    w->work.reset();
    if (w->finish) w->finish();
    w->finish = nullptr;
  }
  return must(PyCapsule_New(w.release(), "work", free_work));
}
PyObject* wait(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject* capsule;
    double seconds = 0;
    if (!PyArg_ParseTuple(args, "O|d", &capsule, &seconds)) throw PythonError();
    auto* w = static_cast<PyWork*>(PyCapsule_GetPointer(capsule, "work"));
    if (!w) throw PythonError();
    if (!w->work) Py_RETURN_TRUE;
    {
      Waiting waiting;
      if (!w->work->wait(comm::Milliseconds(static_cast<int64_t>(seconds * 1000)))) return Py_NewRef(Py_False);
      if (w->finish) w->finish();
    }
    w->work.reset();
    w->finish = nullptr;
    Py_RETURN_TRUE;
  });
}
PyObject* completed(PyObject*, PyObject* capsule) {
  return guard([&] {
    auto* w = static_cast<PyWork*>(PyCapsule_GetPointer(capsule, "work"));
    if (!w) throw PythonError();
    return PyBool_FromLong(!w->work || w->work->is_completed());
  });
}

void expect_plain(const Tensor& t, const char* op) {
  check(t.is_dense(), ErrorKind::kValue,
        "[{}] expected a tensor with a value of its own; a distributed tensor is moved by reshard", op);
}
void expect_alike(const Tensor& a, const Tensor& b, const char* op) {
  check(a.dtype() == b.dtype(), ErrorKind::kType, "[{}] expected tensors of one dtype, got {} and {}", op,
        name_of(a.dtype()), name_of(b.dtype()));
}
std::function<void()> copy_back(Tensor target, Tensor source) {
  if (target.same(source) || target->storage == source->storage) return {};
  return [target, source] { dispatch::copy_into(target, source); };
}
comm::ReduceOp reduce_kind(int op) {
  check(op >= 0 && op <= 4, ErrorKind::kValue, "expected a ReduceOp, got {}", op);
  return static_cast<comm::ReduceOp>(op);
}
comm::Async async(int sync) { return sync ? comm::Async::kNo : comm::Async::kYes; }

// all_reduce_(x, op, group, sync)
PyObject* all_reduce(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject* x;
    int op, id, sync;
    if (!PyArg_ParseTuple(args, "Oiip", &x, &op, &id, &sync)) throw PythonError();
    Tensor t = expect_tensor(x, "all_reduce");
    expect_plain(t, "all_reduce");
    Tensor buffer = distributed::contiguous(t);
    comm::WorkPtr work;
    {
      Waiting waiting;
      work = group(id).all_reduce(buffer.data(), buffer.data(), buffer.numel(), buffer.dtype(), reduce_kind(op),
                                  async(sync));
    }
    t->storage->bump_version();
    return wrap_work(work, {t, buffer}, copy_back(t, buffer), sync);
  });
}
// broadcast_(x, root in the group, group, sync)
PyObject* broadcast(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject* x;
    int root, id, sync;
    if (!PyArg_ParseTuple(args, "Oiip", &x, &root, &id, &sync)) throw PythonError();
    Tensor t = expect_tensor(x, "broadcast");
    expect_plain(t, "broadcast");
    Tensor buffer = distributed::contiguous(t);
    comm::WorkPtr work;
    {
      Waiting waiting;
      work = group(id).broadcast(buffer.data(), buffer.numel(), buffer.dtype(), root, async(sync));
    }
    t->storage->bump_version();
    return wrap_work(work, {t, buffer}, copy_back(t, buffer), sync);
  });
}
// reduce_(x, op, root, group, sync)
PyObject* reduce(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject* x;
    int op, root, id, sync;
    if (!PyArg_ParseTuple(args, "Oiiip", &x, &op, &root, &id, &sync)) throw PythonError();
    Tensor t = expect_tensor(x, "reduce");
    expect_plain(t, "reduce");
    Tensor buffer = distributed::contiguous(t), out = distributed::copy_of(buffer);
    bool mine = group(id).rank() == root;
    comm::WorkPtr work;
    {
      Waiting waiting;
      work = group(id).reduce(buffer.data(), out.data(), buffer.numel(), buffer.dtype(), reduce_kind(op), root,
                              async(sync));
    }
    return wrap_work(work, {t, buffer, out}, mine ? copy_back(t, out) : std::function<void()>(), sync);
  });
}

Tensor joined(const Tensors& parts, bool fill) {
  const Tensor& first = parts[0];
  Shape shape = first.shape();
  shape.insert(0, Dim(static_cast<int64_t>(parts.size())));
  Tensor all = Tensor::empty(shape, first.dtype(), first.place());
  if (!fill) return all;
  for (size_t i = 0; i < parts.size(); ++i) {
    expect_alike(first, parts[i], "collective");
    Tensor row = all.as_view(first.shape(), contiguous_strides(first.shape()), static_cast<int64_t>(i) * first.numel());
    dispatch::copy_into(row, parts[i]);
  }
  return all;
}
std::function<void()> scatter_rows(Tensors targets, Tensor all) {
  return [targets, all] {
    for (size_t i = 0; i < targets.size(); ++i)
      dispatch::copy_into(targets[i], all.as_view(targets[i].shape(), contiguous_strides(targets[i].shape()),
                                                  static_cast<int64_t>(i) * targets[i].numel()));
  };
}
void expect_count(size_t got, int expected, const char* op) {
  check(got == static_cast<size_t>(expected), ErrorKind::kValue,
        "[{}] expected one tensor for each of {} ranks, got {}", op, expected, got);
}

// all_gather(x, group, sync) -> (list of new tensors, work)
PyObject* all_gather(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject* x;
    int id, sync;
    if (!PyArg_ParseTuple(args, "Oip", &x, &id, &sync)) throw PythonError();
    Tensor t = expect_tensor(x, "all_gather");
    expect_plain(t, "all_gather");
    Tensor in = distributed::contiguous(t);
    Tensors outs;
    int n = group(id).size();
    for (int r = 0; r < n; ++r) outs.push_back(Tensor::empty(t.shape(), t.dtype(), t.place()));
    Tensor all = joined(outs, false);
    comm::WorkPtr work;
    {
      Waiting waiting;
      work = group(id).all_gather(in.data(), all.data(), in.numel(), in.dtype(), async(sync));
    }
    Object list = own(wrap_list(outs));
    Object w = own(wrap_work(work, {in, all}, scatter_rows(outs, all), sync));
    return must(Py_BuildValue("(OO)", list.get(), w.get()));
  });
}
// reduce_scatter_(out, list of parts, op, group, sync)
PyObject* reduce_scatter(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *o, *parts;
    int op, id, sync;
    if (!PyArg_ParseTuple(args, "OOiip", &o, &parts, &op, &id, &sync)) throw PythonError();
    Tensor out = expect_tensor(o, "reduce_scatter");
    Tensors list = tensors_from(parts, "reduce_scatter");
    expect_count(list.size(), group(id).size(), "reduce_scatter");
    Tensor in = joined(list, true), buffer = Tensor::empty(list[0].shape(), list[0].dtype(), list[0].place());
    comm::WorkPtr work;
    {
      Waiting waiting;
      work =
          group(id).reduce_scatter(in.data(), buffer.data(), buffer.numel(), in.dtype(), reduce_kind(op), async(sync));
    }
    return wrap_work(work, {in, buffer, out}, copy_back(out, buffer), sync);
  });
}
// scatter_(out, list of parts at the root, root, group, sync)
PyObject* scatter(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *o, *parts;
    int root, id, sync;
    if (!PyArg_ParseTuple(args, "OOiip", &o, &parts, &root, &id, &sync)) throw PythonError();
    Tensor out = expect_tensor(o, "scatter");
    expect_plain(out, "scatter");
    Tensors list = tensors_from(parts, "scatter");
    Tensor in;
    if (group(id).rank() == root) {
      expect_count(list.size(), group(id).size(), "scatter");
      in = joined(list, true);
    }
    Tensor buffer = Tensor::empty(out.shape(), out.dtype(), out.place());
    comm::WorkPtr work;
    {
      Waiting waiting;
      work = group(id).scatter(in.defined() ? in.data() : nullptr, buffer.data(), buffer.numel(), out.dtype(), root,
                               async(sync));
    }
    Tensors kept{buffer, out};
    if (in.defined()) kept.push_back(in);
    return wrap_work(work, std::move(kept), copy_back(out, buffer), sync);
  });
}
// gather(x, root, group, sync) -> (list of new tensors at the root, else [], work)
PyObject* gather(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject* x;
    int root, id, sync;
    if (!PyArg_ParseTuple(args, "Oiip", &x, &root, &id, &sync)) throw PythonError();
    Tensor t = expect_tensor(x, "gather");
    expect_plain(t, "gather");
    Tensor in = distributed::contiguous(t), all;
    Tensors outs;
    if (group(id).rank() == root) {
      for (int r = 0, n = group(id).size(); r < n; ++r) outs.push_back(Tensor::empty(t.shape(), t.dtype(), t.place()));
      all = joined(outs, false);
    }
    comm::WorkPtr work;
    {
      Waiting waiting;
      work =
          group(id).gather(in.data(), all.defined() ? all.data() : nullptr, in.numel(), in.dtype(), root, async(sync));
    }
    Object list = own(wrap_list(outs));
    Tensors kept{in};
    if (all.defined()) kept.push_back(all);
    Object w =
        own(wrap_work(work, std::move(kept), all.defined() ? scatter_rows(outs, all) : std::function<void()>(), sync));
    return must(Py_BuildValue("(OO)", list.get(), w.get()));
  });
}
// all_to_all(list of parts, list of outputs, group, sync): shapes may differ from part to part
PyObject* all_to_all(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *parts, *targets;
    int id, sync;
    if (!PyArg_ParseTuple(args, "OOip", &parts, &targets, &id, &sync)) throw PythonError();
    Tensors in = tensors_from(parts, "alltoall"), out = tensors_from(targets, "alltoall");
    int n = group(id).size();
    expect_count(in.size(), n, "alltoall");
    expect_count(out.size(), n, "alltoall");
    std::vector<int64_t> send, recv;
    int64_t sent = 0, received = 0;
    for (int r = 0; r < n; ++r) {
      expect_alike(in[0], in[r], "alltoall");
      expect_alike(in[0], out[r], "alltoall");
      send.push_back(in[r].numel()), recv.push_back(out[r].numel());
      sent += send.back(), received += recv.back();
    }
    Tensor from = Tensor::empty({sent}, in[0].dtype()), to = Tensor::empty({received}, in[0].dtype());
    auto row = [](const Tensor& flat, int64_t at, const Tensor& like) {
      return flat.as_view(like.shape(), contiguous_strides(like.shape()), at);
    };
    for (int64_t r = 0, at = 0; r < n; at += send[r++]) dispatch::copy_into(row(from, at, in[r]), in[r]);
    comm::WorkPtr work;
    {
      Waiting waiting;
      work = group(id).all_to_all(from.data(), to.data(), send, recv, from.dtype(), async(sync));
    }
    auto finish = [to, out, recv, row] {
      for (size_t r = 0, at = 0; r < out.size(); at += static_cast<size_t>(recv[r++]))
        dispatch::copy_into(out[r], row(to, static_cast<int64_t>(at), out[r]));
    };
    return wrap_work(work, {from, to}, finish, sync);
  });
}
// send(x, peer in the group, group, sync)
PyObject* send(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject* x;
    int peer, id, sync;
    if (!PyArg_ParseTuple(args, "Oiip", &x, &peer, &id, &sync)) throw PythonError();
    Tensor t = expect_tensor(x, "send");
    expect_plain(t, "send");
    Tensor in = sync ? distributed::contiguous(t) : distributed::copy_of(t);
    comm::WorkPtr work;
    {
      Waiting waiting;
      work = group(id).send(in.data(), in.numel(), in.dtype(), peer, async(sync));
    }
    return wrap_work(work, {in}, {}, sync);
  });
}
PyObject* recv(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject* x;
    int peer, id, sync;
    if (!PyArg_ParseTuple(args, "Oiip", &x, &peer, &id, &sync)) throw PythonError();
    Tensor t = expect_tensor(x, "recv");
    expect_plain(t, "recv");
    Tensor buffer = distributed::contiguous(t);
    comm::WorkPtr work;
    {
      Waiting waiting;
      work = group(id).recv(buffer.data(), buffer.numel(), buffer.dtype(), peer, async(sync));
    }
    t->storage->bump_version();
    return wrap_work(work, {t, buffer}, copy_back(t, buffer), sync);
  });
}
PyObject* barrier(PyObject*, PyObject* id) {
  return guard([&]() -> PyObject* {
    int n = number(id);
    Waiting waiting;
    group(n).barrier();
    Py_RETURN_NONE;
  });
}

// ---- distributed tensors
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

PyMethodDef functions[] = {{"rank", rank, METH_NOARGS, nullptr},
                           {"world_size", world_size, METH_NOARGS, nullptr},
                           {"send_ahead", send_ahead, METH_O, nullptr},
                           {"context", context, METH_NOARGS, nullptr},
                           {"connect", connect, METH_VARARGS, nullptr},
                           {"connected", connected, METH_NOARGS, nullptr},
                           {"disconnect", disconnect, METH_NOARGS, nullptr},
                           {"new_group", new_group, METH_VARARGS, nullptr},
                           {"group_of", group_of, METH_O, nullptr},
                           {"group_info", group_info, METH_O, nullptr},
                           {"drop_group", drop_group, METH_O, nullptr},
                           {"in_process_world", in_process_world, METH_O, nullptr},
                           {"enter_rank", enter_rank, METH_VARARGS, nullptr},
                           {"leave_rank", leave_rank, METH_NOARGS, nullptr},
                           {"wait", wait, METH_VARARGS, nullptr},
                           {"completed", completed, METH_O, nullptr},
                           {"all_reduce_", all_reduce, METH_VARARGS, nullptr},
                           {"broadcast_", broadcast, METH_VARARGS, nullptr},
                           {"reduce_", reduce, METH_VARARGS, nullptr},
                           {"all_gather", all_gather, METH_VARARGS, nullptr},
                           {"reduce_scatter_", reduce_scatter, METH_VARARGS, nullptr},
                           {"scatter_", scatter, METH_VARARGS, nullptr},
                           {"gather", gather, METH_VARARGS, nullptr},
                           {"all_to_all", all_to_all, METH_VARARGS, nullptr},
                           {"send", send, METH_VARARGS, nullptr},
                           {"recv_", recv, METH_VARARGS, nullptr},
                           {"barrier", barrier, METH_O, nullptr},
                           {"encode", encode, METH_VARARGS, nullptr},
                           {"attr", attr_text, METH_O, nullptr},
                           {"local_part", local_part, METH_VARARGS, nullptr},
                           {"local_value", local_value, METH_O, nullptr},
                           {"assign", assign, METH_VARARGS, nullptr},
                           {"make", make, METH_VARARGS, nullptr},
                           {}};

PyModuleDef definition{PyModuleDef_HEAD_INIT,
                       "paddle._core.dist",
                       "Process groups and distributed tensors.",
                       -1,
                       functions,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr};

// The GIL is given away while a rank waits for others, if this thread holds it.
void* enter_wait() { return PyGILState_Check() ? PyEval_SaveThread() : nullptr; }
void leave_wait(void* state) { PyEval_RestoreThread(static_cast<PyThreadState*>(state)); }

}  // namespace

void add_distributed(PyObject* module) {
  Waiting::install(enter_wait, leave_wait);
  Object dist = own(PyModule_Create(&definition));
  must_zero(PyModule_AddObjectRef(module, "dist", dist.get()));
  must_zero(PyDict_SetItemString(PyImport_GetModuleDict(), "paddle._core.dist", dist.get()));
}

}  // namespace paddle::bindings
