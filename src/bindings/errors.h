// The classes of Python exceptions that the core's errors become.
#pragma once
#include "bindings/py.h"

namespace paddle::bindings {
void add_errors(PyObject* module);  // makes the classes; they are attributes of the module
}  // namespace paddle::bindings
