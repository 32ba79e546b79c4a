#include "distributed/local_form.h"

#include "api/ops.h"
#include "api/shard.h"
#include "dispatch/eager.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"

namespace paddle::distributed {
namespace {

// On values now, or into the program that is being captured.
void run_here(OpCall& c) {
  if (dispatch::Trace* trace = dispatch::Trace::active())
    trace->call(c, 0);
  else
    dispatch::run_eager(c);
}

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

// One part of a `local` field: name(argument, number).
struct Part {
  std::string_view name, arg;
  int number = 0;
};

std::vector<Part> parts_of(std::string_view local) {
  std::vector<Part> parts;
  while (!local.empty()) {
    size_t end = local.find(';');
    std::string_view text = trim(local.substr(0, end));
    local = end == local.npos ? std::string_view() : local.substr(end + 1);
    Part p;
    size_t open = text.find('(');
    p.name = text.substr(0, open);
    if (open != text.npos) {
      std::string_view inside = text.substr(open + 1, text.size() - open - 2);
      size_t comma = inside.find(',');
      p.arg = trim(inside.substr(0, comma));
      if (comma != inside.npos) p.number = std::stoi(std::string(trim(inside.substr(comma + 1))));
    }
    parts.push_back(p);
  }
  return parts;
}

size_t arg_index(const OpInfo& op, std::string_view name) {
  for (size_t i = 0; i < op.args.size(); ++i)
    if (op.args[i].name == name) return i;
  throw_internal(__FILE__, __LINE__, fmt::format("[{}] `local` names no argument: {}", op.name, name));
}

void set_sizes(OpCall& c, size_t arg, const spmd::Shape& sizes) {
  if (c.op.args[arg].kind == ArgKind::kInts) {
    c.args[arg] = Arg(c.kept_ints.emplace_front(std::span<const int64_t>(sizes)));
  } else if (!c.args[arg].int_list().empty()) {
    // Borrowed like every list; the call lives no longer than the shards' description.
    c.args[arg] = Arg(std::span<const int64_t>(sizes));
  }
}

// Rows of a table of which this rank holds a stretch. What lies elsewhere is zero here: the result is Partial(sum).
void embedding(const LocalCall& c) {
  bool sharded = false;
  for (const spmd::AxisRole& role : c.resolved.axes) sharded |= role.label == "v" && role.factor >= 0;
  if (!sharded) return run_here(c.call);
  const Tensor& ids = c.call.tensor(0);
  const Tensor& table = c.call.tensor(1);
  int64_t first = c.inputs[1].offset[0], rows = c.inputs[1].shape[0], padding = c.call.args[2].i();
  DType dtype = ids.dtype();
  if (rows == 0) {
    c.call.out(0) = ops::full(Ints(std::span<const int64_t>(c.outputs[0].shape)), Scalar(0.0), table.dtype());
    return;
  }
  Tensor local = ops::subtract(ids, ops::full({}, Scalar(first), dtype));
  Tensor here = ops::logical_and(ops::greater_equal(local, ops::full({}, Scalar(int64_t{0}), dtype)),
                                 ops::less_than(local, ops::full({}, Scalar(rows), dtype)));
  Tensor safe = ops::where(here, local, ops::full_like(local, Scalar(int64_t{0})));
  int64_t shifted = padding >= first && padding < first + rows ? padding - first : -1;
  Tensor found = ops::embedding(safe, table, shifted);
  c.call.out(0) = ops::where(ops::unsqueeze(here, {-1}), found, ops::full_like(found, Scalar(0.0)));
}

bool random(const LocalCall& c) { return c.call.op.has(kRandom) && !c.outputs.empty(); }

ShardGeometry geometry(const spmd::LocalShard& shard, const paddle::Shape& whole) {
  ShardGeometry g;
  for (Dim d : whole) g.whole.push_back(d.value());
  for (int64_t o : shard.offset) g.offset.push_back(o);
  return g;
}

// The program's operator draws the same part.
void note_shard(pir::Operation& op, const ShardGeometry& g) {
  pir::Operation* at = &op;
  while (at && !(at->info() && at->info()->has(kRandom))) at = at->prev();
  PD_INVARIANT(at);
  at->set_attr(kShardWhole, pir::Attribute::i64s(std::span<const int64_t>(g.whole.data(), g.whole.size())));
  at->set_attr(kShardOffset, pir::Attribute::i64s(std::span<const int64_t>(g.offset.data(), g.offset.size())));
}

}  // namespace

void localise_sizes(const LocalCall& c) {
  for (const Part& p : parts_of(c.call.op.local)) {
    if (p.name == "sizes") {
      set_sizes(c.call, arg_index(c.call.op, p.arg), c.outputs.at(0).shape);
    } else if (p.name == "size") {
      int64_t n = c.outputs.at(0).shape.at(static_cast<size_t>(p.number));
      size_t arg = arg_index(c.call.op, p.arg);
      c.call.args[arg] =
          c.call.op.args[arg].kind == ArgKind::kScalar ? Arg(c.call.kept_scalars.emplace_front(n)) : Arg(n);
    }
  }
}

void run_local(const LocalCall& c) {
  localise_sizes(c);
  for (const Part& p : parts_of(c.call.op.local)) {
    if (p.name == "embedding") return embedding(c);
    if (p.name == "reshape" && !c.call.inplace) {
      c.call.out(0) = ops::reshape(c.call.tensor(0), Ints(std::span<const int64_t>(c.outputs.at(0).shape)));
      return;
    }
  }
  if (!random(c)) return run_here(c.call);
  ShardGeometry g = geometry(c.outputs[0], c.whole);
  ShardScope scope(&g);
  run_here(c.call);
  if (dispatch::Trace* trace = dispatch::Trace::active()) note_shard(*trace->builder().block()->back(), g);
}

}  // namespace paddle::distributed
