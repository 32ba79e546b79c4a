#include "base/flags.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "base/error.h"

namespace paddle::flags {
namespace {

struct Entry {
  Flag flag;
  std::vector<std::function<void(const Value&)>> listeners;
};

Value parse(const std::string& name, const std::string& text, const Value& like) {
  auto bad = [&](const char* type) {
    fail(ErrorKind::kValue, "[set_flags] expected a {} for FLAGS_{}, got '{}'", type, name, text);
  };
  if (std::holds_alternative<bool>(like)) {
    std::string t = text;
    std::transform(t.begin(), t.end(), t.begin(), [](unsigned char c) { return std::tolower(c); });
    if (t == "1" || t == "true" || t == "on" || t == "yes") return true;
    if (t == "0" || t == "false" || t == "off" || t == "no" || t.empty()) return false;
    bad("bool");
  }
  char* end = nullptr;
  if (std::holds_alternative<int64_t>(like)) {
    int64_t v = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end) bad("integer");
    return v;
  }
  if (std::holds_alternative<double>(like)) {
    double v = std::strtod(text.c_str(), &end);
    if (text.empty() || *end) bad("number");
    return v;
  }
  return text;
}

struct Registry {
  std::mutex mutex;
  std::map<std::string, Entry, std::less<>> entries;

  void add(const char* name, Value initial, const char* doc) {
    Entry e{{name, initial, initial, doc}, {}};
    if (const char* env = std::getenv(("FLAGS_" + std::string(name)).c_str())) e.flag.value = parse(name, env, initial);
    entries.emplace(name, std::move(e));
  }

  Registry() {
    add("prim_all", false, "decompose composite operators in captured programs and in eager calls");
    add("prim_enable_dynamic", false,
        "with prim_all or alone: decompose in captured programs whose sizes are symbolic");
    add("prim_forward", false, "decompose composite operators in captured forward programs");
    add("prim_backward", false, "decompose gradients in captured programs");
    add("use_cinn", true, "compile captured programs; off: captured programs run operator by operator");
    add("recompute_cut", true,
        "compiled training steps keep for the gradient what a minimum cut says, and compute the rest again; off: all "
        "that the gradient reads is kept");
    add("cinn_print", false, "print each compiler step's result when the step changed something");
    add("cinn_compile_budget_ms", int64_t{4000}, "time a fused group may take to compile; dearer ones run by kernels");
    add("cinn_total_budget_ms", int64_t{120000},
        "time all groups of a program may take to compile; what is left then runs by kernels");
    add("compile_cache_dir", std::string(),
        "folder of compiled code that processes share; empty: the user's cache folder; off: none");
    add("compile_cache_mb", int64_t{512}, "size of that folder, beyond which what was used longest ago goes; 0: none");
    add("enable_pir_api", true, "programs are PIR; always on, kept for callers that set it");
    add("enable_pir_in_executor", true, "the executor runs PIR; always on, kept for callers that set it");
    add("check_nan_inf", false, "raise when an operator's output holds NaN or infinity");
    add("check_nan_inf_level", int64_t{0}, "0: check_nan_inf raises; above 0: it prints to stderr and goes on");
    add("cudnn_deterministic", false, "kept for callers that set it: kernels on the CPU always are deterministic");
    add("embedding_deterministic", int64_t{0}, "kept for callers that set it: always so on the CPU");
    add("deterministic", false, "kept for callers that set it: runs on the CPU always repeat bit by bit");
    add("allocator_strategy", std::string("auto_growth"),
        "kept for callers that set it; the allocator always grows as needed");
    add("fraction_of_gpu_memory_to_use", 0.92, "kept for callers that set it");
    add("eager_delete_tensor_gb", 0.0, "kept for callers that set it; memory is freed as soon as it is dead");
    add("use_mkldnn", false, "kept for callers that set it; vendor kernels are chosen per operator");
    add("paddle_num_threads", int64_t{0}, "threads of a parallel loop; 0: as many as the process may use");
    add("forbid_host_fallback", false, "raise where an operator would run on the host for want of a device kernel");
    add("fast_math", true, "compiled code may use maths functions within 4 ulp; off: of f32 by way of f64");
    add("winograd", false, "3x3 convolutions by Winograd in training and eager too");
    add("call_stack_level", int64_t{1}, "2: errors show the C++ trace too");
    add("comm_machine", std::string(),
        "ranks with different texts behave as if on different machines: Gloo instead of shared memory between them");
    add("benchmark", false, "synchronise after each operator, for timing");
    add("max_inplace_grad_add", int64_t{0}, "kept for callers that set it");
    add("log_level", int64_t{0}, "verbosity of the library's own log");
    add("pir_verify_passes", false, "verify programs before the first and after each pass that changed them");
    add("pir_print_passes", false, "print to stderr what each pass over a program changed");
    add("profile", false, "record each instruction's time");
    add("conv_workspace_size_limit", int64_t{512}, "MiB that a convolution may use as scratch");
    for (const char* name : {"use_stride_kernel", "json_format_model", "cpu_deterministic"})
      add(name, true, "kept for callers that set it; always so");
    for (const char* name : {"cudnn_exhaustive_search", "enable_async_trace", "use_stream_safe_cuda_allocator",
                             "set_to_1d", "dataloader_use_file_descriptor", "sdpa_select_math", "npu_jit_compile"})
      add(name, false, "kept for callers that set it");
    for (const char* name : {"selected_gpus", "selected_xpus"})
      add(name, std::string(), "the launcher's choice of devices");
    add("flash_attn_version", int64_t{2}, "kept for callers that set it");
    add("cpu_isa", std::string(), "kernels for base, avx2 or avx512 instead of the best; empty: the best");
  }
};

Registry& registry() {
  static auto* r = new Registry;
  return *r;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t next = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = row[j];
      row[j] = next;
    }
  }
  return row.back();
}

std::string_view strip(std::string_view name) { return name.starts_with("FLAGS_") ? name.substr(6) : name; }

Entry& find(Registry& r, std::string_view name) {
  name = strip(name);
  auto it = r.entries.find(name);
  if (it != r.entries.end()) return it->second;
  auto nearest = std::min_element(r.entries.begin(), r.entries.end(), [&](auto& a, auto& b) {
    return edit_distance(name, a.first) < edit_distance(name, b.first);
  });
  fail(ErrorKind::kValue, "[flags] unknown flag 'FLAGS_{}'; did you mean 'FLAGS_{}'?", name, nearest->first);
}

Value convert(const Flag& f, const Value& v) {
  if (v.index() == f.initial.index()) return v;
  if (const auto* text = std::get_if<std::string>(&v)) return parse(f.name, *text, f.initial);
  double number = std::holds_alternative<bool>(v)      ? std::get<bool>(v)
                  : std::holds_alternative<int64_t>(v) ? static_cast<double>(std::get<int64_t>(v))
                                                       : std::get<double>(v);
  if (std::holds_alternative<bool>(f.initial)) return number != 0;
  if (std::holds_alternative<int64_t>(f.initial)) return static_cast<int64_t>(number);
  if (std::holds_alternative<double>(f.initial)) return number;
  fail(ErrorKind::kValue, "[set_flags] expected a string for FLAGS_{}", f.name);
}

}  // namespace

std::vector<Flag> all() {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  std::vector<Flag> out;
  for (auto& [name, e] : r.entries) out.push_back(e.flag);
  return out;
}

bool known(std::string_view name) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  return r.entries.find(strip(name)) != r.entries.end();
}

Value get(std::string_view name) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  return find(r, name).flag.value;
}

void set(std::string_view name, const Value& value) {
  Registry& r = registry();
  std::vector<std::function<void(const Value&)>> listeners;
  Value converted, before;
  {
    std::lock_guard lock(r.mutex);
    Entry& e = find(r, name);
    before = e.flag.value;
    converted = e.flag.value = convert(e.flag, value);
    listeners = e.listeners;
  }
  // A listener may refuse: then nothing has changed.
  size_t told = 0;
  try {
    for (; told < listeners.size(); ++told) listeners[told](converted);
  } catch (...) {
    {
      std::lock_guard lock(r.mutex);
      find(r, name).flag.value = before;
    }
    while (told > 0) listeners[--told](before);
    throw;
  }
}

bool get_bool(std::string_view name) { return std::get<bool>(get(name)); }
int64_t get_int(std::string_view name) { return std::get<int64_t>(get(name)); }
double get_double(std::string_view name) { return std::get<double>(get(name)); }
std::string get_string(std::string_view name) { return std::get<std::string>(get(name)); }

void on_change(std::string_view name, std::function<void(const Value&)> fn) {
  Registry& r = registry();
  Value now;
  {
    std::lock_guard lock(r.mutex);
    Entry& e = find(r, name);
    now = e.flag.value;
    e.listeners.push_back(fn);
  }
  fn(now);
}

}  // namespace paddle::flags
