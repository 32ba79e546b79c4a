// GlooGroup: collectives across machines, over TCP.
#pragma once
#include <memory>

#include "distributed/comm/process_group.h"
#include "distributed/comm/store.h"

namespace gloo {
class Context;
}

namespace paddle::comm {

struct GlooOptions {
  std::string host;       // this machine's address, as the others can reach it; empty: "127.0.0.1"
  std::string interface;  // or the network interface, such as "eth0"
};

class GlooGroup final : public ProcessGroup {
 public:
  // Collective: all members call it. Raises a TimeoutError that names missing ranks.
  static std::shared_ptr<GlooGroup> create(StorePtr store, GroupInfo info, GlooOptions options = {});
  ~GlooGroup() override;
  std::string_view backend() const override { return "gloo"; }

 private:
  GlooGroup(StorePtr store, GroupInfo info, std::shared_ptr<::gloo::Context> context);
  void execute(const Collective& call) override;
  void dispatch(const Collective& call);
  void reduce_parts(const Collective& call, const std::vector<int64_t>& counts, void* out);
  void pairwise(const Collective& call);
  [[noreturn]] void explain(const Collective& call, const std::string& what);

  StorePtr store_;
  std::shared_ptr<::gloo::Context> context_;
  uint32_t tag_ = 0;  // of the next call; all ranks count alike
  uint64_t calls_ = 0;
  std::vector<uint64_t> sent_, received_;  // messages to and from each rank
};

// Makes "gloo" known to create_group.
void register_gloo();

}  // namespace paddle::comm
