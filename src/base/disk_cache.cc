#include "base/disk_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/flags.h"
#include "base/mix.h"

namespace paddle {
namespace {

namespace fs = std::filesystem;

struct Header {
  char magic[8] = {'p', 'd', 'c', 'a', 'c', 'h', 'e', '2'};
  Digest key;
  uint64_t key_size = 0, size = 0;
  Digest check;  // of the value
};

class File {
 public:
  File(const std::string& path, int flags, mode_t mode = 0) : fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  bool read(void* out, size_t n) const {
    return whole(n, [&](size_t at) { return ::read(fd_, static_cast<char*>(out) + at, n - at); });
  }
  bool write(const void* from, size_t n) const {
    return whole(n, [&](size_t at) { return ::write(fd_, static_cast<const char*>(from) + at, n - at); });
  }

 private:
  template <class Step>
  static bool whole(size_t n, Step&& step) {
    for (size_t at = 0; at < n;) {
      const ssize_t did = step(at);
      if (did < 0 && errno == EINTR) continue;
      if (did <= 0) return false;
      at += static_cast<size_t>(did);
    }
    return true;
  }
  int fd_;
};

bool is_temporary(const std::string& name) { return name.find(".tmp") != std::string::npos; }
bool is_entry(const std::string& name) { return name.size() == 36 && name.ends_with(".pdc"); }

std::string default_folder() {
  if (const char* base = std::getenv("XDG_CACHE_HOME"); base && *base == '/')
    return fmt::format("{}/paddle/compiled", base);
  if (const char* home = std::getenv("HOME"); home && *home == '/')
    return fmt::format("{}/.cache/paddle/compiled", home);
  return {};
}

}  // namespace

std::string Digest::str() const { return fmt::format("{:016x}{:016x}", hi, lo); }

Digest digest_of(std::string_view text) {
  Digest d{0x6a09e667f3bcc908ull ^ text.size(), 0xbb67ae8584caa73bull + text.size()};
  for (size_t i = 0; i < text.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, std::min<size_t>(8, text.size() - i));
    d.lo = mix64(d.lo ^ word);
    d.hi = mix64(d.hi + word * 0x9E3779B97F4A7C15ull + 1);
  }
  return {mix64(d.hi ^ (d.lo >> 32)), mix64(d.lo + d.hi)};
}

// Words go to four lanes in turn, so that multiplications overlap; one word that differs always changes its lane.
Digest quick_digest_of(std::string_view text) {
  std::array<uint64_t, 4> lanes{0x6a09e667f3bcc908ull, 0xbb67ae8584caa73bull, 0x3c6ef372fe94f82bull,
                                0xa54ff53a5f1d36f1ull};
  auto take = [](uint64_t& lane, uint64_t word) {
    lane = std::rotl(lane + word * 0xc2b2ae3d27d4eb4full, 31) * 0x9e3779b185ebca87ull;
  };
  size_t i = 0;
  for (; i + 32 <= text.size(); i += 32)
    for (size_t k = 0; k < 4; ++k) {
      uint64_t word;
      std::memcpy(&word, text.data() + i + 8 * k, 8);
      take(lanes[k], word);
    }
  for (size_t k = 0; i < text.size(); i += 8, ++k) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, std::min<size_t>(8, text.size() - i));
    take(lanes[k], word);
  }
  Digest d{text.size(), ~text.size()};
  for (uint64_t lane : lanes) {
    d.lo = mix64(d.lo ^ lane);
    d.hi = mix64(d.hi + lane * 0x9E3779B97F4A7C15ull + 1);
  }
  return {mix64(d.hi ^ (d.lo >> 32)), mix64(d.lo + d.hi)};
}

DiskCache::DiskCache(std::string folder, int64_t limit_bytes) : folder_(std::move(folder)), limit_(limit_bytes) {}

bool DiskCache::usable() {
  std::lock_guard guard(mutex_);
  if (state_ == 0) {
    state_ = -1;
    if (!folder_.empty() && limit_ > 0) {
      std::error_code ignored;
      const fs::path folder(folder_);
      if (folder.has_parent_path()) fs::create_directories(folder.parent_path(), ignored);
      ::mkdir(folder_.c_str(), 0700);
      // What lies here is executed: nobody else may have put it there.
      struct stat s;
      if (::stat(folder_.c_str(), &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == ::geteuid() && (s.st_mode & 022) == 0)
        state_ = 1;
    }
  }
  return state_ == 1;
}

std::string DiskCache::path_of(const Digest& key) const { return fmt::format("{}/{}.pdc", folder_, key.str()); }

std::optional<std::string> DiskCache::get(std::string_view key) {
  if (!usable()) return {};
  const Digest digest = digest_of(key);
  const std::string path = path_of(digest);
  File file(path, O_RDONLY);
  if (file.fd() < 0) return {};
  struct stat s;
  Header expected, h;
  const bool sized = ::fstat(file.fd(), &s) == 0 && s.st_size >= static_cast<off_t>(sizeof h);
  std::string value;
  bool good = sized && file.read(&h, sizeof h) && std::memcmp(h.magic, expected.magic, sizeof h.magic) == 0 &&
              h.key == digest && h.key_size == key.size() && h.size == static_cast<uint64_t>(s.st_size) - sizeof h;
  if (good) {
    value.resize(h.size);
    good = file.read(value.data(), value.size()) && quick_digest_of(value) == h.check;
  }
  if (!good) {
    ::unlink(path.c_str());
    return {};
  }
  // Its time says when it was used last; a day's precision would do, so not at every use.
  if (std::time(nullptr) - s.st_mtime > 600) ::futimens(file.fd(), nullptr);
  return value;
}

void DiskCache::put(std::string_view key, std::string_view value) {
  if (!usable() || static_cast<int64_t>(value.size()) > limit_ / 4) return;
  static std::atomic<uint64_t> count{0};
  Header h;
  h.key = digest_of(key);
  h.key_size = key.size();
  h.size = value.size();
  h.check = quick_digest_of(value);
  const std::string path = path_of(h.key);
  const std::string temporary = fmt::format("{}.{}.{}.tmp", path, ::getpid(), count.fetch_add(1));
  bool written = false;
  {
    File file(temporary, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file.fd() < 0) return;
    written = file.write(&h, sizeof h) && file.write(value.data(), value.size());
  }
  if (!written || ::rename(temporary.c_str(), path.c_str()) != 0) {
    ::unlink(temporary.c_str());
    return;
  }
  std::lock_guard guard(mutex_);
  const bool look = added_ < 0 || added_ > limit_ / 16;
  added_ = (look ? 0 : added_) + static_cast<int64_t>(value.size());
  if (look) trim();
}

// Down to 7/8 of the limit; other processes may trim at the same time. Leftovers of processes that died go too.
void DiskCache::trim() {
  struct Entry {
    std::string path;
    std::time_t used;
    int64_t size;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  const std::time_t now = std::time(nullptr);
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    struct stat s;
    if (::lstat(it->path().c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
    if (is_temporary(name)) {
      if (now - s.st_mtime > 3600) ::unlink(it->path().c_str());
    } else if (is_entry(name)) {
      entries.push_back({it->path().string(), s.st_mtime, s.st_size});
      total += s.st_size;
    }
  }
  if (total <= limit_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& e : entries) {
    if (total <= limit_ - limit_ / 8) break;
    ::unlink(e.path.c_str());
    total -= e.size;
  }
}

DiskCache& compile_cache() {
  static std::mutex mutex;
  static auto* caches = new std::vector<std::unique_ptr<DiskCache>>;  // a cache in use stays when the flags change
  static std::string current_folder;
  static int64_t current_limit = -1;
  std::string folder = flags::get_string("compile_cache_dir");
  if (folder.empty()) folder = default_folder();
  if (folder == "off") folder.clear();
  const int64_t limit = flags::get_int("compile_cache_mb") << 20;
  std::lock_guard guard(mutex);
  if (caches->empty() || folder != current_folder || limit != current_limit) {
    caches->push_back(std::make_unique<DiskCache>(folder, limit));
    current_folder = folder;
    current_limit = limit;
  }
  return *caches->back();
}

}  // namespace paddle
