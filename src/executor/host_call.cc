#include "executor/host_call.h"

#include <unistd.h>

#include <chrono>

#include "base/error.h"

namespace paddle::executor {
namespace {

Tensors nothing(int64_t, std::span<const Tensor>) {
  fail(ErrorKind::kNotImplemented, "[host_call] there is no language to call back into");
}

}  // namespace

Tensors (*host_call)(int64_t, std::span<const Tensor>) = nothing;

const std::string& process_token() {
  static const std::string token =
      fmt::format("{}-{}", getpid(), std::chrono::steady_clock::now().time_since_epoch().count());
  return token;
}

Tensors call_host(const pir::Operation& op, std::span<const Tensor> inputs) {
  check(op.attr("process").as_string() == process_token(), ErrorKind::kRuntime,
        "[py_func] the function that this program calls lives in another process: it can't be saved with the program");
  Tensors out = host_call(op.attr("function").as_int(), inputs);
  check(out.size() == op.num_results(), ErrorKind::kValue,
        "[py_func] expected the function to return {} tensors, got {}", op.num_results(), out.size());
  for (size_t k = 0; k < out.size(); ++k) {
    const pir::Type type = op.result(k).type();
    check(out[k].dtype() == type.dtype() && out[k].rank() == type.rank(), ErrorKind::kValue,
          "[py_func] expected result {} of rank {} and dtype {}, got {} and {}", k, type.rank(), name_of(type.dtype()),
          out[k].rank(), name_of(out[k].dtype()));
  }
  return out;
}

}  // namespace paddle::executor
