#include "ranks.h"

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "tensor/float16.h"

namespace paddle::comm::test {
namespace {

using Number = std::complex<double>;
using Bytes = std::vector<std::byte>;

bool is_unsigned(DType t) { return is_unsigned_int(t) || t == DType::kBool; }

// What rank r holds at place i: small whole numbers, so that all dtypes agree on sums.
Number value(DType t, int r, int64_t i) {
  double x = static_cast<double>((r * 7 + i * 3 + i / 5) % 9) - 4;
  if (is_unsigned(t)) x = std::abs(x);
  if (t == DType::kBool) x = x > 2;
  return {x, is_complex(t) ? static_cast<double>((r + i) % 5) - 2 : 0};
}

template <class T>
void put(Bytes& to, T x) {
  auto* p = reinterpret_cast<const std::byte*>(&x);
  to.insert(to.end(), p, p + sizeof x);
}

void encode(Bytes& to, DType t, Number x) {
  double r = x.real();
  auto f = static_cast<float>(r);
  switch (t) {
    case DType::kBool:
      return put<uint8_t>(to, r != 0);
    case DType::kUInt8:
      return put(to, static_cast<uint8_t>(r));
    case DType::kInt8:
      return put(to, static_cast<int8_t>(static_cast<int>(r)));
    case DType::kInt16:
      return put(to, static_cast<int16_t>(r));
    case DType::kInt32:
      return put(to, static_cast<int32_t>(r));
    case DType::kInt64:
      return put(to, static_cast<int64_t>(r));
    case DType::kUInt16:
      return put(to, static_cast<uint16_t>(r));
    case DType::kUInt32:
      return put(to, static_cast<uint32_t>(r));
    case DType::kUInt64:
      return put(to, static_cast<uint64_t>(r));
    case DType::kFloat16:
      return put(to, f32_to_f16(f));
    case DType::kBFloat16:
      return put(to, f32_to_bf16(f));
    case DType::kFloat8E4M3FN:
      return put(to, f32_to_f8e4m3(f));
    case DType::kFloat8E5M2:
      return put(to, f32_to_f8e5m2(f));
    case DType::kFloat32:
      return put(to, f);
    case DType::kFloat64:
      return put(to, r);
    case DType::kComplex64:
      return put(to, std::complex<float>(x));
    case DType::kComplex128:
      return put(to, x);
    default:
      break;
  }
}

Bytes values(DType t, int r, int64_t begin, int64_t n) {
  Bytes b;
  for (int64_t i = begin; i < begin + n; ++i) encode(b, t, value(t, r, i));
  return b;
}

Number combined(DType t, ReduceOp op, int ranks, int64_t i) {
  Number acc = value(t, 0, i);
  for (int r = 1; r < ranks; ++r) {
    Number x = value(t, r, i);
    if (op == ReduceOp::kSum || op == ReduceOp::kAvg) acc += x;
    if (op == ReduceOp::kProd) acc *= x;
    if (op == ReduceOp::kMax) acc = std::max(acc.real(), x.real());
    if (op == ReduceOp::kMin) acc = std::min(acc.real(), x.real());
  }
  if (op == ReduceOp::kAvg) {
    if (t == DType::kBool) return combined(t, ReduceOp::kMin, ranks, i);
    acc /= ranks;
    if (!is_inexact(t)) acc = std::trunc(acc.real());
  }
  return acc;
}

Bytes reduced(DType t, ReduceOp op, int ranks, int64_t begin, int64_t n) {
  Bytes b;
  for (int64_t i = begin; i < begin + n; ++i) encode(b, t, combined(t, op, ranks, i));
  return b;
}

struct Checker {
  ProcessGroup& g;
  std::string report;
  int rank = g.rank(), size = g.size();

  void equal(const Bytes& got, const Bytes& expected, const std::string& what) {
    if (got != expected && report.empty()) report = what + " differs";
  }
  Bytes room(DType t, int64_t n) const { return Bytes(static_cast<size_t>(n) * size_of(t), std::byte{0x5a}); }

  void moves(DType t, int64_t n) {
    std::string what = fmt::format("{} x {} ", name_of(t), n);
    Bytes mine = values(t, rank, 0, n), all, out = room(t, n * size);
    for (int r = 0; r < size; ++r) {
      Bytes part = values(t, r, 0, n);
      all.insert(all.end(), part.begin(), part.end());
    }
    g.all_gather(mine.data(), out.data(), n, t);
    equal(out, all, what + "all_gather");
    int root = size - 1;
    out = room(t, rank == root ? n * size : 0);
    g.gather(mine.data(), rank == root ? out.data() : nullptr, n, t, root);
    if (rank == root) equal(out, all, what + "gather");
    out = room(t, n);
    Bytes parts = values(t, 3, 0, n * size);
    g.scatter(rank == root ? parts.data() : nullptr, out.data(), n, t, root);
    equal(out, values(t, 3, rank * n, n), what + "scatter");
    out = rank == 0 ? values(t, 5, 0, n) : room(t, n);
    g.broadcast(out.data(), n, t, 0);
    equal(out, values(t, 5, 0, n), what + "broadcast");
    all_to_all(t, n, what);
    uneven(t, n, what);
    ring(t, n, what);
  }

  void all_to_all(DType t, int64_t n, const std::string& what) {
    Bytes in = values(t, rank, 0, n * size), out = room(t, n * size), expected;
    for (int r = 0; r < size; ++r) {
      Bytes part = values(t, r, rank * n, n);
      expected.insert(expected.end(), part.begin(), part.end());
    }
    g.all_to_all(in.data(), out.data(), n, t);
    equal(out, expected, what + "all_to_all");
  }

  // Rank r gives r + (n + r) % 3 elements to gather; r sends (r + 2 q) % 4 + n elements to q.
  void uneven(DType t, int64_t n, const std::string& what) {
    std::vector<int64_t> counts, send, recv;
    Bytes all, expected;
    auto amount = [n](int r, int q) { return n == 0 ? (r + 2 * q) % 2 : (r + 2 * q) % 4 + n - 1; };
    for (int r = 0; r < size; ++r) counts.push_back(n == 0 ? 0 : n + (n + r) % 3 - 1);
    for (int r = 0; r < size; ++r) {
      Bytes part = values(t, r, 0, counts[r]);
      all.insert(all.end(), part.begin(), part.end());
      send.push_back(amount(rank, r));
      recv.push_back(amount(r, rank));
    }
    for (int r = 0; r < size; ++r) {
      int64_t before = 0;
      for (int q = 0; q < rank; ++q) before += amount(r, q);
      Bytes part = values(t, r, before, recv[r]);
      expected.insert(expected.end(), part.begin(), part.end());
    }
    Bytes mine = values(t, rank, 0, counts[rank]), out = room(t, offsets(counts).back());
    g.all_gather(mine.data(), out.data(), counts, t);
    equal(out, all, what + "uneven all_gather");
    Bytes in = values(t, rank, 0, offsets(send).back());
    out = room(t, offsets(recv).back());
    g.all_to_all(in.data(), out.data(), send, recv, t);
    equal(out, expected, what + "uneven all_to_all");
  }

  // To the next rank, from the one before; even ranks send first.
  void ring(DType t, int64_t n, const std::string& what) {
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    Bytes mine = values(t, rank, 0, n), out = room(t, n);
    WorkPtr sent = g.send(mine.data(), n, t, next, Async::kYes);
    g.recv(out.data(), n, t, last);
    sent->wait();
    equal(out, values(t, last, 0, n), what + "send and recv");
  }

  void reductions(DType t, int64_t n) {
    for (ReduceOp op : {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kProd, ReduceOp::kAvg}) {
      if (is_complex(t) && (op == ReduceOp::kMax || op == ReduceOp::kMin)) continue;
      std::string what = fmt::format("{} x {} {} ", name_of(t), n, name_of(op));
      Bytes in = values(t, rank, 0, n), expected = reduced(t, op, size, 0, n), out = room(t, n);
      g.all_reduce(in.data(), out.data(), n, t, op);
      equal(out, expected, what + "all_reduce");
      equal(in, values(t, rank, 0, n), what + "all_reduce's input");
      g.all_reduce(in.data(), in.data(), n, t, op);
      equal(in, expected, what + "all_reduce in place");
      in = values(t, rank, 0, n);
      g.reduce(in.data(), rank == 1 % size ? out.data() : nullptr, n, t, op, 1 % size);
      if (rank == 1 % size) equal(out, expected, what + "reduce");
      std::vector<int64_t> counts;
      for (int r = 0; r < size; ++r) counts.push_back((n + r) % 4 == 0 ? 0 : n + r);
      auto at = offsets(counts);
      in = values(t, rank, 0, at.back());
      out = room(t, counts[rank]);
      g.reduce_scatter(in.data(), out.data(), counts, t, op);
      equal(out, reduced(t, op, size, at[rank], counts[rank]), what + "uneven reduce_scatter");
      in = values(t, rank, 0, n * size);
      out = room(t, n);
      g.reduce_scatter(in.data(), out.data(), n, t, op);
      equal(out, reduced(t, op, size, rank * n, n), what + "reduce_scatter");
    }
  }
};

}  // namespace

std::string check_some(ProcessGroup& group) {
  Checker c{group, ""};
  for (int64_t n : {0, 7, 67})
    for (DType t : {DType::kBool, DType::kInt64, DType::kBFloat16, DType::kComplex64})
      c.reductions(t, n), c.moves(t, n);
  c.reductions(DType::kFloat32, 12345), c.moves(DType::kFloat32, 12345);
  group.barrier();
  return c.report;
}

std::string check_all(ProcessGroup& group) {
  Checker c{group, ""};
  for (int64_t n : {0, 1, 7, 67})
    for (int t = 1; t < static_cast<int>(DType::kCount); ++t) {
      c.reductions(static_cast<DType>(t), n);
      if (n != 67 || t % 3 == 0) c.moves(static_cast<DType>(t), n);
    }
  // Larger than any chunk, and not a multiple of it.
  for (DType t : {DType::kFloat32, DType::kBFloat16}) c.reductions(t, 12345), c.moves(t, 12345);
  group.barrier();
  return c.report;
}

std::string check_asynchronous(ProcessGroup& group) {
  constexpr int64_t kN = 5000;
  std::vector<std::vector<float>> buffers(20, std::vector<float>(kN));
  std::vector<WorkPtr> works;
  for (size_t k = 0; k < buffers.size(); ++k) {
    std::fill(buffers[k].begin(), buffers[k].end(), static_cast<float>(group.rank() + 1) * static_cast<float>(k));
    works.push_back(
        group.all_reduce(buffers[k].data(), buffers[k].data(), kN, DType::kFloat32, ReduceOp::kSum, Async::kYes));
  }
  group.barrier();  // comes after all that was queued
  float ranks = static_cast<float>(group.size() * (group.size() + 1) / 2);
  for (size_t k = 0; k < buffers.size(); ++k) {
    if (!works[k]->is_completed()) return fmt::format("work {} was overtaken", k);
    if (!works[k]->wait()) return "wait gave up";
    for (float x : buffers[k])
      if (x != ranks * static_cast<float>(k)) return fmt::format("work {} gave {}", k, x);
  }
  return "";
}

namespace {

struct Child {
  pid_t pid;
  int report, port;  // pipes from and to it
};

[[noreturn]] void run_child(int rank, int port_pipe, int report_pipe, const RankOfStore& body) {
  ::alarm(120);
  int port = 0;
  if (::read(port_pipe, &port, sizeof port) != sizeof port) ::_exit(2);
  std::string report;
  try {
    report = body(rank, std::make_shared<TcpStore>("localhost", port, false, kStoreTimeout));
  } catch (const std::exception& e) {
    report = std::string("raised ") + e.what();
  }
  report = "=" + report;
  if (::write(report_pipe, report.data(), report.size()) < 0) ::_exit(2);
  ::_exit(0);
}

Child start_child(int rank, const RankOfStore& body) {
  int port[2], report[2];
  if (::pipe(port) != 0 || ::pipe(report) != 0) throw std::runtime_error("no pipe");
  pid_t pid = ::fork();
  if (pid == 0) run_child(rank, port[0], report[1], body);
  ::close(port[0]);
  ::close(report[1]);
  return {pid, report[0], port[1]};
}

}  // namespace

std::vector<std::string> fork_ranks(int n, const RankOfStore& body) {
  std::vector<Child> children;
  for (int r = 0; r < n; ++r) children.push_back(start_child(r, body));
  // Only now, so that no thread of this process holds a lock (the allocator's, a sanitizer's) while a child is made.
  TcpStore master("localhost", 0, true, kStoreTimeout);
  const int port = master.port();
  for (Child& c : children)
    if (::write(c.port, &port, sizeof port) != sizeof port) throw std::runtime_error("no rank to tell");
  std::vector<std::string> reports;
  for (Child& c : children) {
    ::close(c.port);
    std::string text;
    char buffer[512];
    for (ssize_t k; (k = ::read(c.report, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(k));
    ::close(c.report);
    ::waitpid(c.pid, nullptr, 0);
    reports.push_back(text.starts_with("=") ? text.substr(1) : "died");
  }
  return reports;
}

std::vector<std::string> thread_ranks(int n, const std::function<std::string(int)>& body) {
  std::vector<std::string> reports(n);
  std::vector<std::thread> threads;
  for (int r = 0; r < n; ++r)
    threads.emplace_back([&, r] {
      try {
        reports[r] = body(r);
      } catch (const std::exception& e) {
        reports[r] = std::string("raised ") + e.what();
      }
    });
  for (auto& t : threads) t.join();
  return reports;
}

std::string raised(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing raised";
}

}  // namespace paddle::comm::test
