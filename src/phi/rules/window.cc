#include "phi/rules/window.h"

namespace paddle::rules {

bool channels_last(std::string_view op, std::string_view f) {
  if (f == "NCHW" || f == "NCDHW" || f == "NCL" || f == "NC" || f == "AnyLayout") return false;
  check(f == "NHWC" || f == "NDHWC" || f == "NLC", ErrorKind::kValue,
        "[{}] expected data_format NCHW or NHWC (or their 1-D and 3-D forms), got {}", op, f);
  return true;
}

namespace {

constexpr int64_t kMost = INT32_MAX;  // what oneDNN and official Paddle take

std::vector<int64_t> per_axis(std::string_view op, std::string_view name, std::span<const int64_t> v, size_t n,
                              int64_t least) {
  std::vector<int64_t> out(v.begin(), v.end());
  if (out.empty()) out.assign(n, 1);
  if (out.size() == 1) out.resize(n, out[0]);
  check(out.size() == n, ErrorKind::kValue, "[{}] expected {} {} (one per spatial axis), got {}", op, n, name,
        out.size());
  for (int64_t x : out)
    check(x >= least && x <= kMost, ErrorKind::kValue, "[{}] expected {} in [{}, {}], got {}", op, name, least, kMost,
          x);
  return out;
}

}  // namespace

Window make_window(std::string_view op, const Tensor& x, std::span<const int64_t> kernel,
                   std::span<const int64_t> strides, std::span<const int64_t> dilations,
                   std::span<const int64_t> paddings, std::string_view algorithm, std::string_view data_format) {
  Window w;
  w.channels_last = channels_last(op, data_format);
  size_t n = kernel.size();
  infer::check_rank(op, "input", x, static_cast<int64_t>(n) + 2, static_cast<int64_t>(n) + 2);
  w.kernel = per_axis(op, "kernel sizes", kernel, n, 1);
  w.strides = per_axis(op, "strides", strides, n, 1);
  w.dilations = per_axis(op, "dilations", dilations, n, 1);
  w.paddings.assign(2 * n, 0);
  if (algorithm == "VALID") return w;
  if (algorithm == "SAME") {
    for (size_t i = 0; i < n; ++i) {
      int64_t size = guard_int(x.shape()[w.axis(i)]);
      w.dilations[i] = 1;  // as official Paddle: SAME ignores dilation
      int64_t out = (size + w.strides[i] - 1) / w.strides[i];
      int64_t total = std::max<int64_t>(0, (out - 1) * w.strides[i] + w.kernel[i] - size);
      w.paddings[2 * i] = total / 2;
      w.paddings[2 * i + 1] = total - total / 2;
    }
    return w;
  }
  check(algorithm == "EXPLICIT", ErrorKind::kValue, "[{}] expected padding_algorithm EXPLICIT, SAME or VALID, got {}",
        op, algorithm);
  if (paddings.size() == 2 * n) {
    w.paddings = per_axis(op, "paddings", paddings, 2 * n, -kMost);
  } else {
    std::vector<int64_t> each = per_axis(
        op, "paddings", paddings.empty() ? std::span<const int64_t>(w.paddings).first(n) : paddings, n, -kMost);
    for (size_t i = 0; i < n; ++i) w.paddings[2 * i] = w.paddings[2 * i + 1] = each[i];
  }
  return w;
}

Window resolved_window(std::string_view op, std::span<const int64_t> kernel, std::span<const int64_t> strides,
                       std::span<const int64_t> dilations, std::span<const int64_t> paddings,
                       std::string_view data_format) {
  Window w;
  w.channels_last = channels_last(op, data_format);
  const size_t n = kernel.size();
  w.kernel = per_axis(op, "kernel sizes", kernel, n, 1);
  for (const auto& v : {strides, dilations})
    check(v.size() == n, ErrorKind::kValue, "[{}] expected {} strides and dilations, got {}", op, n, v.size());
  check(paddings.size() == 2 * n, ErrorKind::kValue, "[{}] expected {} paddings, two per spatial axis, got {}", op,
        2 * n, paddings.size());
  w.strides = per_axis(op, "strides", strides, n, 1);
  w.dilations = per_axis(op, "dilations", dilations, n, 1);
  w.paddings = per_axis(op, "paddings", paddings, 2 * n, -kMost);
  return w;
}

Dim positions(std::string_view op, const Window& w, size_t i, Dim size) {
  int64_t extent = w.dilations[i] * (w.kernel[i] - 1) + 1;
  Dim room = size + Dim(w.paddings[2 * i] + w.paddings[2 * i + 1] - extent);
  check(!less(room, Dim(0)), ErrorKind::kValue,
        "[{}] expected a window no larger than the padded input, got a window of {} on {} (axis {})", op, extent,
        (size + Dim(w.paddings[2 * i] + w.paddings[2 * i + 1])).str(), i);
  if (w.ceil_mode) room = room + Dim(w.strides[i] - 1);
  Dim n = floor_div(room, Dim(w.strides[i])) + Dim(1);
  return n;
}

}  // namespace paddle::rules
