#include "distributed/comm/store.h"

#include <thread>

#include "base/error.h"
#include "ranks.h"

namespace paddle::comm::test {
namespace {

TEST(TcpStore, SetGetAddErase) {
  TcpStore master("localhost", 0, true, Milliseconds(5000));
  TcpStore other("localhost", master.port(), false, Milliseconds(5000));
  std::string binary("a\0b\n", 4);
  other.set("key", binary);
  EXPECT_EQ(master.get("key", Milliseconds(0)), binary);
  EXPECT_EQ(master.add("n", 5), 5);
  EXPECT_EQ(other.add("n", -2), 3);
  EXPECT_EQ(other.get("n", Milliseconds(0)), "3");
  EXPECT_TRUE(other.erase("key"));
  EXPECT_FALSE(other.contains("key"));
  EXPECT_NE(raised([&] { other.set("word", "x"), other.add("word", 1); }).find("not a number"), std::string::npos);
}

TEST(TcpStore, GetWaitsForAnother) {
  TcpStore master("localhost", 0, true, Milliseconds(5000));
  std::thread later([&] {
    std::this_thread::sleep_for(Milliseconds(120));
    TcpStore("localhost", master.port(), false, Milliseconds(5000)).set("late", "x");
  });
  EXPECT_EQ(master.get("late", Milliseconds(5000)), "x");
  later.join();
  EXPECT_EQ(master.get("never", Milliseconds(100)), std::nullopt);
}

TEST(TcpStore, AbsentMasterAndTakenPortAreSaid) {
  int port;
  {
    TcpStore gone("localhost", 0, true, Milliseconds(5000));
    port = gone.port();
    EXPECT_NE(raised([&] { TcpStore("localhost", port, true, Milliseconds(500)); }).find("can't listen on port"),
              std::string::npos);
  }
  std::string message = raised([&] { TcpStore("localhost", port, false, Milliseconds(200)); });
  EXPECT_NE(message.find("did not answer within 0.2 s"), std::string::npos) << message;
}

TEST(Exchange, NamesAllWhoAreMissing) {
  HashStore store;
  std::string message = raised([&] { exchange(store, "default", 1, {10, 11, 12, 13}, "x", Milliseconds(100)); });
  EXPECT_EQ(message, "[rendezvous] ranks 10, 12, 13 of 4 did not join 'default' within 0.1 s; rank 11 waited");
}

TEST(Exchange, GivesAllValuesByRank) {
  HashStore store;
  expect_all_well(thread_ranks(3, [&](int rank) -> std::string {
    auto values = exchange(store, "t", rank, {0, 1, 2}, "v" + std::to_string(rank), Milliseconds(5000));
    return values == std::vector<std::string>{"v0", "v1", "v2"} ? "" : "wrong values";
  }));
}

}  // namespace
}  // namespace paddle::comm::test
