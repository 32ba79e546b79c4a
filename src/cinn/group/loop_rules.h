// The loop nests of operators that have kernels on CPUs: matrix products, convolutions, scans, sorting, scattering,
// optimisers' updates. On a device without kernels of its own they are compiled like any operator. Each is said in the
// group's own terms: an element of the result is a reduction over elements of the operands.
#pragma once
#include "cinn/group/translator.h"

namespace paddle::cinn {

// The rule of an operator; null if it has none. It is used for devices only: CPUs have better kernels.
IndexRule loop_rule(const pir::Operation& op);

using RuleTable = std::span<const std::pair<const char*, IndexRule>>;
RuleTable order_rules();    // scans, sorting, searching
RuleTable product_rules();  // matmul, convolutions
RuleTable pool_rules();
RuleTable scatter_rules();
RuleTable update_rules();  // optimisers

}  // namespace paddle::cinn
