#include "cinn/jit/object.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "cinn/jit/functions.h"

namespace paddle::cinn {
namespace {

[[noreturn]] void bad(std::string_view what) {
  fail(ErrorKind::kRuntime, "[cinn] an object can't be loaded: {}", what);
}

void* address_of(const std::string& name) {
  static const auto* known = [] {
    auto* table = new std::unordered_map<std::string_view, void*>;
    for (const LibraryFn& f : library_functions()) table->emplace(f.name, f.address);
    return table;
  }();
  if (auto it = known->find(name); it != known->end()) return it->second;
  // What code generation itself may call: memset, conversions of 16-bit floats on old processors.
  if (void* found = ::dlsym(RTLD_DEFAULT, name.c_str())) return found;
  bad("it needs " + name);
}

// The parts of an object file, each taken only where it lies inside.
class ObjectFile {
 public:
  explicit ObjectFile(std::string_view bytes) : bytes_(bytes) {
    header_ = at<Elf64_Ehdr>(0);
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 || header_.e_ident[EI_CLASS] != ELFCLASS64 ||
        header_.e_ident[EI_DATA] != ELFDATA2LSB || header_.e_type != ET_REL)
      bad("it is no 64-bit relocatable ELF file");
    if (header_.e_machine != EM_X86_64 || header_.e_shentsize != sizeof(Elf64_Shdr)) bad("it is for another processor");
    for (size_t i = 0; i < header_.e_shnum; ++i) {
      sections.push_back(at<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)));
      if (sections.back().sh_type == SHT_SYMTAB) table_ = i;
    }
    if (table_ == 0) bad("it has no symbols");
  }

  size_t num_symbols() const { return sections[table_].sh_size / sizeof(Elf64_Sym); }
  Elf64_Sym symbol(size_t i) const {
    if (i >= num_symbols()) bad("a symbol's number is too large");
    return at<Elf64_Sym>(sections[table_].sh_offset + i * sizeof(Elf64_Sym));
  }
  std::string name(const Elf64_Sym& s) const {
    if (sections[table_].sh_link >= sections.size()) bad("symbols without names");
    const std::string_view names = contents(sections[sections[table_].sh_link]);
    if (s.st_name >= names.size()) bad("a name lies outside");
    const std::string_view rest = names.substr(s.st_name);
    return std::string(rest.substr(0, rest.find('\0')));
  }
  std::string_view contents(const Elf64_Shdr& s) const {
    if (s.sh_offset > bytes_.size() || s.sh_size > bytes_.size() - s.sh_offset) bad("a section lies outside");
    return bytes_.substr(s.sh_offset, s.sh_size);
  }
  template <class T>
  T at(uint64_t offset) const {
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) bad("it ends early");
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  std::vector<Elf64_Shdr> sections;

 private:
  std::string_view bytes_;
  Elf64_Ehdr header_;
  size_t table_ = 0;
};

// Where everything goes: code and jumps to functions far away, then what is only read and a table of addresses.
class Placement {
 public:
  explicit Placement(const ObjectFile& file) : file_(file), section_at_(file.sections.size(), kNowhere) {
    place(true);
    jumps_ = take(file.num_symbols() * kJump, kJump);
    code_size = take(0, static_cast<size_t>(::sysconf(_SC_PAGESIZE)));
    place(false);
    addresses_ = take(file.num_symbols() * sizeof(uint64_t), sizeof(uint64_t));
  }

  void fill(char* base) {
    base_ = base;
    for (size_t i = 0; i < section_at_.size(); ++i) {
      const Elf64_Shdr& s = file_.sections[i];
      if (section_at_[i] == kNowhere || s.sh_type == SHT_NOBITS) continue;
      const std::string_view from = file_.contents(s);
      std::memcpy(base + section_at_[i], from.data(), from.size());
    }
    for (const Elf64_Shdr& s : file_.sections)
      if (s.sh_type == SHT_RELA && s.sh_info < section_at_.size() && section_at_[s.sh_info] != kNowhere)
        for (size_t at = 0; at + sizeof(Elf64_Rela) <= s.sh_size; at += sizeof(Elf64_Rela))
          relocate(s.sh_info, file_.at<Elf64_Rela>(s.sh_offset + at));
  }

  // Of a symbol; far: one outside.
  uint64_t value(size_t number, bool* far) const {
    const Elf64_Sym s = file_.symbol(number);
    *far = s.st_shndx == SHN_UNDEF;
    if (*far) return reinterpret_cast<uint64_t>(address_of(file_.name(s)));
    if (s.st_shndx >= section_at_.size() || section_at_[s.st_shndx] == kNowhere) bad("a symbol in no section");
    if (s.st_value > file_.sections[s.st_shndx].sh_size) bad("a symbol outside of its section");
    return reinterpret_cast<uint64_t>(base_) + section_at_[s.st_shndx] + s.st_value;
  }

  size_t size = 0, code_size = 0;

 private:
  static constexpr size_t kNowhere = SIZE_MAX, kJump = 16, kMost = size_t{1} << 28;

  size_t take(size_t bytes, size_t align) {
    if (align == 0 || (align & (align - 1)) != 0 || align > 4096 || bytes > kMost) bad("a section is too large");
    const size_t at = (size + align - 1) & ~(align - 1);
    size = at + bytes;
    if (size > kMost) bad("it is too large");
    return at;
  }
  void place(bool code) {
    for (size_t i = 0; i < section_at_.size(); ++i) {
      const Elf64_Shdr& s = file_.sections[i];
      const bool wanted = (s.sh_type == SHT_PROGBITS || s.sh_type == SHT_NOBITS) && (s.sh_flags & SHF_ALLOC);
      if (!wanted || ((s.sh_flags & SHF_EXECINSTR) != 0) != code) continue;
      if ((s.sh_flags & (SHF_WRITE | SHF_TLS)) && s.sh_size > 0) bad("it has data that changes");
      section_at_[i] = take(s.sh_size, std::max<size_t>(1, s.sh_addralign));
    }
  }

  // A jump to a function that relative addresses may not reach.
  uint64_t jump_to(size_t number, uint64_t target) {
    char* at = base_ + jumps_ + number * kJump;
    constexpr char kIndirect[6] = {'\xff', '\x25', 0, 0, 0, 0};  // jmp *(%rip): the address follows
    std::memcpy(at, kIndirect, sizeof kIndirect);
    std::memcpy(at + sizeof kIndirect, &target, sizeof target);
    return reinterpret_cast<uint64_t>(at);
  }

  void relocate(size_t section, const Elf64_Rela& r) {
    const size_t number = ELF64_R_SYM(r.r_info), type = ELF64_R_TYPE(r.r_info);
    const size_t bytes = type == R_X86_64_64 ? 8 : 4, limit = file_.sections[section].sh_size;
    if (limit < bytes || r.r_offset > limit - bytes) bad("a relocation lies outside");
    char* place = base_ + section_at_[section] + r.r_offset;
    bool far = false;
    uint64_t target = value(number, &far);
    switch (type) {
      case R_X86_64_64:
        target += static_cast<uint64_t>(r.r_addend);
        std::memcpy(place, &target, sizeof target);
        return;
      case R_X86_64_PC32:
      case R_X86_64_PLT32:
        if (far) target = jump_to(number, target);
        break;
      case R_X86_64_GOTPCREL:
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX: {
        char* entry = base_ + addresses_ + number * sizeof(uint64_t);
        std::memcpy(entry, &target, sizeof target);
        target = reinterpret_cast<uint64_t>(entry);
        break;
      }
      default:
        bad(fmt::format("a relocation of kind {}", type));
    }
    const auto distance =
        static_cast<int64_t>(target + static_cast<uint64_t>(r.r_addend) - reinterpret_cast<uint64_t>(place));
    const auto near = static_cast<int32_t>(distance);
    if (near != distance) bad("an address is too far away");
    std::memcpy(place, &near, sizeof near);
  }

  const ObjectFile& file_;
  std::vector<size_t> section_at_;
  size_t jumps_ = 0, addresses_ = 0;
  char* base_ = nullptr;
};

}  // namespace

LoadedObject::LoadedObject(std::string_view object, size_t num_kernels) : kernels_(num_kernels) {
  const ObjectFile file(object);
  Placement placement(file);
  void* memory = ::mmap(nullptr, placement.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(memory != MAP_FAILED, ErrorKind::kMemory, "[cinn] no memory for {} bytes of code", placement.size);
  memory_ = memory;
  size_ = placement.size;
  try {
    placement.fill(static_cast<char*>(memory));
    for (size_t i = 0; i < file.num_symbols(); ++i) {
      const Elf64_Sym s = file.symbol(i);
      if (s.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(s.st_info) != STT_FUNC) continue;
      bool far = false;
      const std::string name = file.name(s);
      for (size_t k = 0; k < num_kernels; ++k)
        if (name == fmt::format("kernel{}", k)) kernels_[k] = reinterpret_cast<KernelFn>(placement.value(i, &far));
    }
    for (KernelFn k : kernels_)
      if (k == nullptr) bad("a kernel is missing");
    auto* start = static_cast<char*>(memory);
    check(::mprotect(start, placement.code_size, PROT_READ | PROT_EXEC) == 0 &&
              ::mprotect(start + placement.code_size, placement.size - placement.code_size, PROT_READ) == 0,
          ErrorKind::kRuntime, "[cinn] the system lets no code be loaded: {}", std::strerror(errno));
  } catch (...) {
    release();
    throw;
  }
}

LoadedObject::~LoadedObject() { release(); }

void LoadedObject::release() {
  if (memory_) ::munmap(memory_, size_);
  memory_ = nullptr;
}

}  // namespace paddle::cinn
