#include "compile/device_call.h"

#include <mutex>
#include <optional>
#include <unordered_map>

#include "api/call.h"
#include "cinn/group/translate.h"
#include "cinn/jit/device.h"
#include "compile/call_key.h"
#include "compile/decompose.h"
#include "compile/device_copy.h"
#include "compile/host_fallback.h"
#include "device/registry.h"
#include "dispatch/eager.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"
#include "phi/kernels/registry.h"
#include "phi/rules/glue.h"
#include "pir/op_args.h"

namespace paddle::compile {
namespace {

// What a call compiles to: what the kernels read, and the outputs they write.
struct DeviceCall {
  std::shared_ptr<const cinn::DeviceGroup> code;
  struct Input {
    size_t at;
    bool number;  // argument `at`, a float; else tensor `at` of the call, counted in order
  };
  std::vector<Input> inputs;
  struct Output {
    size_t out;
    int item;  // of a list; -1: a tensor
  };
  std::vector<Output> outputs;
  std::string reason;  // why there is no code
};

Tensors tensors_of(const OpCall& c) {
  Tensors out;
  for (const Arg& a : c.args)
    for (const Tensor& t : a.tensors_or_empty())
      if (t.defined()) out.push_back(t);
  return out;
}

// The call's arguments with the program's inputs in place of tensors.
class TracedArgs {
 public:
  TracedArgs(const OpCall& c, dispatch::Trace& trace) : trace_(trace) {
    for (const Arg& a : c.args) {
      if (a.tag() == Arg::Tag::kTensor) {
        list.push_back(Arg(tensors_.emplace_front(input(a.tensor()))));
      } else if (a.tag() == Arg::Tag::kTensors) {
        Tensors items;
        for (const Tensor& t : a.tensors()) items.push_back(t.defined() ? input(t) : t);
        list.push_back(Arg(lists_.emplace_front(std::move(items))));
      } else {
        list.push_back(a);
      }
    }
  }
  std::vector<Arg> list;

 private:
  Tensor input(const Tensor& t) { return trace_.add_input(std::to_string(count_++), t.shape(), t.dtype(), true); }

  dispatch::Trace& trace_;
  size_t count_ = 0;
  std::forward_list<Tensor> tensors_;
  std::forward_list<Tensors> lists_;
};

pir::Program capture(const OpCall& c, std::vector<DeviceCall::Output>& outputs) {
  dispatch::Trace trace("call", pir::Program());
  dispatch::StackScope only(&trace);
  dispatch::GradMode off(false);
  TracedArgs args(c, trace);
  OpCall traced(c.op, args.list);
  dispatch::call(traced);
  Tensors results;
  for (size_t i = 0; i < traced.num_outs(); ++i) {
    if (traced.out(i).defined()) {
      results.push_back(traced.out(i));
      outputs.push_back({i, -1});
    }
    for (size_t k = 0; k < traced.out_list(i).size(); ++k) {
      if (!traced.out_list(i)[k].defined()) continue;
      results.push_back(traced.out_list(i)[k]);
      outputs.push_back({i, static_cast<int>(k)});
    }
  }
  return trace.finish(results, false).program;
}

struct Parts {
  std::vector<pir::Operation*> body;
  std::unordered_map<pir::Value, size_t> inputs;
  std::vector<pir::Value> outputs;
};

Parts parts_of(pir::Program& program) {
  Parts p;
  for (pir::Operation& op : program.block()) {
    if (op.is("pd_op.data")) {
      p.inputs.emplace(op.result(), std::stoul(op.attr("name").as_string()));
    } else if (op.is("builtin.shadow_output")) {
      if (op.attr("output_name").as_string().starts_with("output_")) p.outputs.push_back(op.operand(0));
    } else if (op.num_results() == 1 && op.num_operands() == 0 && pir::known_value(op.result(0)) &&
               !op.result(0).type().is_vector()) {
      continue;  // a number: part of the code of its users
    } else {
      p.body.push_back(&op);
    }
  }
  return p;
}

size_t argument_named(const OpInfo& op, std::string_view name) {
  for (size_t i = 0; i < op.args.size(); ++i)
    if (op.args[i].name == name) return i;
  throw_internal(__FILE__, __LINE__, "no argument of that name");
}

DeviceCall compile_call(const OpCall& c) {
  DeviceCall out;
  try {
    check(!c.op.has(kRandom | kDataDependentShape | kCollective | kHostCopy), ErrorKind::kNotImplemented,
          "its record says that no kernel can be written for it");
    pir::Program program = capture(c, out.outputs);
    Parts parts = parts_of(program);
    const cinn::TranslateOptions options{.loops = true, .numbers_at_run = reads_numbers_at_run(c.op)};
    for (pir::Operation* op : parts.body)
      if (!cinn::translatable(*op, options)) {
        decompose(program, DecomposeWhat::kToFuse);
        parts = parts_of(program);
        break;
      }
    cinn::TranslatedGroup t = cinn::translate(parts.body, parts.outputs, options);
    check(t.symbols.empty(), ErrorKind::kNotImplemented, "a size is symbolic");
    for (pir::Value v : t.inputs) {
      auto given = v ? parts.inputs.find(v) : parts.inputs.end();
      check(!v || given != parts.inputs.end(), ErrorKind::kNotImplemented, "a result is a number known before it runs");
      out.inputs.push_back({v ? given->second : 0, !v});
    }
    for (const auto& n : t.numbers) out.inputs[n.input].at = argument_named(c.op, n.attribute);
    out.code = cinn::compile_for_device(t.group, std::make_shared<cinn::DeviceBatch>(c.place));
  } catch (const Error& e) {
    out.code = nullptr;
    out.reason = e.what();
  }
  return out;
}

const DeviceCall& compiled(const OpCall& c) {
  static std::mutex mutex;
  static auto* calls = new std::unordered_map<std::string, DeviceCall>;
  const std::string key = call_key(c);
  {
    std::lock_guard lock(mutex);
    if (auto it = calls->find(key); it != calls->end()) return it->second;
  }
  DeviceCall made = compile_call(c);
  std::lock_guard lock(mutex);
  return calls->try_emplace(key, std::move(made)).first->second;
}

Tensor dense_at(const Tensor& t, Place place) {
  if (t.place() == place && t.is_contiguous()) return t;
  Tensor out = Tensor::empty(t.shape(), t.dtype(), place);
  kernels::copy_elements(out, t);
  return out;
}

Tensor numbers_at(const std::vector<double>& numbers, Place place) {
  if (numbers.empty()) return {};
  Tensor out = Tensor::empty(Shape{Dim(static_cast<int64_t>(numbers.size()))}, DType::kFloat64, place);
  device::copy(out.data(), place, numbers.data(), Place::cpu(), numbers.size() * sizeof(double));
  return out;
}

// Where output `o` is written: in the tensor that is there already, unless the kernels still read what lies in it.
struct Target {
  Tensor memory;
  Tensor* slot;
};

Target target_of(OpCall& c, const DeviceCall::Output& o, const TensorMeta& meta) {
  Tensor* slot = nullptr;
  if (o.item < 0) {
    slot = &c.out(o.out);
  } else {
    Tensors& list = c.out_list(o.out);
    if (list.size() <= static_cast<size_t>(o.item)) list.resize(static_cast<size_t>(o.item) + 1);
    slot = &list[static_cast<size_t>(o.item)];
  }
  const bool in_place = (c.inplace || c.op.has(kInplaceOnly)) && c.op.outs[o.out].inplace_of >= 0;
  if (slot->defined() && slot->is_contiguous() && !in_place) return {*slot, slot};
  return {Tensor::empty(meta.shape, meta.dtype, c.place), slot};
}

TensorMeta meta_of(OpCall& call, const DeviceCall::Output& o) {
  if (o.item < 0) {
    const Tensor& t = call.out(o.out);
    return t.defined() ? TensorMeta{t.dtype(), t.shape()} : call.meta(o.out);
  }
  const size_t item = static_cast<size_t>(o.item);
  const Tensors& list = call.out_list(o.out);
  if (item < list.size() && list[item].defined()) return {list[item].dtype(), list[item].shape()};
  return call.list_metas.at(item);
}

void run_compiled(OpCall& c, const DeviceCall& call) {
  Tensors all = tensors_of(c), dense;
  std::vector<double> numbers;
  for (const auto& in : call.inputs)
    if (in.number)
      numbers.push_back(c.op.args[in.at].kind == ArgKind::kScalar ? rules::scalar_of(c.args[in.at]).to_double()
                                                                  : c.args[in.at].d());
  Tensor numbers_there = numbers_at(numbers, c.place);
  std::vector<const void*> inputs;
  size_t next_number = 0;
  for (const auto& in : call.inputs) {
    if (in.number) {
      inputs.push_back(numbers_there.data<double>() + next_number++);
      continue;
    }
    dense.push_back(dense_at(all.at(in.at), c.place));
    inputs.push_back(dense.back().data());
  }
  std::vector<Target> targets;
  std::vector<void*> outputs;
  for (size_t k = 0; k < call.outputs.size(); ++k) {
    targets.push_back(target_of(c, call.outputs[k], meta_of(c, call.outputs[k])));
    outputs.push_back(targets.back().memory.data());
  }
  call.code->run(inputs, outputs);
  for (Target& t : targets) {
    if (!t.slot->defined())
      *t.slot = t.memory;
    else if (!t.slot->same(t.memory))
      kernels::copy_elements(*t.slot, t.memory);
  }
}

}  // namespace

void run_on_device(OpCall& c) {
  const DeviceCall& call = compiled(c);
  if (call.code) return run_compiled(c, call);
  if (c.op.decompose && !c.op.has(kInplaceOnly)) return dispatch::run_composition(c);
  run_on_host(c, call.reason);
}

void serve_devices() {
  device::on_register([](uint8_t kind) {
    if (!device::has_compiler(device::table(kind))) return;
    kernels::set_fallback(kind, run_on_device);
    kernels::set_device_copy(kind, copy_strided);
  });
}

namespace {
[[maybe_unused]] const bool served = (serve_devices(), true);
}

}  // namespace paddle::compile
