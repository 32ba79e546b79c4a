// The shapes of prior boxes: what prior_box's shape rule counts and its kernel makes.
#pragma once
#include <cmath>
#include <span>
#include <vector>

namespace paddle::rules {

// 1, then every ratio that is not there yet, each followed by its inverse where `flip` says so.
inline std::vector<double> expanded_ratios(std::span<const double> given, bool flip) {
  std::vector<double> ratios = {1.0};
  for (double r : given) {
    bool known = false;
    for (double k : ratios) known |= std::abs(r - k) < 1e-6;
    if (known) continue;
    ratios.push_back(r);
    if (flip) ratios.push_back(1.0 / r);
  }
  return ratios;
}

}  // namespace paddle::rules
