#include "cinn/group/nest.h"

#include <string>

#include "base/error.h"

namespace paddle::cinn {

bool flag(const pir::Operation& op, std::string_view name) {
  pir::Attribute a = op.attr(name);
  return a && a.as_bool();
}

int64_t whole(const pir::Operation& op, std::string_view name, int64_t absent) {
  pir::Attribute a = op.attr(name);
  return a ? a.as_int() : absent;
}

double real(const pir::Operation& op, std::string_view name, double absent) {
  pir::Attribute a = op.attr(name);
  return a ? a.as_double() : absent;
}

std::string word(const pir::Operation& op, std::string_view name, std::string_view absent) {
  pir::Attribute a = op.attr(name);
  return a ? std::string(a.as_string()) : std::string(absent);
}

void no_nest(const pir::Operation& op, std::string_view why) {
  fail(ErrorKind::kNotImplemented, "{} can't be compiled: {}", op.describe(), why);
}

}  // namespace paddle::cinn
