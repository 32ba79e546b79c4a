// The extension module paddle._core.
#include "bindings/errors.h"
#include "bindings/ir.h"
#include "bindings/profile.h"
#include "bindings/py.h"
#include "bindings/trace.h"

namespace {

PyModuleDef definition{PyModuleDef_HEAD_INIT,
                       "paddle._core",
                       "The C++ core of the framework.",
                       -1,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr};

}  // namespace

extern "C" __attribute__((visibility("default"))) PyObject* PyInit__core() {
  using namespace paddle::bindings;
  return guard([]() -> PyObject* {
    Object module = own(PyModule_Create(&definition));
    add_errors(module.get());
    add_dtypes(module.get());
    add_symint(module.get());
    add_tensor(module.get());
    add_operators(module.get());
    add_autograd(module.get());
    add_values(module.get());
    add_methods(module.get());
    add_dlpack(module.get());
    add_runtime(module.get());
    add_trace(module.get());
    add_ir(module.get());
    add_distributed(module.get());
    add_profile(module.get());
    return module.release();
  });
}
