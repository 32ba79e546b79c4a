// The folder of compiled code: what must never harm, and what must never be hit.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/disk_cache.h"
#include "base/flags.h"
#include "cinn/loop/bytes.h"
#include "reference.h"

namespace paddle::cinn {
namespace {

namespace fs = std::filesystem;
using scalar::Fn;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "paddle-cache-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path_); }
  std::string path(const std::string& inside = "") const { return inside.empty() ? path_ : path_ + "/" + inside; }
  std::vector<std::string> entries() const {
    std::vector<std::string> out;
    for (const auto& e : fs::directory_iterator(path_)) out.push_back(e.path().string());
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  std::string path_;
};

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

TEST(DiskCache, KeepsValuesByKey) {
  Folder f;
  const std::string binary("a\0b", 3);
  {
    DiskCache cache(f.path("sub/deeper"), 1 << 20);
    EXPECT_FALSE(cache.get("k"));
    cache.put("k", binary);
    cache.put("other", "2");
  }
  DiskCache again(f.path("sub/deeper"), 1 << 20);
  EXPECT_EQ(again.get("k"), binary);
  EXPECT_EQ(again.get("other"), "2");
  EXPECT_FALSE(again.get("K"));
  again.put("k", "");
  EXPECT_EQ(again.get("k"), "");
}

TEST(DiskCache, DamagedEntriesAreMissesAndGo) {
  Folder f;
  DiskCache cache(f.path(), 1 << 20);
  cache.put("key", std::string(300, 'v'));
  const std::string path = f.entries().at(0), whole = read_file(path);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] ^= 0x10;
    write_file(path, damaged);
    EXPECT_FALSE(cache.get("key")) << "byte " << at;
    EXPECT_FALSE(fs::exists(path));
  }
  for (size_t length : {size_t{0}, size_t{7}, whole.size() / 2, whole.size() - 1}) {
    write_file(path, whole.substr(0, length));
    EXPECT_FALSE(cache.get("key")) << "length " << length;
  }
  write_file(path, whole + "x");
  EXPECT_FALSE(cache.get("key"));
  write_file(path, whole);
  EXPECT_EQ(cache.get("key"), std::string(300, 'v'));
}

TEST(DiskCache, AnotherKeysEntryUnderThisNameIsAMiss) {
  Folder f;
  DiskCache cache(f.path(), 1 << 20);
  cache.put("one", "1");
  const std::string one = f.entries().at(0);
  cache.put("two", "2");
  for (const std::string& e : f.entries())
    if (e != one) fs::copy_file(e, one, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(cache.get("one"));
  EXPECT_EQ(cache.get("two"), "2");
}

TEST(DiskCache, FoldersThatCannotBeUsed) {
  Folder f;
  write_file(f.path("file"), "");
  fs::create_directory(f.path("open"));
  ::chmod(f.path("open").c_str(), 0777);  // others may write code there that we would run
  fs::create_directory(f.path("readonly"));
  ::chmod(f.path("readonly").c_str(), 0500);
  for (const std::string& folder : {f.path("file"), f.path("file/below"), f.path("open"), f.path("readonly"),
                                    std::string("/proc/self/nowhere"), std::string(), std::string(5000, 'x')}) {
    DiskCache cache(folder, 1 << 20);
    cache.put("k", "v");
    if (auto got = cache.get("k"); got && folder != f.path("readonly"))
      ADD_FAILURE() << folder;  // root writes anywhere
  }
  DiskCache off(f.path("off"), 0);
  off.put("k", "v");
  EXPECT_FALSE(off.get("k"));
  EXPECT_FALSE(fs::exists(f.path("off")));
}

TEST(DiskCache, WhatWasUsedLongestAgoGoes) {
  Folder f;
  DiskCache cache(f.path(), 100'000);
  const std::string value(10'000, 'x');
  write_file(f.path("left.1.2.tmp"), "x");
  write_file(f.path("notes.txt"), "not ours");
  for (int i = 0; i < 40; ++i) {
    cache.put("k" + std::to_string(i), value);
    for (const std::string& e : f.entries()) {  // all a minute older
      struct stat s;
      ::stat(e.c_str(), &s);
      const timespec times[2] = {s.st_atim, {s.st_mtim.tv_sec - 4000, 0}};
      ::utimensat(AT_FDCWD, e.c_str(), times, 0);
    }
    EXPECT_TRUE(cache.get("k0")) << i;  // used all the time
  }
  int64_t total = 0;
  for (const std::string& e : f.entries()) total += static_cast<int64_t>(fs::file_size(e));
  EXPECT_LE(total, 120'000);
  EXPECT_TRUE(cache.get("k39"));
  EXPECT_FALSE(cache.get("k1"));
  EXPECT_FALSE(fs::exists(f.path("left.1.2.tmp")));
  EXPECT_TRUE(fs::exists(f.path("notes.txt")));
}

TEST(DiskCache, ManyProcessesAtOnce) {
  Folder f;
  auto value = [](int k) { return std::string(1000 + 37 * k, static_cast<char>('a' + k % 26)); };
  std::vector<pid_t> children;
  for (int p = 0; p < 4; ++p) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      DiskCache cache(f.path(), 60'000);  // small: entries go while others read
      int wrong = 0;
      for (int i = 0; i < 400; ++i) {
        const int k = (i * 7 + p) % 60;
        cache.put(std::to_string(k), value(k));
        for (int j : {k, (k + 13) % 60})
          if (auto got = cache.get(std::to_string(j)); got && *got != value(j)) ++wrong;
      }
      ::_exit(wrong ? 1 : 0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

// -- compiled groups

class CompileFolder {
 public:
  CompileFolder() {
    flags::set("compile_cache_dir", folder.path());
    forget_compiled();
  }
  ~CompileFolder() {
    flags::set("compile_cache_dir", std::string("off"));
    forget_compiled();
  }
  Folder folder;
};

Group sum_of_exponentials(double scale) {
  Group g;
  int x = g.input(DType::kFloat32, {5, 33});
  int e = g.pointwise(Fn::exp, {g.pointwise(Fn::mul, {x, g.constant(DType::kFloat32, scale)}, DType::kFloat32)},
                      DType::kFloat32);
  g.output(g.reduce(ReduceKind::kSum, e, {1}, false, DType::kFloat32));
  return g;
}

CompileCounts counts_of(auto&& work) {
  const CompileCounts before = compile_counts();
  work();
  const CompileCounts after = compile_counts();
  return {after.compiled - before.compiled, after.loaded - before.loaded};
}

TEST(CompileCache, TheSecondProcessLoads) {
  CompileFolder f;
  Group g = sum_of_exponentials(0.5);
  CompileCounts n = counts_of([&] { testing::check_group(g); });
  EXPECT_EQ(n.compiled, 1);
  forget_compiled();
  n = counts_of([&] { testing::check_group(g); });
  EXPECT_EQ(n.compiled, 0);
  EXPECT_EQ(n.loaded, 1);
  n = counts_of([&] { testing::check_group(sum_of_exponentials(0.25)); });
  EXPECT_EQ(n.compiled, 1);
}

TEST(CompileCache, RubbishIsCompiledAnew) {
  CompileFolder f;
  Group g = sum_of_exponentials(0.5);
  testing::check_group(g);
  const std::string key = cache_key(lower(g, host_target()), {.streaming = false});
  auto object = compile_cache().get(key);
  ASSERT_TRUE(object);
  for (std::string text : {std::string("no object at all"), std::string(), object->substr(0, object->size() / 2)}) {
    compile_cache().put(key, text);  // the checksum is right, what it covers is not
    forget_compiled();
    CompileCounts n = counts_of([&] { testing::check_group(g); });
    EXPECT_EQ(n.compiled, 1);
    EXPECT_EQ(compile_cache().get(key), object);
  }
}

TEST(CompileCache, KeysTellRoundingsApart) {
  auto rounded = [](DType half) {
    Group g;
    g.output(g.cast(g.cast(g.input(DType::kFloat32, {8}), half), DType::kFloat32));
    return to_bytes(lower(g, Target{}));
  };
  EXPECT_NE(rounded(DType::kFloat16), rounded(DType::kBFloat16));
  EXPECT_EQ(rounded(DType::kFloat16), rounded(DType::kFloat16));
  EXPECT_NE(cache_key(lower(sum_of_exponentials(1), Target{}), {.streaming = true}),
            cache_key(lower(sum_of_exponentials(1), Target{}), {.streaming = false}));
}

}  // namespace
}  // namespace paddle::cinn
