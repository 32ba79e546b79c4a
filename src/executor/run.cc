// Running instructions.
#include <cstdio>

#include "api/ops.h"
#include "base/error.h"
#include "device/default_place.h"
#include "dispatch/eager.h"
#include "dispatch/state.h"
#include "dispatch/trace.h"
#include "executor/instruction.h"
#include "tensor/element.h"

namespace paddle::executor {
namespace {

void print_plainly(std::span<const std::string> texts, std::span<const Tensor> tensors) {
  size_t at = 0;
  for (const std::string& t : texts) {
    if (t != "\x01") {
      std::fputs(t.c_str(), stdout);
      continue;
    }
    const Tensor& x = tensors[at++];
    std::fputs(("Tensor" + to_string(view(x.shape()))).c_str(), stdout);
  }
  std::fputc('\n', stdout);
}

bool truth(const Tensor& t) {
  if (t.dtype() == DType::kBool && t.numel() == 1) return *t.data<bool>();
  return Scalar(t).to_bool();
}

// Nobody but the frame can see its memory.
bool sole_owner(const Tensor& t) {
  return t.impl()->use_count() == 1 && t->storage && t->storage->use_count() == 1 && t.is_contiguous();
}

constexpr size_t kMaxArgs = 40;

class Runner {
 public:
  explicit Runner(Frame& f) : f_(f) {}

  void run(const Code& code) {
    for (const Instruction& i : code.list) {
      step(i);
      for (const SymbolBinding& b : i.binds)
        if (const Tensor& t = f_.tensors[b.slot]; t.defined()) f_.symbols[b.symbol] = t.size(b.axis);
      for (uint32_t s : i.frees) f_.tensors[s] = Tensor();
      for (uint32_t s : i.list_frees) f_.lists[s].clear();
    }
  }

 private:
  Tensor& tensor(const Instruction& i, size_t k) { return f_.tensors[i.operands[k]]; }
  Tensors& list(const Instruction& i, size_t k) { return f_.lists[i.operands[k]]; }
  Tensor& result(const Instruction& i, size_t k = 0) { return f_.tensors[i.results[k]]; }
  Tensors& list_result(const Instruction& i, size_t k = 0) { return f_.lists[i.results[k]]; }

  void step(const Instruction& i) {
    switch (i.kind) {
      case Kind::kKernel:
        return kernel(i);
      case Kind::kGroup:
        return group(i);
      case Kind::kCombine:
        return combine(i);
      case Kind::kSplit: {
        Tensors& items = list(i, 0);
        check(items.size() == i.results.size(), ErrorKind::kRuntime, "[split] expected a list of {} items, got {}",
              i.results.size(), items.size());
        for (size_t k = 0; k < items.size(); ++k)
          if (i.results[k] != kNone) result(i, k) = items[k];
        return;
      }
      case Kind::kListItem:
        result(i) = list(i, 0).at(static_cast<size_t>(i.number));
        return;
      case Kind::kAlias:
        result(i) = tensor(i, 0);
        return;
      case Kind::kConstant:
        result(i) = i.constant;
        return;
      case Kind::kIf:
        return branch(i);
      case Kind::kWhile:
        return loop(i);
      case Kind::kArrayCreate:
        return combine(i);
      case Kind::kArrayWrite:
        return array_write(i);
      case Kind::kArrayRead:
        result(i) = list(i, 0)[index(i, list(i, 0).size())];
        return;
      case Kind::kArrayLength: {
        Tensor n = Tensor::empty({}, DType::kInt64);
        *n.data<int64_t>() = static_cast<int64_t>(list(i, 0).size());
        result(i) = n;
        return;
      }
      case Kind::kArrayPop: {
        Tensors items = list(i, 0);
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(index(i, items.size())));
        list_result(i) = std::move(items);
        return;
      }
      case Kind::kArrayStack:
        result(i) = ops::stack(list(i, 0), i.number);
        return;
      case Kind::kArrayConcat:
        result(i) = ops::concat(list(i, 0), Scalar(i.number));
        return;
      case Kind::kStackCreate:
        f_.stacks[i.results[0]].clear();
        return;
      case Kind::kPush:
        return push(i);
      case Kind::kPop:
        return pop(i);
      case Kind::kHasElements: {
        Tensor t = Tensor::empty({1}, DType::kBool);
        *t.data<bool>() = !f_.stacks[i.operands[0]].empty();
        result(i) = t;
        return;
      }
      case Kind::kAssert:
        return assertion(i);
      case Kind::kPrint: {
        Tensors shown;
        for (size_t k = 0; k < i.operands.size(); ++k) shown.push_back(tensor(i, k));
        return print_hook(i.texts, shown);
      }
    }
  }

  bool operand_is_list(const Instruction& i, size_t k) const {
    for (const Patch& p : i.patches)
      if (p.arg == k) return true;
    return false;
  }

  void combine(const Instruction& i) {
    Tensors items;
    items.reserve(i.operands.size());
    for (uint32_t s : i.operands) items.push_back(s == kNone ? Tensor() : f_.tensors[s]);
    list_result(i) = std::move(items);
  }

  size_t index(const Instruction& i, size_t size) {
    int64_t k = Scalar(tensor(i, 1)).to_int();
    if (k < 0) k += static_cast<int64_t>(size);
    check(k >= 0 && k < static_cast<int64_t>(size), ErrorKind::kIndex, "list index {} out of range for {} items", k,
          size);
    return static_cast<size_t>(k);
  }

  void array_write(const Instruction& i) {
    int64_t k = Scalar(tensor(i, 1)).to_int();
    Tensors items = list(i, 0);
    if (k < 0) k += static_cast<int64_t>(items.size());
    check(k >= 0 && k <= static_cast<int64_t>(items.size()), ErrorKind::kIndex,
          "list assignment index {} out of range for {} items", k, items.size());
    if (k == static_cast<int64_t>(items.size()))
      items.push_back(tensor(i, 2));
    else
      items[static_cast<size_t>(k)] = tensor(i, 2);
    list_result(i) = std::move(items);
  }

  void push(const Instruction& i) {
    std::vector<OutSlot> values;
    for (size_t k = 1; k < i.operands.size(); ++k) {
      OutSlot s;
      if (operand_is_list(i, k))
        s.list = list(i, k);
      else
        s.tensor = tensor(i, k);
      values.push_back(std::move(s));
    }
    f_.stacks[i.operands[0]].push_back(std::move(values));
  }
  void pop(const Instruction& i) {
    auto& stack = f_.stacks[i.operands[0]];
    PD_INVARIANT(!stack.empty());
    for (size_t k = 0; k < i.results.size(); ++k) {
      if (i.results[k] == kNone) continue;
      if (i.result_lists[k])
        list_result(i, k) = std::move(stack.back()[k].list);
      else
        result(i, k) = std::move(stack.back()[k].tensor);
    }
    stack.pop_back();
  }

  void assertion(const Instruction& i) {
    const Tensor& t = tensor(i, 0);
    for (int64_t k = 0, n = t.numel(); k < n; ++k)
      if (read_element(t, k) == 0.0) throw AssertionFailed(ErrorKind::kRuntime, i.text);
  }

  void bind(const std::vector<SymbolBinding>& binds) {
    for (const SymbolBinding& b : binds)
      if (const Tensor& t = f_.tensors[b.slot]; t.defined()) f_.symbols[b.symbol] = t.size(b.axis);
  }

  // ---- regions
  void take_yields(const Code& c, std::vector<OutSlot>& out) {
    out.resize(c.yields.size());
    for (size_t k = 0; k < c.yields.size(); ++k) {
      out[k] = OutSlot();
      if (c.yields[k] == kNone) continue;
      if (c.yield_is_list[k])
        out[k].list = f_.lists[c.yields[k]];
      else
        out[k].tensor = f_.tensors[c.yields[k]];
    }
  }
  void put(const std::vector<uint32_t>& slots, const std::vector<uint8_t>& lists, std::vector<OutSlot>& from,
           size_t first) {
    for (size_t k = 0; k < slots.size(); ++k) {
      if (slots[k] == kNone) continue;
      if (lists[k])
        f_.lists[slots[k]] = std::move(from[first + k].list);
      else
        f_.tensors[slots[k]] = std::move(from[first + k].tensor);
    }
  }

  void branch(const Instruction& i) {
    const Code& c = truth(tensor(i, 0)) ? *i.body : *i.otherwise;
    run(c);
    std::vector<OutSlot> values;
    take_yields(c, values);
    put(i.results, i.result_lists, values, 0);
  }

  void loop(const Instruction& i) {
    const Code& c = *i.body;
    std::vector<uint8_t> lists(c.arg_is_list.begin(), c.arg_is_list.end());
    bool go = truth(tensor(i, 0));
    std::vector<OutSlot> values(i.operands.size());
    for (size_t k = 1; k < i.operands.size(); ++k) {
      if (i.operands[k] == kNone) continue;
      if (lists[k - 1])
        values[k].list = f_.lists[i.operands[k]];
      else
        values[k].tensor = f_.tensors[i.operands[k]];
    }
    while (go) {
      put(c.args, lists, values, 1);
      bind(c.arg_binds);
      run(c);
      take_yields(c, values);
      go = truth(values[0].tensor);
    }
    put(i.results, i.result_lists, values, 1);
  }

  // ---- groups
  void group(const Instruction& i) {
    const void* inputs[kMaxArgs];
    void* outputs[kMaxArgs];
    Tensors copies;
    PD_INVARIANT(i.operands.size() <= kMaxArgs && i.results.size() <= kMaxArgs);
    for (size_t k = 0; k < i.operands.size(); ++k) {
      const Tensor* t = &f_.tensors[i.operands[k]];
      if (!t->is_contiguous()) {
        Tensor dense = Tensor::empty(t->shape(), t->dtype(), t->place());
        dispatch::copy_into(dense, *t);
        copies.push_back(std::move(dense));
        if (copies.capacity() < kMaxArgs) copies.reserve(kMaxArgs);
        inputs[k] = copies.back().data();
        continue;
      }
      inputs[k] = t->data();
    }
    Tensors made;
    for (size_t k = 0; k < i.results.size(); ++k) {
      Shape shape;
      if (i.static_metas)
        shape = i.metas[k].shape;
      else
        for (Dim d : i.group_shapes[k]) shape.push_back(Dim(f_.value(d)));
      made.push_back(Tensor::empty(shape, i.group_dtypes[k], Place::cpu()));
      outputs[k] = made.back().data();
    }
    int64_t sizes[kMaxArgs];
    size_t n = i.group.symbols.size();
    PD_INVARIANT(n <= kMaxArgs);
    for (size_t k = 0; k < n; ++k) sizes[k] = f_.value(i.group.symbols[k]);
    i.group.code->run({inputs, i.operands.size()}, {outputs, i.results.size()}, {sizes, n});
    for (size_t k = 0; k < i.results.size(); ++k)
      if (i.results[k] != kNone) result(i, k) = std::move(made[k]);
  }

  // ---- operators
  void kernel(const Instruction& i) {
    Arg args[kMaxArgs];
    size_t n = i.args.size();
    std::copy(i.args.begin(), i.args.end(), args);
    OpCall c(*i.op, std::span<Arg>(args, n));
    for (const Patch& p : i.patches) patch(p, args[p.arg], i, c);
    ShardScope shard(i.shard.get());
    if (i.random) {
      c.key = f_.keys->next();
      c.key_drawn = true;
    }
    if (i.static_metas) {
      c.first_meta = i.metas.empty() ? TensorMeta{} : i.metas[0];
      for (size_t k = 1; k < i.metas.size(); ++k) c.meta(k) = i.metas[k];
      for (const auto& l : i.list_metas)
        if (!l.empty()) c.list_metas = l;
      c.metas_ready = true;
      c.place = place_of(i);
    } else {
      dispatch::resolve_arguments(c);
      dispatch::infer(c);
    }
    if (!i.targets.empty()) protect(i, args);
    if (i.reuse >= 0) {
      Tensor& t = f_.tensors[i.patches[static_cast<size_t>(i.reuse)].slot];
      if (sole_owner(t) && t.shape() == c.first_meta.shape) {
        c.out0.tensor = t;
        i.kernel(c);
        result(i) = std::move(c.out0.tensor);
        return;
      }
    }
    dispatch::run_kernel(c);
    // Programs of the official release may have surplus results that nobody uses (batch_norm's reserve space).
    for (size_t k = 0; k < std::min(i.results.size(), c.num_outs()); ++k) {
      if (i.results[k] == kNone) continue;
      OutSlot& out = c.out_slot(k);
      if (i.result_lists[k])
        f_.lists[i.results[k]] = std::move(out.list);
      else
        f_.tensors[i.results[k]] = std::move(out.tensor);
    }
  }

  Place place_of(const Instruction& i) const {
    for (const Patch& p : i.patches)
      if (p.kind == Patch::kTensor) return f_.tensors[p.slot].place();
    return device::default_place();
  }

  void patch(const Patch& p, Arg& a, const Instruction& i, OpCall& c) {
    switch (p.kind) {
      case Patch::kTensor:
        a = Arg(f_.tensors[p.slot]);
        return;
      case Patch::kTensors:
        a = p.one ? Arg(std::span<const Tensor>(&f_.tensors[p.slot], 1)) : Arg(f_.lists[p.slot]);
        return;
      case Patch::kScalar:
        a = Arg(c.kept_scalars.emplace_front(f_.tensors[p.slot]));
        return;
      case Patch::kWholeInts:
        a = Arg(c.kept_ints.emplace_front(Ints(f_.tensors[p.slot])));
        return;
      case Patch::kListInts: {
        Shape zeros(f_.lists[p.slot].size(), Dim(0));
        a = Arg(c.kept_ints.emplace_front(view(zeros), f_.lists[p.slot]));
        return;
      }
      case Patch::kSymbolicInts: {
        Shape values;
        for (Dim d : i.args[p.arg].ints().values()) values.push_back(Dim(f_.value(d)));
        a = Arg(c.kept_ints.emplace_front(values));
        return;
      }
      case Patch::kSymbolicScalar:
        a = Arg(c.kept_scalars.emplace_front(f_.value(i.args[p.arg].scalar().dim())));
        return;
    }
  }

  // Arguments that the operator overwrites: copies, unless the memory may be given up.
  void protect(const Instruction& i, Arg* args) {
    for (const Instruction::Target& t : i.targets) {
      if (t.in_place) continue;
      Arg& a = args[t.arg];
      if (a.tag() == Arg::Tag::kTensor) {
        copies_.push_back(Tensors{copy_of(a.tensor())});
        a = Arg(copies_.back()[0]);
      } else if (a.tag() == Arg::Tag::kTensors) {
        Tensors list;
        for (const Tensor& x : a.tensors()) list.push_back(x.defined() ? copy_of(x) : x);
        copies_.push_back(std::move(list));
        a = Arg(copies_.back());
      }
    }
  }
  static Tensor copy_of(const Tensor& t) {
    Tensor c = Tensor::empty(t.shape(), t.dtype(), t.place());
    dispatch::copy_into(c, t);
    return c;
  }

  Frame& f_;
  struct Copies {
    std::forward_list<Tensors> list;
    void push_back(Tensors t) { list.push_front(std::move(t)); }
    Tensors& back() { return list.front(); }
  } copies_;
};

}  // namespace

void (*print_hook)(std::span<const std::string> texts, std::span<const Tensor> tensors) = print_plainly;

void run_code(const Code& code, Frame& frame) { Runner(frame).run(code); }

std::vector<Tensor> Executable::run(std::span<const Tensor> inputs, std::span<const Tensor> parameters,
                                    Generator* keys) const {
  check(inputs.size() == input_slots_.size(), ErrorKind::kValue, "the program expects {} inputs, got {}",
        input_slots_.size(), inputs.size());
  std::unique_ptr<Frame> frame;
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      frame = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!frame) {
    frame = std::make_unique<Frame>();
    frame->tensors.resize(num_slots_);
    frame->lists.resize(num_lists_);
    frame->stacks.resize(num_lists_);
    frame->symbols.resize(symbol_index_.size());
    frame->symbol_index = &symbol_index_;
  }
  frame->keys = keys ? keys : &generator();
  for (size_t i = 0; i < inputs.size(); ++i) frame->tensors[input_slots_[i]] = inputs[i];
  for (size_t i = 0; i < parameter_slots_.size(); ++i)
    frame->tensors[parameter_slots_[i]] = i < parameters.size() ? parameters[i] : parameters_[i];
  for (const InputSymbol& s : input_symbols_) frame->symbols[s.symbol] = inputs[s.input].size(s.axis);
  std::vector<Tensor> out;
  {
    dispatch::StackScope alone;
    dispatch::GradMode off(false);
    // A frame whose run failed is dropped with what it holds.
    run_code(*code_, *frame);
    for (uint32_t s : result_slots_) out.push_back(frame->tensors[s]);
  }
  for (Tensor& t : frame->tensors) t = Tensor();
  for (Tensors& l : frame->lists) l.clear();
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(frame));
  return out;
}

}  // namespace paddle::executor
