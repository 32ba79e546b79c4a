// A fingerprint of what a program computes: operations, attributes, types and how values connect. It is the same in
// every process: names of symbolic sizes, locations and addresses don't enter. Used as key of the caches on disk.
#pragma once
#include <cstdint>
#include <string>

#include "pir/program.h"

namespace paddle::pir {

struct Fingerprint {
  uint64_t hi = 0, lo = 0;
  bool operator==(const Fingerprint&) const = default;
  std::string str() const;  // 32 hexadecimal digits
};

struct FingerprintOptions {
  bool stop_gradient = false;  // what doesn't change values: stop_gradient, persistable, struct_name ... are left out
};

Fingerprint fingerprint(const Program& program, const FingerprintOptions& options = {});
Fingerprint fingerprint(const Block& block, const FingerprintOptions& options = {});
Fingerprint fingerprint(const Operation& op, const FingerprintOptions& options = {});  // with its regions

// Same operation kind, operands, attributes and result types, regions equal up to values inside: one may stand for the
// other.
bool equivalent(const Operation& a, const Operation& b);
size_t hash_for_equivalence(const Operation& op);

}  // namespace paddle::pir

template <>
struct std::hash<paddle::pir::Fingerprint> {
  size_t operator()(const paddle::pir::Fingerprint& f) const { return f.lo; }
};
