// What print operations write and assertions say: texts with tensors in them.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pir/operation.h"
#include "tensor/tensor.h"

namespace paddle::executor {

struct Message {
  // A tensor's place is "\x01", followed by how it is formatted: a conversion (or none), ':' and a format; by nothing
  // where it is shown as it is. "\x02" ends an argument of print.
  std::vector<std::string> texts;
  std::string sep = " ", end = "\n", file = "stdout";  // or stderr
  bool flush = false;
};

std::shared_ptr<const Message> message_of(const pir::Operation& op);  // cf.print or cf.assert

// Installed by the language binding. Default: standard output, without the tensors' elements.
extern void (*print_hook)(const Message&, std::span<const Tensor> tensors);
extern std::string (*format_hook)(const Message&, std::span<const Tensor> tensors);

}  // namespace paddle::executor
