#include "distributed/comm/shm_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include "base/error.h"

namespace paddle::comm {
namespace {

[[noreturn]] void too_small(size_t bytes) {
  struct statvfs s {};
  ::statvfs("/dev/shm", &s);
  double mib = 1024.0 * 1024.0;
  fail(ErrorKind::kOS,
       "[shared memory] /dev/shm is too small: {:.1f} MiB are needed, {:.1f} of {:.1f} MiB are free; enlarge it (for "
       "containers: --shm-size), or use the gloo back end",
       static_cast<double>(bytes) / mib, static_cast<double>(s.f_bavail) * static_cast<double>(s.f_frsize) / mib,
       static_cast<double>(s.f_blocks) * static_cast<double>(s.f_frsize) / mib);
}

std::byte* map(int fd, const std::string& name, size_t bytes) {
  void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  int error = errno;
  ::close(fd);
  check(p != MAP_FAILED, ErrorKind::kOS, "[shared memory] can't map {}: {}", name, std::strerror(error));
  return static_cast<std::byte*>(p);
}

}  // namespace

std::string ShmSegment::unique_name() {
  std::random_device random;
  return fmt::format("/paddle_{}_{:08x}{:08x}", ::getpid(), random(), random());
}

void ShmSegment::unlink(const std::string& name) { ::shm_unlink(name.c_str()); }

ShmSegment ShmSegment::create(const std::string& name, size_t bytes) {
  int fd = ::shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
  check(fd >= 0, ErrorKind::kOS, "[shared memory] can't create {}: {}", name, std::strerror(errno));
  // Without reserving, a full /dev/shm shows only later, as a bus error.
  int error = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  if (error != 0) {
    ::close(fd);
    unlink(name);
    if (error == ENOSPC || error == ENOMEM) too_small(bytes);
    fail(ErrorKind::kOS, "[shared memory] can't reserve {} bytes for {}: {}", bytes, name, std::strerror(error));
  }
  return {map(fd, name, bytes), bytes};
}

ShmSegment ShmSegment::open(const std::string& name, size_t bytes) {
  int fd = ::shm_open(name.c_str(), O_RDWR, 0600);
  check(fd >= 0, ErrorKind::kOS, "[shared memory] can't open {}: {}", name, std::strerror(errno));
  return {map(fd, name, bytes), bytes};
}

ShmSegment::ShmSegment(ShmSegment&& o) noexcept : data_(std::exchange(o.data_, nullptr)), size_(o.size_) {}

ShmSegment& ShmSegment::operator=(ShmSegment&& o) noexcept {
  std::swap(data_, o.data_);
  std::swap(size_, o.size_);
  return *this;
}

ShmSegment::~ShmSegment() {
  if (data_) ::munmap(data_, size_);
}

}  // namespace paddle::comm
