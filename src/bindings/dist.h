// What the parts of paddle._core.dist share.
#pragma once

#include "bindings/py.h"
#include "distributed/environment.h"

namespace paddle::bindings {

inline distributed::Environment& rank_environment() { return distributed::Environment::current(); }
inline comm::ProcessGroup& group(int id) { return rank_environment().group(id); }

// A Python int as a group's or rank's number.
int number(PyObject* o);

void add_dist_environment(PyObject* module);
void add_dist_collectives(PyObject* module);
void add_dist_tensors(PyObject* module);

}  // namespace paddle::bindings
