// Runs a function as several ranks, as threads or as forked processes, and checks every collective in it.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "distributed/comm/process_group.h"
#include "distributed/comm/tcp_store.h"

namespace paddle::comm::test {

constexpr Milliseconds kStoreTimeout{10000};
using RankOfStore = std::function<std::string(int rank, const std::shared_ptr<TcpStore>& store)>;

// body(rank, store) in n forked processes that share a store; an empty string means well, anything else is what went
// wrong. Returns all ranks' reports. A rank that is killed, or that ends by _exit(0) without a report, reports "died".
std::vector<std::string> fork_ranks(int n, const RankOfStore& body);
std::vector<std::string> thread_ranks(int n, const std::function<std::string(int)>& body);

// Every operation, dtype and reduction for a few sizes; all ranks call it together. Empty if all is well.
std::string check_all(ProcessGroup& group);
std::string check_some(ProcessGroup& group);  // fewer dtypes and sizes, for slow back ends
std::string check_asynchronous(ProcessGroup& group);

inline void expect_all_well(const std::vector<std::string>& reports) {
  for (size_t r = 0; r < reports.size(); ++r) EXPECT_EQ(reports[r], "") << "rank " << r;
}

// What an Error said, or "nothing raised".
std::string raised(const std::function<void()>& f);

}  // namespace paddle::comm::test
