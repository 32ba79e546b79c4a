// paddle._core.profile: recording of spans, and reports of compiled groups.
#include "bindings/profile.h"

#include "base/profile.h"
#include "bindings/trace_types.h"
#include "compile/recompute_cut.h"
#include "compile/runner.h"

namespace paddle::bindings {
namespace {

PyObject* start(PyObject*, PyObject*) {
  return guard([]() -> PyObject* {
    profile::start();
    Py_RETURN_NONE;
  });
}

PyObject* stop(PyObject*, PyObject*) {
  return guard([] {
    const std::vector<profile::Event> events = profile::stop();
    Object list = own(PyList_New(0));
    for (const profile::Event& e : events) {
      Object row = own(Py_BuildValue("(ssLLKs)", e.name.c_str(), std::string(profile::name_of(e.kind)).c_str(),
                                     static_cast<long long>(e.begin), static_cast<long long>(e.end),
                                     static_cast<unsigned long long>(e.thread), e.detail.c_str()));
      must_zero(PyList_Append(list.get(), row.get()));
    }
    return list.release();
  });
}

PyObject* steps_of(const compile::GroupReport& g) {
  Object list = own(PyList_New(0));
  for (const auto& s : g.steps)
    must_zero(
        PyList_Append(list.get(), own(Py_BuildValue("(ssd)", s.name.c_str(), s.text.c_str(), s.milliseconds)).get()));
  return list.release();
}

PyObject* kernels_of(const compile::GroupReport& g) {
  Object list = own(PyList_New(0));
  for (const auto& k : g.kernels)
    must_zero(
        PyList_Append(list.get(), own(Py_BuildValue("(ssLL)", k.name.c_str(), k.why.c_str(),
                                                    static_cast<long long>(k.bytes), static_cast<long long>(k.flops)))
                                      .get()));
  return list.release();
}

PyObject* decisions_of(const std::vector<compile::FusionReport>& decisions) {
  Object list = own(PyList_New(0));
  for (const auto& d : decisions)
    must_zero(PyList_Append(list.get(), own(Py_BuildValue("(Nsss)", PyBool_FromLong(d.joined), d.first.c_str(),
                                                          d.second.c_str(), d.why.c_str()))
                                            .get()));
  return list.release();
}

PyObject* groups(PyObject*, PyObject* program) {
  return guard([&] {
    Object list = own(PyList_New(0));
    std::vector<compile::FusionReport> apart;
    for (const compile::GroupReport& g : program_in(program)->groups(&apart)) {
      Object row =
          own(Py_BuildValue("{s:s,s:s,s:s,s:N,s:N,s:N,s:L,s:L}", "operations", g.operations.c_str(), "assembly",
                            g.assembly.c_str(), "why_kernels", g.why_kernels.c_str(), "steps", steps_of(g), "kernels",
                            kernels_of(g), "decisions", decisions_of(g.decisions), "bytes",
                            static_cast<long long>(g.bytes), "flops", static_cast<long long>(g.flops)));
      must_zero(PyList_Append(list.get(), row.get()));
    }
    return own(Py_BuildValue("(NN)", list.release(), decisions_of(apart))).release();
  });
}

PyObject* rows_of(const executor::MemoryReport& r) {
  Object list = own(PyList_New(0));
  for (const executor::MemoryRow& row : r.rows)
    must_zero(PyList_Append(list.get(), own(Py_BuildValue("(ssLLII)", row.what.c_str(), row.where.c_str(),
                                                          static_cast<long long>(row.bytes),
                                                          static_cast<long long>(row.offset), row.first, row.last))
                                            .get()));
  return list.release();
}

PyObject* memory(PyObject*, PyObject* program) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (const executor::MemoryReport& r : program_in(program)->memory()) {
      Object operations = own(PyList_New(0));
      for (const std::string& name : r.operations)
        must_zero(PyList_Append(operations.get(), own(PyUnicode_FromString(name.c_str())).get()));
      Object row = own(Py_BuildValue("{s:s,s:L,s:L,s:I,s:N,s:N}", "name", r.name.c_str(), "arena",
                                     static_cast<long long>(r.arena), "least", static_cast<long long>(r.least), "peak",
                                     r.peak, "operations", operations.release(), "rows", rows_of(r)));
      must_zero(PyList_Append(list.get(), row.get()));
    }
    return list.release();
  });
}

PyObject* cut(PyObject*, PyObject* program) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (const compile::CutRow& r : program_in(program)->cut())
      must_zero(PyList_Append(list.get(), own(Py_BuildValue("(NsLs)", PyBool_FromLong(r.kept), r.what.c_str(),
                                                            static_cast<long long>(r.bytes), r.why.c_str()))
                                              .get()));
    return list.release();
  });
}

PyMethodDef methods[] = {
    {"start", start, METH_NOARGS, "Records spans from now on; what was recorded before is dropped."},
    {"stop", stop, METH_NOARGS, "[(name, kind, begin_ns, end_ns, thread, detail)] since start()."},
    {"groups", groups, METH_O,
     "What the compiler made of the program's groups, one dict each; and what it decided about the operations in "
     "none."},
    {"memory", memory, METH_O,
     "What lies in memory and when, one dict for each compiled part: its rows are (what, where, bytes, offset, first "
     "instruction, last)."},
    {"cut", cut, METH_O,
     "What the forward part keeps for the backward part, and what that computes again: (kept, what, bytes, why)."},
    {}};

PyModuleDef definition{
    PyModuleDef_HEAD_INIT, "paddle._core.profile", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

void add_profile(PyObject* core) {
  Object module = own(PyModule_Create(&definition));
  must_zero(PyModule_AddObjectRef(core, "profile", module.get()));
}

}  // namespace paddle::bindings
