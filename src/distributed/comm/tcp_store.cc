// Protocol. A request is: one letter, key length and value length (uint32, network order), key, value. 's' set, 'a'
// add, 'e' erase, 'g' get (empty reply letter 'n' if there is none, else 'y'). A reply is a letter, a length, a value.
// Waiting is done by the client, which asks again: so no connection of the server ever blocks.
#include "distributed/comm/tcp_store.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>

#include "base/error.h"

namespace paddle::comm {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint32_t kLargest = 64u << 20;  // bytes of a key or value; more is not this protocol

bool write_all(int fd, const char* data, size_t n) {
  while (n > 0) {
    ssize_t k = ::send(fd, data, n, MSG_NOSIGNAL);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return false;
    data += k;
    n -= static_cast<size_t>(k);
  }
  return true;
}

bool read_all(int fd, char* data, size_t n) {
  while (n > 0) {
    ssize_t k = ::recv(fd, data, n, 0);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return false;
    data += k;
    n -= static_cast<size_t>(k);
  }
  return true;
}

void put_length(std::string& to, size_t n) {
  uint32_t net = htonl(static_cast<uint32_t>(n));
  to.append(reinterpret_cast<const char*>(&net), 4);
}

bool read_length(int fd, uint32_t& n) {
  if (!read_all(fd, reinterpret_cast<char*>(&n), 4)) return false;
  n = ntohl(n);
  return n <= kLargest;
}

bool read_text(int fd, uint32_t n, std::string& text) {
  text.resize(n);
  return read_all(fd, text.data(), n);
}

}  // namespace

// One thread per connection: as many as there are ranks, and they mostly sleep.
class TcpServer {
 public:
  explicit TcpServer(int port) {
    listener_ = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool v6 = listener_ >= 0;
    if (!v6) listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int yes = 1, no = 0;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_storage address{};
    socklen_t length = v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    if (v6) {
      ::setsockopt(listener_, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
      auto* a = reinterpret_cast<sockaddr_in6*>(&address);
      a->sin6_family = AF_INET6;
      a->sin6_port = htons(static_cast<uint16_t>(port));
    } else {
      auto* a = reinterpret_cast<sockaddr_in*>(&address);
      a->sin_family = AF_INET;
      a->sin_port = htons(static_cast<uint16_t>(port));
    }
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0 || ::listen(listener_, 1024) != 0) {
      int error = errno;
      ::close(listener_);
      fail(ErrorKind::kOS, "[TCPStore] can't listen on port {}: {}", port, std::strerror(error));
    }
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(v6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                     : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }

  ~TcpServer() {
    stop_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    for (auto& c : connections_) ::shutdown(c.fd, SHUT_RDWR);
    for (auto& c : connections_) {
      c.thread.join();
      ::close(c.fd);
    }
  }

  int port() const { return port_; }

 private:
  struct Connection {
    int fd;
    std::thread thread;
  };

  void accept_all() {
    while (!stop_) {
      int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        return;
      }
      int yes = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      connections_.push_back({fd, std::thread([this, fd] {
                                while (answer(fd)) {
                                }
                              })});
    }
  }

  bool answer(int fd) {
    char op;
    uint32_t key_length, value_length;
    std::string key, value;
    if (!read_all(fd, &op, 1) || !read_length(fd, key_length) || !read_length(fd, value_length) ||
        !read_text(fd, key_length, key) || !read_text(fd, value_length, value))
      return false;
    char letter = 'y';
    std::string result;
    if (op == 's') {
      table_.set(key, value);
    } else if (op == 'a') {
      try {
        result = std::to_string(table_.add(key, std::stoll(value)));
      } catch (const std::exception&) {
        letter = 'n';  // not a number
      }
    } else if (op == 'e') {
      letter = table_.erase(key) ? 'y' : 'n';
    } else if (op == 'g') {
      // Wait a little here, so that the client asks rarely.
      auto found = table_.get(key, Milliseconds(value.empty() || stop_ ? 0 : 50));
      letter = found ? 'y' : 'n';
      if (found) result = *found;
    } else {
      return false;
    }
    std::string reply(1, letter);
    put_length(reply, result.size());
    return write_all(fd, (reply + result).data(), reply.size() + result.size());
  }

  HashStore table_;
  int listener_ = -1, port_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread acceptor_;
  std::list<Connection> connections_;
};

namespace {

// A connected socket, or -1 with the reason.
int try_connect(const std::string& host, int port, Milliseconds timeout, std::string& reason) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0) {
    reason = ::gai_strerror(error);
    return -1;
  }
  int fd = -1;
  for (addrinfo* a = found; a && fd < 0; a = a->ai_next) {
    fd = ::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
    if (fd < 0) continue;
    int error = ::connect(fd, a->ai_addr, a->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      pollfd p{fd, POLLOUT, 0};
      socklen_t length = sizeof error;
      if (::poll(&p, 1, static_cast<int>(timeout.count())) == 1)
        ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
      else
        error = ETIMEDOUT;
    }
    if (error != 0) {
      reason = std::strerror(error);
      ::close(fd);
      fd = -1;
    }
  }
  ::freeaddrinfo(found);
  if (fd >= 0) {
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    int yes = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  return fd;
}

}  // namespace

TcpStore::TcpStore(std::string host, int port, bool is_master, Milliseconds timeout)
    : host_(std::move(host)), port_(port) {
  if (is_master) {
    server_ = std::make_unique<TcpServer>(port);
    port_ = server_->port();
  }
  auto deadline = Clock::now() + timeout;
  std::string reason;
  while (true) {
    auto left = std::chrono::duration_cast<Milliseconds>(deadline - Clock::now());
    socket_ = try_connect(is_master ? "localhost" : host_, port_, std::max(left, Milliseconds(1)), reason);
    if (socket_ >= 0) return;
    if (left <= Milliseconds::zero())
      fail(ErrorKind::kTimeout, "[TCPStore] the master at {}:{} did not answer within {} s ({}); is rank 0 running?",
           host_, port_, static_cast<double>(timeout.count()) / 1000.0, reason);
    std::this_thread::sleep_for(Milliseconds(50));
  }
}

TcpStore::~TcpStore() {
  if (socket_ >= 0) ::close(socket_);
}

std::string TcpStore::local_address() const {
  if (server_) return host_;
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  char text[NI_MAXHOST];
  if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&address), length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
    return "127.0.0.1";
  std::string s = text;
  return s.starts_with("::ffff:") ? s.substr(7) : s;
}

std::string TcpStore::call(char op, const std::string& key, const std::string& value) {
  std::lock_guard lock(mutex_);
  std::string request(1, op);
  put_length(request, key.size());
  put_length(request, value.size());
  request += key + value;
  char letter;
  uint32_t length;
  std::string reply;
  if (!write_all(socket_, request.data(), request.size()) || !read_all(socket_, &letter, 1) ||
      !read_length(socket_, length) || !read_text(socket_, length, reply))
    fail(ErrorKind::kRuntime, "[TCPStore] lost the connection to the master at {}:{}; has rank 0 ended?", host_, port_);
  return letter + reply;
}

void TcpStore::set(const std::string& key, const std::string& value) { call('s', key, value); }

std::optional<std::string> TcpStore::get(const std::string& key, Milliseconds timeout) {
  auto deadline = Clock::now() + timeout;
  while (true) {
    bool last = Clock::now() >= deadline;
    std::string reply = call('g', key, last ? "" : "w");
    if (reply[0] == 'y') return reply.substr(1);
    if (last) return std::nullopt;
  }
}

int64_t TcpStore::add(const std::string& key, int64_t amount) {
  std::string reply = call('a', key, std::to_string(amount));
  check(reply[0] == 'y', ErrorKind::kValue, "[TCPStore] the value of '{}' is not a number", key);
  return std::stoll(reply.substr(1));
}

bool TcpStore::erase(const std::string& key) { return call('e', key, "")[0] == 'y'; }

}  // namespace paddle::comm
