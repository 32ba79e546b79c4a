// paddle._core.dist: the module of process groups, collectives on whole tensors, and distributed tensors.
#include "bindings/dist.h"
#include "distributed/collectives.h"

namespace paddle::bindings {
namespace {

PyModuleDef definition{PyModuleDef_HEAD_INIT,
                       "paddle._core.dist",
                       "Process groups and distributed tensors.",
                       -1,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr};

// The GIL is given away while a rank waits for others, if this thread holds it.
void* enter_wait() { return PyGILState_Check() ? ReleaseGil::release() : nullptr; }
void leave_wait(void* state) { ReleaseGil::acquire(static_cast<PyThreadState*>(state)); }

}  // namespace

void add_distributed(PyObject* module) {
  distributed::Waiting::install(enter_wait, leave_wait);
  Object dist = own(PyModule_Create(&definition));
  add_dist_environment(dist.get());
  add_dist_collectives(dist.get());
  add_dist_tensors(dist.get());
  must_zero(PyModule_AddObjectRef(module, "dist", dist.get()));
  must_zero(PyDict_SetItemString(PyImport_GetModuleDict(), "paddle._core.dist", dist.get()));
}

}  // namespace paddle::bindings
