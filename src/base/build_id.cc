#include "base/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

#include <cstring>
#include <string_view>
#include <utility>

namespace paddle {
namespace {

// The id among an ELF file's notes.
std::string id_among(std::string_view notes) {
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    const size_t name = sizeof note, text = name + (note.n_namesz + 3ull) / 4 * 4;
    const size_t next = text + (note.n_descsz + 3ull) / 4 * 4;
    if (next > notes.size() || next < text) break;
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(name, note.n_namesz) == std::string_view("GNU\0", 4)) {
      std::string id;
      for (char c : notes.substr(text, note.n_descsz)) id += fmt::format("{:02x}", static_cast<unsigned char>(c));
      return id;
    }
    notes.remove_prefix(next);
  }
  return {};
}

std::string& current() {
  static const char anchor = 0;
  static auto* id = new std::string(build_id_of_code(&anchor));
  return *id;
}

}  // namespace

std::string build_id_of_code(const void* code) {
  struct Search {
    uintptr_t address;
    std::string found;
  } search{reinterpret_cast<uintptr_t>(code), {}};
  auto look = [](dl_phdr_info* info, size_t, void* data) {
    auto& s = *static_cast<Search*>(data);
    const auto at = s.address - info->dlpi_addr;
    bool here = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& p = info->dlpi_phdr[i];
      here |= p.p_type == PT_LOAD && at >= p.p_vaddr && at < p.p_vaddr + p.p_memsz;
    }
    for (int i = 0; here && s.found.empty() && i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& p = info->dlpi_phdr[i];
      if (p.p_type == PT_NOTE)
        s.found = id_among({reinterpret_cast<const char*>(info->dlpi_addr + p.p_vaddr), p.p_memsz});
    }
    return here ? 1 : 0;
  };
  dl_iterate_phdr(look, &search);
  return search.found;
}

const std::string& build_id() { return current(); }

std::string pretend_build_id(std::string id) { return std::exchange(current(), std::move(id)); }

std::string build_id_of_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  auto read_at = [&](void* to, size_t n, off_t at) { return ::pread(fd, to, n, at) == static_cast<ssize_t>(n); };
  std::string id;
  ElfW(Ehdr) header;
  if (read_at(&header, sizeof header, 0) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
      header.e_phentsize == sizeof(ElfW(Phdr))) {
    for (int i = 0; i < header.e_phnum && id.empty(); ++i) {
      ElfW(Phdr) p;
      if (!read_at(&p, sizeof p, static_cast<off_t>(header.e_phoff + static_cast<size_t>(i) * sizeof p))) break;
      if (p.p_type != PT_NOTE || p.p_filesz > 65536) continue;
      std::string notes(p.p_filesz, '\0');
      if (read_at(notes.data(), notes.size(), static_cast<off_t>(p.p_offset))) id = id_among(notes);
    }
  }
  ::close(fd);
  return id;
}

namespace {

std::string identity() {
  std::string out;
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  auto say = [&](unsigned leaf, unsigned part) {
    if (__get_cpuid_count(leaf, part, &a, &b, &c, &d) == 0) a = b = c = d = 0;
    if (leaf == 1) b = 0;  // which core answers
    out += fmt::format("{:x}.{:x}:{:x},{:x},{:x},{:x} ", leaf, part, a, b, c, d);
  };
  say(0, 0), say(1, 0), say(7, 0), say(7, 1), say(0x80000001u, 0);
  if (__get_cpuid(1, &a, &b, &c, &d) && (c & (1u << 27))) {
    unsigned low = 0, high = 0;  // what the system lets programs use
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    out += fmt::format("{:x}{:08x}", high, low);
  }
#else
  out = fmt::format("{:x} {:x}", ::getauxval(AT_HWCAP), ::getauxval(AT_HWCAP2));
#endif
  return out;
}

}  // namespace

const std::string& cpu_identity() {
  static const auto* text = new std::string(identity());
  return *text;
}

}  // namespace paddle
