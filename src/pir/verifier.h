// Checks that a program keeps the IR's rules: counts and kinds of operands, attributes, results and regions by the
// operations' tables, definitions before uses, terminators, and each operation's own check.
#pragma once
#include <string>
#include <vector>

#include "pir/program.h"

namespace paddle::pir {

struct VerifyOptions {
  bool infer = false;  // also compares result types with what shape rules say (dtype, rank, known extents)
};

// All problems, one message each: "[pd_op.add] (model.py:31) operand \"y\": expected ..., got ...".
std::vector<std::string> problems_of(const Operation& op, const VerifyOptions& options = {});
// Throws a ValueError with the first problem (and how many more there are). `when` ("after pass x") goes in front.
void verify(const Program& program, const VerifyOptions& options = {}, std::string_view when = {});
void verify(const Operation& op, const VerifyOptions& options = {}, std::string_view when = {});

}  // namespace paddle::pir
