// paddle._core.dist: collectives that write into tensors, as paddle.distributed has them.
#include "api/ops.h"
#include "base/error.h"
#include "bindings/dist.h"
#include "dispatch/eager.h"
#include "distributed/collectives.h"

namespace paddle::bindings {
namespace {

using distributed::Waiting;

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

PyMethodDef functions[] = {{"wait", wait, METH_VARARGS, nullptr},
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
                           {}};

}  // namespace

void add_dist_collectives(PyObject* module) { add_functions(module, functions); }

}  // namespace paddle::bindings
