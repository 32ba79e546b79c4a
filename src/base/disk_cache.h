// A folder of results that were dear to compute, shared by processes: small files found by the hash of their key.
//
// Nothing that happens to the folder can harm: an entry counts only if its key's digest, its length and its checksum
// are right, so a damaged or half-written file is computed anew; a folder that can't be written (or belongs to somebody
// else) is simply not used. Entries are written under another name and renamed, so readers never see part of one.
// Beyond its size limit the entries that were used longest ago go.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace paddle {

// 128 bits of a text, the same in every process.
struct Digest {
  uint64_t hi = 0, lo = 0;
  bool operator==(const Digest&) const = default;
  std::string str() const;  // 32 hexadecimal digits
};
Digest digest_of(std::string_view text);        // what saved files hold: it never changes
Digest quick_digest_of(std::string_view text);  // many times as quick, for caches

class DiskCache {
 public:
  // Nothing is touched until the first call. An empty folder or a limit of 0 switches the cache off.
  DiskCache(std::string folder, int64_t limit_bytes);

  std::optional<std::string> get(std::string_view key);
  void put(std::string_view key, std::string_view value);

  const std::string& folder() const { return folder_; }
  // Whether the folder is there (made if need be), ours, and closed to other users' writing.
  bool usable();

 private:
  std::string path_of(const Digest& key) const;
  void trim();

  std::mutex mutex_;
  std::string folder_;
  int64_t limit_;
  int state_ = 0;       // 0 not looked at yet, 1 usable, -1 not
  int64_t added_ = -1;  // bytes put since the last look at the whole folder; -1: never looked
};

// FLAGS_compile_cache_dir, or where the user's caches lie; "off" there or a FLAGS_compile_cache_mb of 0 switches it
// off.
DiskCache& compile_cache();

}  // namespace paddle
