#include "cinn/jit/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "base/build_id.h"
#include "base/error.h"

namespace paddle::cinn {
namespace {

std::string library_path() {
  if (const char* path = std::getenv("PADDLE_CODEGEN_LIBRARY")) return path;
  Dl_info here;
  std::string folder;
  if (dladdr(reinterpret_cast<const void*>(&codegen), &here) && here.dli_fname) folder = here.dli_fname;
  size_t slash = folder.rfind('/');
  return (slash == std::string::npos ? std::string() : folder.substr(0, slash + 1)) + "libpaddle_codegen.so";
}

const CodegenTable* open_library() {
  const std::string path = library_path();
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  check(handle != nullptr, ErrorKind::kRuntime, "[cinn] the code generator can't be opened: {}",
        handle ? "" : dlerror());
  auto* entry = reinterpret_cast<const CodegenTable* (*)()>(dlsym(handle, kCodegenEntry));
  check(entry != nullptr, ErrorKind::kRuntime, "[cinn] {} is no code generator", path);
  const CodegenTable* table = entry();
  check(table->version == kCodegenVersion, ErrorKind::kRuntime, "[cinn] {} has version {}, expected {}", path,
        table->version, kCodegenVersion);
  return table;
}

}  // namespace

std::string codegen_identity() {
  static const std::string id = build_id_of_file(library_path());
  if (id.empty()) return {};
  const char* narrower = std::getenv("PADDLE_CODEGEN_VECTOR_BYTES");
  return fmt::format("{} for {} {}", id, cpu_identity(), narrower ? narrower : "");
}

const CodegenTable& codegen() {
  static const CodegenTable* table = open_library();  // an exception leaves it unset: the next call tries again
  return *table;
}

}  // namespace paddle::cinn
