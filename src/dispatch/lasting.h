// Static mode: traces that last (trace_lasting.cc).
#pragma once
#include "dispatch/trace.h"

namespace paddle::dispatch {

bool lasting_trace(const Trace* trace);  // false for none

}  // namespace paddle::dispatch
