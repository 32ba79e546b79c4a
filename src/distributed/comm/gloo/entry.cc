// What the core asks of this library when it opens it.
#include "distributed/comm/gloo/gloo_group.h"

extern "C" __attribute__((visibility("default"))) void paddle_register_gloo() { paddle::comm::register_gloo(); }
