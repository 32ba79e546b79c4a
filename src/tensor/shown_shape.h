// Shapes as arguments of messages: text is made only where the message is. check(ok, ..., to_string(shape)) would make
// it at every call.
#pragma once
#include <fmt/format.h>

#include <span>

#include "tensor/dim.h"

namespace paddle {

struct ShownShape {
  std::span<const Dim> sizes;
};
inline ShownShape shown(std::span<const Dim> shape) { return {shape}; }

}  // namespace paddle

template <>
struct fmt::formatter<paddle::ShownShape> : fmt::formatter<std::string> {
  auto format(const paddle::ShownShape& s, fmt::format_context& context) const {
    return fmt::formatter<std::string>::format(paddle::to_string(s.sizes), context);
  }
};
