// How often operators were called, by the dtype that they computed in.
#pragma once
#include <array>
#include <atomic>
#include <map>
#include <string>

#include "api/op_call.h"

namespace paddle::dispatch {

enum class StatColumn { kFloat16, kBFloat16, kFloat32, kOther };
using OpStats = std::map<std::string, std::array<int64_t, 4>>;

// Whether calls are counted, as a plain variable: it is read after every operator.
extern std::atomic<bool> count_ops;

void note_op(OpCall& c);

// Starts with empty counts; ends and gives them.
void start_op_stats();
OpStats stop_op_stats();

}  // namespace paddle::dispatch
