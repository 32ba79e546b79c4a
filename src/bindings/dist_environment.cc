// paddle._core.dist: the rank, its world and groups; ranks as threads.
#include <atomic>

#include "base/context.h"
#include "base/error.h"
#include "bindings/dist.h"

namespace paddle::bindings {

int number(PyObject* o) {
  long v = PyLong_AsLong(o);
  if (v == -1 && PyErr_Occurred()) throw PythonError();
  return static_cast<int>(v);
}

namespace {

// ---- who and where
PyObject* rank(PyObject*, PyObject*) {
  return guard([] { return must(PyLong_FromLong(rank_environment().rank())); });
}
PyObject* world_size(PyObject*, PyObject*) {
  return guard([] { return must(PyLong_FromLong(rank_environment().world_size())); });
}
PyObject* connect(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    const char* backend = "auto";
    double seconds = 900;
    if (!PyArg_ParseTuple(args, "|sd", &backend, &seconds)) throw PythonError();
    std::string name = backend;
    {
      ReleaseGil release(true);
      rank_environment().connect(name, comm::Milliseconds(static_cast<int64_t>(seconds * 1000)));
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
    rank_environment().send_ahead(PyObject_IsTrue(on) == 1);
    Py_RETURN_NONE;
  });
}
PyObject* connected(PyObject*, PyObject*) {
  return guard([] { return PyBool_FromLong(rank_environment().connected()); });
}
PyObject* disconnect(PyObject*, PyObject*) {
  return guard([]() -> PyObject* {
    {
      ReleaseGil release(true);
      rank_environment().disconnect();
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
      id = rank_environment().new_group({list.begin(), list.end()}, name,
                                        comm::Milliseconds(static_cast<int64_t>(seconds * 1000)));
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
      id = rank_environment().group_of({list.begin(), list.end()});
    }
    return must(PyLong_FromLong(id));
  });
}
// (rank in the group or -1, ranks, name, back end)
PyObject* group_info(PyObject*, PyObject* id) {
  return guard([&] {
    int n = number(id);
    std::vector<int> ranks = rank_environment().ranks_of(n);
    Object list = own(PyList_New(0));
    for (int r : ranks) must_zero(PyList_Append(list.get(), own(PyLong_FromLong(r)).get()));
    bool member = rank_environment().member(n);
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
      rank_environment().drop(n);
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
    rank_environment().join(*w, r);
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
                           {}};

}  // namespace

void add_dist_environment(PyObject* module) { add_functions(module, functions); }

}  // namespace paddle::bindings
