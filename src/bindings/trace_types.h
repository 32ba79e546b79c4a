// The classes of paddle._core.trace, for the files that make their objects.
#pragma once
#include <memory>

#include "bindings/py.h"

namespace paddle::compile {
class Runner;
}

namespace paddle::bindings {
std::shared_ptr<compile::Runner> program_in(PyObject* program);  // TypeError if it is none
PyObject* wrap_runner(const std::shared_ptr<compile::Runner>& r);
PyObject* wrap_program(const std::shared_ptr<compile::Runner>& r);
void add_trace_files(PyObject* module);
void add_recompute(PyObject* module);
}  // namespace paddle::bindings
