#include "cinn/group/fuse_reasons.h"

#include <fmt/format.h>

#include "api/op_info.h"
#include "cinn/group/translator.h"
#include "pir/effects.h"
#include "pir/op_def.h"

namespace paddle::cinn {

using pir::Operation;

namespace {

bool has_code(const Operation& op) {
  auto complex_or_narrow = [](pir::Value v) {
    return v && v.type().is_tensor() && (is_complex(v.dtype()) || is_float8(v.dtype()));
  };
  for (pir::Value v : op.operands())
    if (complex_or_narrow(v)) return false;
  for (size_t r = 0; r < op.num_results(); ++r)
    if (complex_or_narrow(op.result(r))) return false;
  return true;
}

}  // namespace

std::string shape_text(pir::Value v) {
  if (!v.type().has_shape()) return "[?]";
  std::string out;
  for (Dim d : v.shape()) out += (out.empty() ? "" : ", ") + d.str();
  return "[" + out + "]";
}

std::string why_outside(const Operation& op, const FuseOptions& options) {
  if (op.num_regions()) return "control flow: it has blocks of its own";
  if (op.has(pir::kGraphInput)) return "it brings a value into the program";
  if (op.has(pir::kGraphOutput)) return "write-back: it takes the value out of the program";
  if (op.has(kCollective)) return "side effect: it talks to other ranks";
  if (op.has(kRandom)) return "random: it draws its numbers by a kernel, once";
  if (op.has(pir::kBarrier)) return "a barrier: what follows is computed anew";
  if (op.has(pir::kDistinct)) return "side effect: its place among others is kept";
  if (op.has(kDataDependentShape)) return "data-dependent: how large its result is, only running tells";
  if (!pir::sizes_told_by(op).empty()) return "data-dependent: it tells a size that a group would have to know before";
  if (!options.all && picks_rows(op)) return "data-dependent: its kernel checks the indices, a group would not";
  if (!has_code(op)) return "its element type is not compiled";
  if (op.has(kMatmulLike)) return "a product: its kernel's loops are its own";
  return "only a kernel computes it: its record has no expression, combiner or index map";
}

std::string why_joined(const Operation& producer, const Operation& consumer) {
  const uint64_t moves = kIndexMap | kView;
  if (producer.num_results() && producer.result(size_t{0}).type().is_vector())
    return "a list of tensors exists only inside a group";
  if (consumer.has(moves)) return "it only says where elements stand: its readers compute them";
  if (producer.has(moves)) return "elements are read where they stand";
  if (consumer.has(kReduction))
    return fmt::format("the reduction takes elements of {} as they are made", shape_text(producer.result(size_t{0})));
  if (producer.has(kReduction)) return "the reduction's result is read in the rows that it keeps";
  const std::string from = shape_text(producer.result(size_t{0})), to = shape_text(consumer.result(size_t{0}));
  if (from == to) return fmt::format("same iteration space {}", to);
  return fmt::format("{} is repeated along {}", from, to);
}

}  // namespace paddle::cinn
