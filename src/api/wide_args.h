// Which numbers of pd_op's operators are 64 bits wide (int64, double) rather than 32: the records' field `wide`.
#pragma once
#include "api/op_info.h"

namespace paddle {

bool is_wide(const OpInfo& op, size_t arg);

}  // namespace paddle
