// Centred sums: sum((x - m)^2), where m comes from the sum of x over the same axes, as variances are written.
//
// Taken literally, such a sum reads x a second time when m is known. Cut into blocks it needn't: each block keeps its
// own mean and the sum of squares around that (in cache, the second read is cheap), and blocks combine exactly (Chan,
// Golub, LeVeque 1979): sum((x - m)^2) = sum over blocks of M2_b + n_b (mean_b - m)^2.
#pragma once
#include <optional>

#include "cinn/compute/axes.h"

namespace paddle::cinn {

struct CentredSum {
  int x = -1;     // what is summed
  int mean = -1;  // m, over axes that the reduction keeps
  int sum = -1;   // the sum of x that m is made of
};

// What reduction `r` is, if it is one. m must follow from the sum by arithmetic with constants alone: then an infinity
// in x is a NaN in both forms.
std::optional<CentredSum> centred_sum(const Group& group, const Axes& axes, int r);

}  // namespace paddle::cinn
