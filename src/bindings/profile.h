// Looking at what runs: the submodule paddle._core.profile.
#pragma once
#include "bindings/py.h"

namespace paddle::bindings {
void add_profile(PyObject* core);
}  // namespace paddle::bindings
