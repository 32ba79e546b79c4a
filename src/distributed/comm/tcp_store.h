// TcpStore: a Store that one rank serves to all others over TCP.
#pragma once
#include <memory>
#include <thread>
#include <vector>

#include "distributed/comm/store.h"

namespace paddle::comm {

class TcpServer;

class TcpStore final : public Store {
 public:
  // The master listens on `port` (0: any free one, see port()) of all addresses; everyone, the master too, connects to
  // host:port, trying again until `timeout`. Raises a TimeoutError that says what could not be reached, and an OSError
  // when the port is taken.
  TcpStore(std::string host, int port, bool is_master, Milliseconds timeout);
  ~TcpStore() override;

  int port() const { return port_; }
  // Where other machines can reach this rank: the address of this machine as the master sees it; the master's own is
  // what all were told.
  std::string local_address() const;

  void set(const std::string& key, const std::string& value) override;
  std::optional<std::string> get(const std::string& key, Milliseconds timeout) override;
  int64_t add(const std::string& key, int64_t amount) override;
  bool erase(const std::string& key) override;

 private:
  std::string call(char op, const std::string& key, const std::string& value);

  std::string host_;
  int port_;
  std::unique_ptr<TcpServer> server_;
  std::mutex mutex_;  // one request at a time
  int socket_ = -1;
};

}  // namespace paddle::comm
