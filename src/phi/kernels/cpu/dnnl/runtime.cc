#include "phi/kernels/cpu/dnnl/runtime.h"

#include <atomic>
#include <utility>

#include "base/error.h"
#include "phi/kernels/cpu/dnnl/filter_blocks.h"
#include "phi/kernels/forget.h"

namespace paddle::kernels {
namespace onednn {

namespace {
std::atomic<uint32_t> times_forgotten{0};
thread_local constinit Forgetting* of_this_thread = nullptr;
}  // namespace

void Forgetting::join() { next_ = std::exchange(of_this_thread, this); }
uint32_t Forgetting::times() { return times_forgotten.load(std::memory_order_relaxed); }

}  // namespace onednn

void forget_primitives() {
  using namespace onednn;
  times_forgotten.fetch_add(1, std::memory_order_relaxed);
  for (Forgetting* c = of_this_thread; c; c = c->next_) c->forget();
  const int capacity = dnnl::get_primitive_cache_capacity();  // oneDNN keeps them by itself, too
  dnnl::set_primitive_cache_capacity(0);
  dnnl::set_primitive_cache_capacity(capacity);
}

namespace onednn {

const dnnl::engine& engine() {
  static auto* e = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *e;
}

dnnl::stream& stream() {
  static thread_local dnnl::stream s(engine());
  return s;
}

dnnl::memory::data_type data_type(DType t) {
  using D = dnnl::memory::data_type;
  switch (t) {
    case DType::kFloat32:
      return D::f32;
    case DType::kBFloat16:
      return D::bf16;
    case DType::kFloat16:
      return D::f16;
    case DType::kInt8:
      return D::s8;
    case DType::kUInt8:
      return D::u8;
    case DType::kInt32:
      return D::s32;
    default:
      return D::undef;
  }
}

bool supported(DType t) { return data_type(t) != dnnl::memory::data_type::undef; }

namespace {
bool multiplies(DType t) {
  dnnl::memory::desc d({16, 16}, data_type(t), dnnl::memory::format_tag::ab);
  try {
    dnnl::matmul::primitive_desc(engine(), d, d, d);
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}
}  // namespace

bool native(DType t) {
  static const bool bf16 = multiplies(DType::kBFloat16), f16 = multiplies(DType::kFloat16);
  return t == DType::kBFloat16 ? bf16 : t == DType::kFloat16 ? f16 : supported(t);
}

dnnl::memory::dims dims_of(const Tensor& t) {
  dnnl::memory::dims out;
  for (Dim d : t.shape()) out.push_back(d.value());
  return out;
}

dnnl::memory::desc plain_desc(const Tensor& t) {
  dnnl::memory::dims strides(t.strides().begin(), t.strides().end());
  return {dims_of(t), data_type(t.dtype()), strides};
}

namespace {
void add_desc(Key& key, const dnnl::memory::desc& d) {
  key.add(static_cast<int64_t>(d.get_data_type())).add(d.get_dims()).add(d.get_padded_dims());
  if (d.get_format_kind() == dnnl::memory::format_kind::blocked)
    key.add(d.get_strides()).add(d.get_inner_blks()).add(d.get_inner_idxs());
  else
    key.add(static_cast<int64_t>(d.get_size()));
}
}  // namespace

void reorder_into(const dnnl::memory& from, const dnnl::memory& to) {
  static thread_local Cache<dnnl::reorder> cache;
  Key key('r');
  add_desc(key, from.get_desc());
  add_desc(key, to.get_desc());
  dnnl::reorder& r = cache.get(key, [&] { return dnnl::reorder(from, to); });
  r.execute(stream(), const_cast<dnnl::memory&>(from), const_cast<dnnl::memory&>(to));
}

dnnl::memory reordered(const dnnl::memory& from, const dnnl::memory::desc& wanted, Ref<Storage>& scratch) {
  if (from.get_desc() == wanted) return from;
  scratch = Storage::allocate(wanted.get_size(), Place::cpu());
  dnnl::memory to(wanted, engine(), scratch->data());
  if (!to_blocks_of_filters(from, to)) reorder_into(from, to);
  return to;
}

}  // namespace onednn
}  // namespace paddle::kernels
