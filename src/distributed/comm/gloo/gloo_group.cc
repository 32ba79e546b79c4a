// Only Gloo's new collectives: the legacy ReduceScatterHalvingDoubling hangs when a large all-gather follows it.
// Reductions exchange parts and reduce them here in rank order, so the bits equal those of the other back ends.
#include "distributed/comm/gloo/gloo_group.h"

#include <gloo/allgatherv.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/common/error.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

#include <cstring>

#include "base/error.h"
#include "distributed/comm/factory.h"

namespace paddle::comm {
namespace {

// Our Store as Gloo's.
class StoreForGloo final : public ::gloo::rendezvous::Store {
 public:
  StoreForGloo(StorePtr store, Milliseconds timeout) : store_(std::move(store)), timeout_(timeout) {}
  void set(const std::string& key, const std::vector<char>& data) override {
    store_->set(key, std::string(data.begin(), data.end()));
  }
  std::vector<char> get(const std::string& key) override {
    auto value = store_->get(key, timeout_);
    if (!value) throw Error(ErrorKind::kTimeout, "[gloo] no rank has set '" + key + "'");
    return {value->begin(), value->end()};
  }
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys, const Milliseconds& timeout) override {
    auto deadline = std::chrono::steady_clock::now() + timeout;
    for (const std::string& key : keys) {
      auto left = std::chrono::duration_cast<Milliseconds>(deadline - std::chrono::steady_clock::now());
      if (!store_->get(key, std::max(left, Milliseconds::zero())))
        throw Error(ErrorKind::kTimeout, "[gloo] no rank has set '" + key + "'");
    }
  }

 private:
  StorePtr store_;
  Milliseconds timeout_;
};

std::vector<int64_t> in_bytes(const std::vector<int64_t>& counts, DType dtype) {
  std::vector<int64_t> bytes;
  for (int64_t n : counts) bytes.push_back(n * static_cast<int64_t>(size_of(dtype)));
  return bytes;
}

// Elements of an even cut of `count`, the last parts smaller.
std::vector<int64_t> cut(int64_t count, int n) {
  std::vector<int64_t> parts(n);
  int64_t piece = (count + n - 1) / n;
  for (int r = 0; r < n; ++r) parts[r] = std::max<int64_t>(0, std::min(piece, count - piece * r));
  return parts;
}

char* writable(const void* p) { return const_cast<char*>(static_cast<const char*>(p)); }

void all_to_all_bytes(const std::shared_ptr<::gloo::Context>& context, uint32_t tag, Milliseconds timeout,
                      const void* in, std::vector<int64_t> send, void* out, std::vector<int64_t> recv) {
  ::gloo::AlltoallvOptions options(context);
  options.setInput(writable(in), std::move(send));
  options.setOutput(static_cast<char*>(out), std::move(recv));
  options.setTag(tag);
  options.setTimeout(timeout);
  ::gloo::alltoallv(options);
}

void all_gather_bytes(const std::shared_ptr<::gloo::Context>& context, uint32_t tag, Milliseconds timeout,
                      const void* in, void* out, const std::vector<int64_t>& bytes) {
  ::gloo::AllgathervOptions options(context);
  std::vector<size_t> counts(bytes.begin(), bytes.end());
  options.setInput(writable(in), counts[context->rank]);
  options.setOutput(static_cast<char*>(out), counts);
  options.setTag(tag);
  options.setTimeout(timeout);
  ::gloo::allgatherv(options);
}

}  // namespace

std::shared_ptr<GlooGroup> GlooGroup::create(StorePtr store, GroupInfo info, GlooOptions options) {
  auto own = std::make_shared<PrefixStore>(store, info.name + "/gloo");
  exchange(*own, "default" == info.name ? "group" : info.name, info.rank, info.ranks, "", info.timeout);
  ::gloo::transport::tcp::attr attr;
  attr.hostname = options.host.empty() && options.interface.empty() ? "127.0.0.1" : options.host;
  attr.iface = options.interface;
  try {
    auto device = ::gloo::transport::tcp::CreateDevice(attr);
    auto context = std::make_shared<::gloo::rendezvous::Context>(info.rank, static_cast<int>(info.ranks.size()));
    context->setTimeout(info.timeout);
    StoreForGloo adapter(own, info.timeout);
    if (info.ranks.size() > 1) context->connectFullMesh(adapter, device);
    return std::shared_ptr<GlooGroup>(new GlooGroup(own, std::move(info), context));
  } catch (const ::gloo::Exception& e) {
    fail(ErrorKind::kRuntime, "[gloo] rank {} can't connect to the others of group '{}': {}", info.ranks[info.rank],
         info.name, e.what());
  }
}

GlooGroup::GlooGroup(StorePtr store, GroupInfo info, std::shared_ptr<::gloo::Context> context)
    : ProcessGroup(std::move(info)),
      store_(std::move(store)),
      context_(std::move(context)),
      sent_(size()),
      received_(size()) {}

GlooGroup::~GlooGroup() { drain(); }

// Gloo says which pair broke, not who is missing. All who waited come here about the same time and say so in the store;
// the missing are those who don't.
void GlooGroup::explain(const Collective& call, const std::string& what) {
  if (call.kind == CollectiveKind::kSend || call.kind == CollectiveKind::kRecv) missing(call, {call.peer});
  std::vector<int> silent;
  try {
    auto key = [&](int r) { return fmt::format("waited/{}/{}", calls_, r); };
    store_->set(key(rank()), "");
    auto deadline = std::chrono::steady_clock::now() + Milliseconds(1000);
    for (int r = 0; r < size(); ++r) {
      auto left = std::chrono::duration_cast<Milliseconds>(deadline - std::chrono::steady_clock::now());
      if (!store_->get(key(r), std::max(left, Milliseconds::zero()))) silent.push_back(r);
    }
  } catch (const Error& e) {
    fail(ErrorKind::kRuntime, "[{}] group '{}' broke in rank {}: {}; {}", name_of(call.kind), name(), ranks()[rank()],
         what, e.what());
  }
  if (silent.empty())
    fail(ErrorKind::kRuntime, "[{}] group '{}' broke in rank {}: {}", name_of(call.kind), name(), ranks()[rank()],
         what);
  missing(call, silent);
}

void GlooGroup::execute(const Collective& call) {
  try {
    if (call.kind == CollectiveKind::kSend || call.kind == CollectiveKind::kRecv)
      pairwise(call);
    else
      dispatch(call);
  } catch (const ::gloo::Exception& e) {
    explain(call, e.what());
  }
}

// Slots of pairwise messages lie above those of collectives, which Gloo builds from an 8-bit prefix and a 32-bit tag.
void GlooGroup::pairwise(const Collective& call) {
  bool send = call.kind == CollectiveKind::kSend;
  uint64_t number = send ? sent_[call.peer]++ : received_[call.peer]++;
  uint64_t slot = (uint64_t{0x40} << 56) | (number & 0xffffffffffffULL);
  size_t bytes = static_cast<size_t>(call.count) * size_of(call.dtype);
  if (bytes == 0) return;
  auto buffer = context_->createUnboundBuffer(send ? writable(call.in) : static_cast<char*>(call.out), bytes);
  if (send) {
    buffer->send(call.peer, slot);
    buffer->waitSend(timeout());
  } else {
    buffer->recv(call.peer, slot);
    buffer->waitRecv(timeout());
  }
}

// Every rank gets its part (counts[r] elements) of all buffers and reduces it, in rank order.
void GlooGroup::reduce_parts(const Collective& call, const std::vector<int64_t>& counts, void* out) {
  int64_t own = counts[rank()], item = static_cast<int64_t>(size_of(call.dtype));
  std::vector<std::byte> parts(static_cast<size_t>(own * item * size()));
  std::vector<int64_t> recv(size(), own * item);
  std::byte none{};
  all_to_all_bytes(context_, tag_++, timeout(), call.in, in_bytes(counts, call.dtype),
                   parts.empty() ? &none : parts.data(), recv);
  std::vector<const void*> inputs;
  for (int r = 0; r < size(); ++r) inputs.push_back(parts.data() + r * own * item);
  comm::reduce(inputs, out, own, call.dtype, call.op);
}

void GlooGroup::dispatch(const Collective& call) {
  ++calls_;
  int64_t item = static_cast<int64_t>(size_of(call.dtype));
  auto* out = static_cast<std::byte*>(call.out);
  bool root = rank() == call.peer;
  switch (call.kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduce: {
      if (call.count == 0) return;
      std::vector<int64_t> counts = cut(call.count, size());
      std::vector<std::byte> mine(static_cast<size_t>(std::max<int64_t>(1, counts[rank()] * item)));
      reduce_parts(call, counts, mine.data());
      if (call.kind == CollectiveKind::kAllReduce)
        return all_gather_bytes(context_, tag_++, timeout(), mine.data(), out, in_bytes(counts, call.dtype));
      std::vector<int64_t> send(size(), 0), recv(size(), 0);
      send[call.peer] = counts[rank()] * item;
      if (root) recv = in_bytes(counts, call.dtype);
      std::byte none{};
      return all_to_all_bytes(context_, tag_++, timeout(), mine.data(), send, root ? static_cast<void*>(out) : &none,
                              recv);
    }
    case CollectiveKind::kReduceScatter:
      if (offsets(call.recv_counts).back() > 0) reduce_parts(call, call.recv_counts, out);
      return;
    case CollectiveKind::kAllGather: {
      if (offsets(call.recv_counts).back() > 0)
        all_gather_bytes(context_, tag_++, timeout(), call.in, out, in_bytes(call.recv_counts, call.dtype));
      return;
    }
    case CollectiveKind::kBroadcast: {
      if (call.count == 0) return;
      ::gloo::BroadcastOptions options(context_);
      if (root) options.setInput(writable(call.in), static_cast<size_t>(call.count * item));
      options.setOutput(reinterpret_cast<char*>(out), static_cast<size_t>(call.count * item));
      options.setRoot(call.peer);
      options.setTag(tag_++);
      options.setTimeout(timeout());
      return ::gloo::broadcast(options);
    }
    case CollectiveKind::kScatter:
    case CollectiveKind::kGather: {
      if (call.count == 0) return;
      bool scatter = call.kind == CollectiveKind::kScatter;
      std::vector<int64_t> all(size(), call.count * item), one(size(), 0), none(size(), 0);
      one[call.peer] = call.count * item;
      std::byte nothing{};
      const void* in = call.in ? call.in : &nothing;
      if (scatter) return all_to_all_bytes(context_, tag_++, timeout(), in, root ? all : none, out, one);
      return all_to_all_bytes(context_, tag_++, timeout(), in, one, out ? static_cast<void*>(out) : &nothing,
                              root ? all : none);
    }
    case CollectiveKind::kAllToAll: {
      std::byte nothing{};
      return all_to_all_bytes(context_, tag_++, timeout(), call.in ? call.in : &nothing,
                              in_bytes(call.send_counts, call.dtype), out ? static_cast<void*>(out) : &nothing,
                              in_bytes(call.recv_counts, call.dtype));
    }
    default: {
      ::gloo::BarrierOptions options(context_);
      options.setTag(tag_++);
      options.setTimeout(timeout());
      return ::gloo::barrier(options);
    }
  }
}

void register_gloo() {
  register_backend("gloo", [](StorePtr store, GroupInfo info, const BackendOptions& options) -> ProcessGroupPtr {
    return GlooGroup::create(std::move(store), std::move(info), {options.host, options.interface});
  });
}

}  // namespace paddle::comm
