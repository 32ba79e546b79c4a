// Capture in Python: the submodule paddle._core.trace.
#pragma once
#include "bindings/py.h"

namespace paddle::bindings {
extern PyObject* graph_break_class;
void add_trace(PyObject* core);
bool is_package_file(const char* path);  // a source file of this package: not the user's
}  // namespace paddle::bindings
