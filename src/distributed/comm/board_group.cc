#include "distributed/comm/board_group.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace paddle::comm {
namespace {

constexpr int64_t kSmall = 4096;  // bytes up to which every rank reduces everything itself, to save a barrier

int64_t bytes_of(const Collective& c, int64_t elements) { return elements * static_cast<int64_t>(size_of(c.dtype)); }

// What the others may read of this rank.
int64_t readable_bytes(const Collective& c, int rank, int size) {
  switch (c.kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduce:
    case CollectiveKind::kGather:
      return bytes_of(c, c.count);
    case CollectiveKind::kBroadcast:
      return rank == c.peer ? bytes_of(c, c.count) : 0;
    case CollectiveKind::kScatter:
      return rank == c.peer ? bytes_of(c, c.count * size) : 0;
    case CollectiveKind::kAllGather:
      return bytes_of(c, c.recv_counts[rank]);
    case CollectiveKind::kReduceScatter:
      return bytes_of(c, offsets(c.recv_counts).back());
    case CollectiveKind::kAllToAll:
      return bytes_of(c, offsets(c.send_counts).back());
    default:
      return 0;
  }
}

// What all ranks must give alike.
int64_t agreed_count(const Collective& c) {
  switch (c.kind) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return offsets(c.recv_counts).back();
    case CollectiveKind::kAllToAll:
      return c.uneven ? -1 : c.count;
    default:
      return c.count;
  }
}

std::string describe(const Notice& n) {
  std::string s = fmt::format("{}({}[{}]", name_of(n.kind), name_of(n.dtype), n.count);
  if (n.kind == CollectiveKind::kAllReduce || n.kind == CollectiveKind::kReduce ||
      n.kind == CollectiveKind::kReduceScatter)
    s += fmt::format(", {}", name_of(n.op));
  if (n.kind == CollectiveKind::kBroadcast || n.kind == CollectiveKind::kReduce || n.kind == CollectiveKind::kScatter ||
      n.kind == CollectiveKind::kGather)
    s += fmt::format(", root {}", n.root);
  return s + ")";
}

void move_bytes(void* to, const void* from, int64_t n) {
  if (n > 0 && to != from) std::memmove(to, from, static_cast<size_t>(n));
}

// Copies the bytes [want_begin, want_end) of a source to `to`, as far as the part that holds [begin, end) of it has
// them.
void copy_overlap(std::byte* to, int64_t want_begin, int64_t want_end, int64_t begin, int64_t end,
                  const std::byte* part) {
  int64_t from = std::max(want_begin, begin), until = std::min(want_end, end);
  if (from < until) move_bytes(to + (from - want_begin), part + (from - begin), until - from);
}

}  // namespace

BoardGroup::BoardGroup(GroupInfo info, std::byte* memory, BoardLayout layout)
    : ProcessGroup(std::move(info)), board_(memory, layout, rank()) {}

void BoardGroup::lost(const Collective& call, std::vector<int> ranks_lost) {
  board_.give_up();
  for (int r : ranks_lost) {
    if (ended(r))
      fail(ErrorKind::kRuntime, "[{}] rank {} of group '{}' has ended; rank {} waited for it", name_of(call.kind),
           ranks()[r], name(), ranks()[rank()]);
    if (board_.gave_up(r))
      fail(ErrorKind::kRuntime, "[{}] rank {} of group '{}' gave up in an earlier operation; rank {} waited for it",
           name_of(call.kind), ranks()[r], name(), ranks()[rank()]);
  }
  missing(call, ranks_lost);
}

void BoardGroup::meet(const Collective& call) {
  auto gone = [this](int r) { return board_.gave_up(r) || ended(r); };
  std::vector<int> missing_ranks = board_.barrier(timeout(), gone);
  if (!missing_ranks.empty()) lost(call, std::move(missing_ranks));
}

void BoardGroup::post(const Collective& call) {
  check(!board_.gave_up(rank()), ErrorKind::kRuntime,
        "[{}] group '{}' is broken: rank {} gave up in an earlier operation", name_of(call.kind), name(),
        ranks()[rank()]);
  board_.next_call();
  Notice& mine = board_.notice(rank());
  mine = {call.kind,
          call.dtype,
          call.op,
          call.peer,
          agreed_count(call),
          readable_bytes(call, rank(), size()),
          static_cast<const std::byte*>(call.in),
          static_cast<std::byte*>(call.out)};
  locate(mine);
  meet(call);
  agree(call);
}

// A rank that calls something else would leave all with wrong numbers, or waiting for good.
void BoardGroup::agree(const Collective& call) {
  const Notice& first = board_.notice(0);
  for (int r = 1; r < size(); ++r) {
    const Notice& n = board_.notice(r);
    bool same = n.kind == first.kind && n.count == first.count && n.root == first.root &&
                (call.kind == CollectiveKind::kBarrier || (n.dtype == first.dtype && n.op == first.op));
    check(same, ErrorKind::kRuntime, "[{}] ranks of group '{}' disagree: rank {} calls {}, rank {} calls {}",
          name_of(call.kind), name(), ranks()[0], describe(first), ranks()[r], describe(n));
  }
}

void BoardGroup::exchange(const Collective& call, const Consume& consume) {
  int n = size();
  int64_t most = 0;
  bool direct = true;
  std::vector<const std::byte*> parts(n);
  for (int r = 0; r < n; ++r) {
    const Notice& notice = board_.notice(r);
    most = std::max(most, notice.in_bytes);
    parts[r] = reach_in(notice, r);
    direct &= notice.in_bytes == 0 || parts[r] != nullptr;
  }
  if (direct) {
    if (most > 0) consume(0, most, parts);
    meet(call);  // nobody's buffer may change before all have read it
    return;
  }
  int64_t chunk = static_cast<int64_t>(board_.stage_bytes()), own = readable_bytes(call, rank(), n);
  int half = 0;
  for (int64_t begin = 0; begin < most; begin += chunk, half ^= 1) {
    // The other half may still be read; this one no longer: all have passed the barrier that came after.
    move_bytes(board_.stage(rank(), half), static_cast<const std::byte*>(call.in) + begin,
               std::min(own - begin, chunk));
    meet(call);
    for (int r = 0; r < n; ++r) parts[r] = board_.stage(r, half);
    consume(begin, std::min(most, begin + chunk), parts);
  }
}

void BoardGroup::all_reduce_call(const Collective& call) {
  int64_t bytes = bytes_of(call, call.count), item = static_cast<int64_t>(size_of(call.dtype));
  bool direct = true;
  for (int r = 0; r < size(); ++r) {
    const Notice& notice = board_.notice(r);
    direct &= reach_in(notice, r) && reach_out(notice, r);
  }
  if (bytes == 0) return;
  if (direct && bytes > 0) return all_reduce_direct(call);
  if (bytes > kSmall) return all_reduce_staged(call);
  exchange(call, [&](int64_t begin, int64_t end, Parts parts) {
    std::vector<const void*> inputs(parts.begin(), parts.end());
    comm::reduce(inputs, static_cast<std::byte*>(call.out) + begin, (end - begin) / item, call.dtype, call.op);
  });
}

namespace {

// Elements [begin, end) of the index-th of n parts, cut at multiples of 64 elements.
struct Part {
  int64_t begin, end;
};
Part part_of(int64_t count, int n, int index) {
  int64_t piece = ((count + n - 1) / n + 63) / 64 * 64;
  return {std::min(count, piece * index), std::min(count, piece * (index + 1))};
}

}  // namespace

// Each rank reduces one part of all buffers into its own, then all copy the parts from each other.
void BoardGroup::all_reduce_direct(const Collective& call) {
  int64_t item = static_cast<int64_t>(size_of(call.dtype));
  Part mine = part_of(call.count, size(), rank());
  std::vector<const void*> inputs(size());
  for (int r = 0; r < size(); ++r) inputs[r] = reach_in(board_.notice(r), r) + mine.begin * item;
  auto* out = static_cast<std::byte*>(call.out);
  comm::reduce(inputs, out + mine.begin * item, mine.end - mine.begin, call.dtype, call.op);
  meet(call);
  for (int r = 0; r < size(); ++r) {
    Part p = part_of(call.count, size(), r);
    if (r != rank())
      move_bytes(out + p.begin * item, reach_out(board_.notice(r), r) + p.begin * item, (p.end - p.begin) * item);
  }
  meet(call);
}

void BoardGroup::all_reduce_staged(const Collective& call) {
  int64_t item = static_cast<int64_t>(size_of(call.dtype)), chunk = static_cast<int64_t>(board_.stage_bytes()) / item;
  int half = 0;
  for (int64_t begin = 0; begin < call.count; begin += chunk, half ^= 1) {
    int64_t n = std::min(chunk, call.count - begin);
    move_bytes(board_.stage(rank(), half), static_cast<const std::byte*>(call.in) + begin * item, n * item);
    meet(call);
    Part mine = part_of(n, size(), rank());
    std::vector<const void*> inputs(size());
    for (int r = 0; r < size(); ++r) inputs[r] = board_.stage(r, half) + mine.begin * item;
    // Into this rank's own stage: no other rank reads that part of it before the barrier.
    comm::reduce(inputs, board_.stage(rank(), half) + mine.begin * item, mine.end - mine.begin, call.dtype, call.op);
    meet(call);
    for (int r = 0; r < size(); ++r) {
      Part p = part_of(n, size(), r);
      move_bytes(static_cast<std::byte*>(call.out) + (begin + p.begin) * item, board_.stage(r, half) + p.begin * item,
                 (p.end - p.begin) * item);
    }
  }
}

void BoardGroup::all_to_all_call(const Collective& call) {
  int n = size();
  // Where in each rank's buffer this rank's part begins.
  std::vector<int64_t> matrix(static_cast<size_t>(n * n), call.count);
  if (call.uneven) {
    Collective counts{CollectiveKind::kAllGather, call.send_counts.data(), matrix.data(), 0, DType::kInt64};
    counts.recv_counts.assign(n, n);
    execute(counts);
  }
  post(call);
  std::vector<int64_t> from(n);
  for (int r = 0; r < n; ++r) {
    std::span<const int64_t> row(matrix.data() + r * n, static_cast<size_t>(n));
    from[r] = offsets(row)[rank()];
    check(row[rank()] == call.recv_counts[r], ErrorKind::kValue,
          "[all_to_all] rank {} sends {} elements, rank {} expects {}", ranks()[r], row[rank()], ranks()[rank()],
          call.recv_counts[r]);
  }
  std::vector<int64_t> to = offsets(call.recv_counts);
  exchange(call, [&](int64_t begin, int64_t end, Parts parts) {
    for (int r = 0; r < n; ++r)
      copy_overlap(static_cast<std::byte*>(call.out) + bytes_of(call, to[r]), bytes_of(call, from[r]),
                   bytes_of(call, from[r] + call.recv_counts[r]), begin, end, parts[r]);
  });
}

void BoardGroup::pairwise(const Collective& call) {
  auto gone = [this](int r) { return board_.gave_up(r) || ended(r); };
  int64_t bytes = bytes_of(call, call.count), theirs = bytes;
  bool send = call.kind == CollectiveKind::kSend;
  auto* size_bytes = reinterpret_cast<std::byte*>(&theirs);
  bool ok = send ? board_.push(call.peer, size_bytes, sizeof theirs, timeout(), gone) &&
                       board_.push(call.peer, static_cast<const std::byte*>(call.in), static_cast<size_t>(bytes),
                                   timeout(), gone)
                 : board_.pop(call.peer, size_bytes, sizeof theirs, timeout(), gone);
  if (ok && !send) {
    check(theirs == bytes, ErrorKind::kValue, "[recv] rank {} sent {} bytes, rank {} expects {}", ranks()[call.peer],
          theirs, ranks()[rank()], bytes);
    ok = board_.pop(call.peer, static_cast<std::byte*>(call.out), static_cast<size_t>(bytes), timeout(), gone);
  }
  if (!ok) lost(call, {call.peer});
}

void BoardGroup::execute(const Collective& call) {
  auto* out = static_cast<std::byte*>(call.out);
  int64_t item = static_cast<int64_t>(size_of(call.dtype)), bytes = call.count * item;
  bool root = rank() == call.peer;
  if (call.kind == CollectiveKind::kSend || call.kind == CollectiveKind::kRecv) return pairwise(call);
  if (call.kind == CollectiveKind::kAllToAll) return all_to_all_call(call);
  post(call);
  switch (call.kind) {
    case CollectiveKind::kAllReduce:
      return all_reduce_call(call);
    case CollectiveKind::kAllGather: {
      std::vector<int64_t> to = offsets(call.recv_counts);
      return exchange(call, [&](int64_t begin, int64_t end, Parts parts) {
        for (int r = 0; r < size(); ++r)
          copy_overlap(out + to[r] * item, 0, call.recv_counts[r] * item, begin, end, parts[r]);
      });
    }
    case CollectiveKind::kReduceScatter: {
      std::vector<int64_t> at = offsets(call.recv_counts);
      int64_t want_begin = at[rank()] * item, want_end = at[rank() + 1] * item;
      return exchange(call, [&](int64_t begin, int64_t end, Parts parts) {
        int64_t from = std::max(begin, want_begin), until = std::min(end, want_end);
        if (from >= until) return;
        std::vector<const void*> inputs;
        for (const std::byte* p : parts) inputs.push_back(p + (from - begin));
        comm::reduce(inputs, out + (from - want_begin), (until - from) / item, call.dtype, call.op);
      });
    }
    case CollectiveKind::kBroadcast:
      return exchange(call, [&](int64_t begin, int64_t end, Parts parts) {
        if (!root) copy_overlap(out, 0, bytes, begin, end, parts[call.peer]);
      });
    case CollectiveKind::kReduce:
      return exchange(call, [&](int64_t begin, int64_t end, Parts parts) {
        if (!root) return;
        std::vector<const void*> inputs(parts.begin(), parts.end());
        comm::reduce(inputs, out + begin, (end - begin) / item, call.dtype, call.op);
      });
    case CollectiveKind::kScatter:
      return exchange(call, [&](int64_t begin, int64_t end, Parts parts) {
        copy_overlap(out, rank() * bytes, (rank() + 1) * bytes, begin, end, parts[call.peer]);
      });
    case CollectiveKind::kGather:
      return exchange(call, [&](int64_t begin, int64_t end, Parts parts) {
        for (int r = 0; root && r < size(); ++r) copy_overlap(out + r * bytes, 0, bytes, begin, end, parts[r]);
      });
    default:
      return;  // a barrier: posting was one
  }
}

}  // namespace paddle::comm
