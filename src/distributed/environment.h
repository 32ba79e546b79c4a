// The process environment of a rank: who it is, who the others are, and the process groups that it belongs to. Kept in
// the Context, so ranks may be processes or, in tests, threads.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "distributed/comm/board_group.h"
#include "distributed/comm/process_group.h"
#include "distributed/comm/store.h"

namespace paddle::distributed {

// A group of a mesh's ranks, with the number that it has in this process.
struct MeshGroup {
  std::vector<int> ranks;
  int id = 0;
};

// Those that this thread asks for while it lives, in order: what was made with their numbers is right in another
// process once the same are asked for there and their numbers are put in.
class MeshGroupsAsked {
 public:
  MeshGroupsAsked();
  ~MeshGroupsAsked();
  MeshGroupsAsked(const MeshGroupsAsked&) = delete;
  std::vector<MeshGroup> list;

 private:
  MeshGroupsAsked* outer_;
};

class Environment {
 public:
  // Of the current Context. On first use reads PADDLE_TRAINER_ID and PADDLE_TRAINERS_NUM (0 of 1 without them).
  static Environment& current();
  Environment();

  int rank() const { return rank_; }
  int world_size() const { return world_size_; }
  bool connected() const { return connected_; }  // the default group is there

  // Meets the other ranks (PADDLE_MASTER, or the first of PADDLE_TRAINER_ENDPOINTS) and makes the default group.
  // Collective; again does nothing. Raises a TimeoutError that names the ranks that did not come.
  void connect(const std::string& backend = "auto", comm::Milliseconds timeout = comm::Milliseconds(900000));
  // This Context's rank is a thread among others of one process.
  void join(std::shared_ptr<comm::InProcessWorld> world, int rank);
  // Leaves all groups.
  void disconnect();

  // Group 0 is the default one, of all ranks. Every other has the number that new_group gave it on this rank.
  comm::ProcessGroup& group(int id);
  // Every member calls it. On a rank that is no member the number stands for no group. Twice the same ranks: two
  // groups.
  int new_group(std::vector<int> ranks, const std::string& backend = "auto",
                comm::Milliseconds timeout = comm::Milliseconds(0));
  // The group of just these ranks, made at the first call: what meshes use along their axes.
  int group_of(const std::vector<int>& ranks);  // told to MeshGroupsAsked
  std::vector<int> ranks_of(int id) const;
  bool known(int id) const;
  bool member(int id) const;  // this rank takes part in it
  void drop(int id);

  // Programs' sends (send_v2): while `on`, they return at once and what they send is kept for them; off: waits for all.
  // Schedules of pipelines need it, in which two stages send to each other before either receives.
  void send_ahead(bool on);
  bool sends_ahead() const { return sends_ahead_; }
  void keep_sending(comm::WorkPtr work, std::shared_ptr<void> memory);

 private:
  struct Sending {
    comm::WorkPtr work;
    std::shared_ptr<void> memory;
  };
  std::vector<Sending> sending_;
  bool sends_ahead_ = false;

  struct Entry {
    std::vector<int> ranks;
    comm::ProcessGroupPtr group;  // null where this rank is no member
    std::string backend;
    comm::Milliseconds timeout{0};
  };
  int find_or_make(const std::vector<int>& ranks);
  comm::ProcessGroupPtr make(const std::vector<int>& ranks, const std::string& backend, comm::Milliseconds timeout);

  int rank_ = 0, world_size_ = 1;
  bool connected_ = false;
  std::string backend_ = "auto";
  comm::Milliseconds timeout_{900000};
  std::shared_ptr<comm::InProcessWorld> world_;
  comm::StorePtr store_;
  std::map<int, Entry> groups_;
  std::map<std::vector<int>, int> by_ranks_;
  std::map<std::string, int> made_;  // how many groups of one set of ranks there were: part of the name
  int next_ = 1;
  mutable std::recursive_mutex mutex_;
};

// Lets other threads of an embedding interpreter run while a collective waits for other ranks. The binding installs it.
class Waiting {
 public:
  Waiting();
  ~Waiting();
  Waiting(const Waiting&) = delete;
  static void install(void* (*enter)(), void (*leave)(void*));

 private:
  void* state_;
};

}  // namespace paddle::distributed
