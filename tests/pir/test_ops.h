// A few operators described by tables of their own, so that the IR's tests need no records.
#pragma once
#include "pir/builder.h"
#include "pir/op_args.h"

namespace paddle::pir::testing {
void register_test_ops();
}
