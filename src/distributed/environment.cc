#include "distributed/environment.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/context.h"
#include "base/error.h"
#include "distributed/comm/factory.h"
#include "distributed/comm/tcp_store.h"

namespace paddle::distributed {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

int number(const char* name, int otherwise) {
  std::string text = variable(name);
  if (text.empty()) return otherwise;
  char* end;
  long v = std::strtol(text.c_str(), &end, 10);
  check(*end == 0 && v >= 0, ErrorKind::kValue, "[init_parallel_env] expected a number in {}, got '{}'", name, text);
  return static_cast<int>(v);
}

// host:port of the rendezvous.
std::pair<std::string, int> master() {
  std::string address = variable("PADDLE_MASTER");
  if (address.empty())
    address = variable("MASTER_ADDR") + (variable("MASTER_PORT").empty() ? "" : ":" + variable("MASTER_PORT"));
  if (address.empty())
    address = variable("PADDLE_TRAINER_ENDPOINTS").substr(0, variable("PADDLE_TRAINER_ENDPOINTS").find(','));
  if (size_t scheme = address.find("://"); scheme != address.npos) address = address.substr(scheme + 3);
  size_t colon = address.rfind(':');
  check(colon != address.npos && colon + 1 < address.size(), ErrorKind::kRuntime,
        "[init_parallel_env] expected PADDLE_MASTER to be host:port, got '{}'; start the program with "
        "python -m paddle.distributed.launch",
        address);
  return {address.substr(0, colon), std::atoi(address.c_str() + colon + 1)};
}

// libpaddle_gloo.so lies beside this library; the first group that spans machines opens it. Says why it can't.
std::string open_library(const std::string& backend) {
  if (backend != "gloo") return "";
  Dl_info here;
  std::string folder;
  if (dladdr(reinterpret_cast<const void*>(&Environment::current), &here) && here.dli_fname) folder = here.dli_fname;
  size_t slash = folder.rfind('/');
  std::string path = (slash == folder.npos ? std::string() : folder.substr(0, slash + 1)) + "libpaddle_gloo.so";
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return dlerror();
  auto entry = reinterpret_cast<void (*)()>(dlsym(handle, "paddle_register_gloo"));
  if (!entry) return path + " is another version's";
  entry();
  return "";
}
[[maybe_unused]] const bool installed = (comm::set_backend_loader(open_library), true);

std::string name_of(const std::vector<int>& ranks) {
  std::string s = "group";
  for (int r : ranks) s += "_" + std::to_string(r);
  return s;
}

}  // namespace

namespace {
void* (*enter_waiting)() = nullptr;
void (*leave_waiting)(void*) = nullptr;
}  // namespace

Waiting::Waiting() : state_(enter_waiting ? enter_waiting() : nullptr) {}
Waiting::~Waiting() {
  if (state_) leave_waiting(state_);
}
void Waiting::install(void* (*enter)(), void (*leave)(void*)) {
  enter_waiting = enter;
  leave_waiting = leave;
}

Environment& Environment::current() { return Context::current().get<Environment>(); }

Environment::Environment()
    : rank_(number("PADDLE_TRAINER_ID", 0)), world_size_(std::max(1, number("PADDLE_TRAINERS_NUM", 1))) {}

void Environment::connect(const std::string& backend, comm::Milliseconds timeout) {
  std::lock_guard lock(mutex_);
  if (connected_) return;
  backend_ = backend;
  timeout_ = timeout;
  std::vector<int> all(static_cast<size_t>(world_size_));
  std::iota(all.begin(), all.end(), 0);
  if (world_size_ > 1 && !world_) {
    auto [host, port] = master();
    store_ = std::make_shared<comm::TcpStore>(host, port, rank_ == 0, timeout);
  } else if (!world_) {
    store_ = std::make_shared<comm::HashStore>();
  }
  groups_[0] = {all, make(all, backend, timeout), backend, timeout};
  by_ranks_[all] = 0;
  connected_ = true;
}

void Environment::join(std::shared_ptr<comm::InProcessWorld> world, int rank) {
  std::lock_guard lock(mutex_);
  disconnect();
  world_ = std::move(world);
  rank_ = rank;
  world_size_ = world_->size();
}

void Environment::disconnect() {
  std::lock_guard lock(mutex_);
  groups_.clear();
  by_ranks_.clear();
  made_.clear();
  store_.reset();
  next_ = 1;
  connected_ = false;
}

comm::ProcessGroupPtr Environment::make(const std::vector<int>& ranks, const std::string& backend,
                                        comm::Milliseconds timeout) {
  auto at = std::find(ranks.begin(), ranks.end(), rank_);
  std::string name = name_of(ranks);
  int count = made_[name]++;
  if (at == ranks.end()) return nullptr;
  if (count) name += "." + std::to_string(count);
  if (world_) return world_->group(rank_, name, ranks, timeout);
  comm::GroupInfo info{name, static_cast<int>(at - ranks.begin()), ranks, timeout};
  comm::BackendOptions options;
  if (auto* tcp = dynamic_cast<comm::TcpStore*>(store_.get())) options.host = tcp->local_address();
  options.interface = variable("GLOO_SOCKET_IFNAME");
  return comm::create_group(ranks.size() == 1 ? "auto" : backend, std::make_shared<comm::PrefixStore>(store_, name),
                            info, options);
}

comm::ProcessGroup& Environment::group(int id) {
  std::lock_guard lock(mutex_);
  if (!connected_) connect();
  auto it = groups_.find(id);
  check(it != groups_.end(), ErrorKind::kValue, "expected a group made by new_group, got number {}", id);
  check(it->second.group != nullptr, ErrorKind::kRuntime, "rank {} is no member of group {}", rank_, id);
  return *it->second.group;
}

int Environment::new_group(std::vector<int> ranks, const std::string& backend, comm::Milliseconds timeout) {
  std::lock_guard lock(mutex_);
  if (!connected_) connect();
  std::sort(ranks.begin(), ranks.end());
  check(std::adjacent_find(ranks.begin(), ranks.end()) == ranks.end(), ErrorKind::kValue, "[new_group] a rank repeats");
  for (int r : ranks)
    check(r >= 0 && r < world_size_, ErrorKind::kValue, "[new_group] expected ranks in [0, {}), got {}", world_size_,
          r);
  if (timeout.count() == 0) timeout = timeout_;
  int id = next_++;
  groups_[id] = {ranks, make(ranks, backend, timeout), backend, timeout};
  return id;
}

namespace {
thread_local MeshGroupsAsked* asking = nullptr;
}

MeshGroupsAsked::MeshGroupsAsked() : outer_(asking) { asking = this; }
MeshGroupsAsked::~MeshGroupsAsked() {
  asking = outer_;
  if (outer_) outer_->list.insert(outer_->list.end(), list.begin(), list.end());
}

int Environment::group_of(const std::vector<int>& ranks) {
  const int id = find_or_make(ranks);
  if (asking) asking->list.push_back({ranks, id});
  return id;
}

int Environment::find_or_make(const std::vector<int>& ranks) {
  std::lock_guard lock(mutex_);
  if (!connected_) connect();
  auto it = by_ranks_.find(ranks);
  if (it != by_ranks_.end()) return it->second;
  for (int r : ranks)
    check(r >= 0 && r < world_size_, ErrorKind::kValue,
          "expected a mesh of processes in [0, {}), got {}; the job has {} ranks", world_size_, r, world_size_);
  // Groups keep the order of the mesh: a rank's place in the group is its place along the axis.
  int id = next_++;
  groups_[id] = {ranks, make(ranks, backend_, timeout_), backend_, timeout_};
  by_ranks_[ranks] = id;
  return id;
}

std::vector<int> Environment::ranks_of(int id) const {
  std::lock_guard lock(mutex_);
  auto it = groups_.find(id);
  return it == groups_.end() ? std::vector<int>{} : it->second.ranks;
}
bool Environment::known(int id) const {
  std::lock_guard lock(mutex_);
  return groups_.contains(id);
}
bool Environment::member(int id) const {
  std::lock_guard lock(mutex_);
  auto it = groups_.find(id);
  return it != groups_.end() && it->second.group;
}
void Environment::send_ahead(bool on) {
  sends_ahead_ = on;
  if (on) return;
  std::vector<Sending> all = std::exchange(sending_, {});
  Waiting waiting;
  for (Sending& s : all) s.work->wait();
}

void Environment::keep_sending(comm::WorkPtr work, std::shared_ptr<void> memory) {
  std::erase_if(sending_, [](Sending& s) {
    if (!s.work->is_completed()) return false;
    s.work->wait();  // raises what went wrong
    return true;
  });
  sending_.push_back({std::move(work), std::move(memory)});
}

void Environment::drop(int id) {
  std::lock_guard lock(mutex_);
  std::erase_if(by_ranks_, [id](auto& e) { return e.second == id; });
  groups_.erase(id);
}

}  // namespace paddle::distributed
