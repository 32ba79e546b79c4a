// The oracle: computes a group node by node, in double, over whole tensors, as a reader would by hand.
#pragma once
#include "cinn/compute/group.h"
#include "scalar_oracle.h"

namespace paddle::cinn::testing {

class Reference {
 public:
  Reference(const Group& group, Sizes symbols) : group_(group), symbols_(std::move(symbols)) {}

  Sizes sizes(const Shape& s) const {
    Sizes out;
    for (const Index& d : s) out.push_back(group_.pool.evaluate(d, symbols_.data()));
    return out;
  }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
    for (const Node& n : group_.nodes) values_.push_back(node(n, inputs));
    std::vector<Tensor> out;
    for (int o : group_.outputs) out.push_back(values_[o]);
    return out;
  }

 private:
  static int64_t at(const Sizes& sizes, const Sizes& index) {
    int64_t p = 0;
    for (size_t i = 0; i < sizes.size(); ++i) p = p * sizes[i] + index[i];
    return p;
  }

  template <class F>
  static void each(const Sizes& sizes, F&& f) {
    Sizes index(sizes.size(), 0);
    for (int64_t n = count(sizes), i = 0; i < n; ++i) {
      f(index, i);
      for (size_t d = sizes.size(); d-- > 0;) {
        if (++index[d] < sizes[d]) break;
        index[d] = 0;
      }
    }
  }

  Tensor node(const Node& n, const std::vector<Tensor>& inputs) {
    const Sizes mine = sizes(n.shape);
    if (n.kind == NodeKind::kInput) return inputs[n.slot];
    Tensor out(count(mine));
    auto operand = [&](size_t k) -> const Tensor& { return values_[n.operands[k]]; };
    auto operand_sizes = [&](size_t k) { return sizes(group_.nodes[n.operands[k]].shape); };
    if (n.kind == NodeKind::kReduce) return reduce(n);
    each(mine, [&](const Sizes& index, int64_t i) {
      switch (n.kind) {
        case NodeKind::kConstant:
          out[i] = n.value;
          break;
        case NodeKind::kIota:
          out[i] = static_cast<double>(index[n.axis]);
          break;
        case NodeKind::kPointwise:
          out[i] = pointwise(n, i);
          break;
        case NodeKind::kCast:
          out[i] = round_to(operand(0)[i], n.dtype);
          break;
        case NodeKind::kReshape:
          out[i] = operand(0)[i];
          break;
        case NodeKind::kBroadcast:
        case NodeKind::kTranspose: {
          Sizes from = operand_sizes(0), source(from.size(), 0);
          for (size_t d = 0; d < n.dims.size(); ++d)
            if (n.dims[d] >= 0) source[n.dims[d]] = index[d];
          out[i] = operand(0)[at(from, source)];
          break;
        }
        case NodeKind::kSlice: {
          Sizes source(index.size());
          for (size_t d = 0; d < index.size(); ++d)
            source[d] = group_.pool.evaluate(n.starts[d], symbols_.data()) +
                        group_.pool.evaluate(n.steps[d], symbols_.data()) * index[d];
          out[i] = operand(0)[at(operand_sizes(0), source)];
          break;
        }
        case NodeKind::kGather: {
          const size_t rank = operand_sizes(1).size();
          Sizes row(index.begin() + n.axis, index.begin() + n.axis + rank),
              source(index.begin(), index.begin() + n.axis);
          source.push_back(static_cast<int64_t>(operand(1)[at(operand_sizes(1), row)]));
          source.insert(source.end(), index.begin() + n.axis + rank, index.end());
          out[i] = operand(0)[at(operand_sizes(0), source)];
          break;
        }
        case NodeKind::kTake: {
          Sizes source = index;
          source[n.axis] = static_cast<int64_t>(operand(1)[i]);
          out[i] = operand(0)[at(operand_sizes(0), source)];
          break;
        }
        case NodeKind::kSize:
          out[i] = static_cast<double>(group_.pool.evaluate(n.starts[0], symbols_.data()));
          break;
        case NodeKind::kConcat: {
          Sizes source = index;
          size_t k = 0;
          while (source[n.axis] >= operand_sizes(k)[n.axis]) source[n.axis] -= operand_sizes(k++)[n.axis];
          out[i] = operand(k)[at(operand_sizes(k), source)];
          break;
        }
        case NodeKind::kPad: {
          Sizes source = index, from = operand_sizes(0);
          bool inside = true;
          for (size_t d = 0; d < index.size(); ++d) {
            source[d] -= group_.pool.evaluate(n.starts[d], symbols_.data());
            inside &= source[d] >= 0 && source[d] < from[d];
          }
          out[i] = inside ? operand(0)[at(from, source)] : n.value;
          break;
        }
        default:
          ADD_FAILURE();
      }
    });
    return out;
  }

  double pointwise(const Node& n, int64_t i) {
    std::vector<double> r;
    for (int x : n.operands) r.push_back(values_[x][i]);
    for (double p : n.params) r.push_back(p);
    for (const auto& f : n.program)
      r.push_back(f.fn == scalar::Fn::constant ? f.imm : apply(f.fn, r[f.a], r[f.b], r[f.c], is_integer(n.compute)));
    return is_float(n.dtype) ? r[n.result_register] : round_to(r[n.result_register], n.dtype);
  }

  Tensor reduce(const Node& n) {
    const Tensor& x = values_[n.operands[0]];
    const Sizes from = sizes(group_.nodes[n.operands[0]].shape), mine = sizes(n.shape);
    double start = 0;
    switch (n.reduce) {
      case ReduceKind::kProd:
      case ReduceKind::kAll:
        start = 1;
        break;
      case ReduceKind::kMax:
        start = -INFINITY;
        break;
      case ReduceKind::kMin:
        start = INFINITY;
        break;
      default:
        break;
    }
    Tensor out(count(mine), start);
    each(from, [&](const Sizes& index, int64_t i) {
      Sizes to;
      for (size_t d = 0; d < index.size(); ++d)
        if (std::find(n.dims.begin(), n.dims.end(), static_cast<int>(d)) == n.dims.end()) to.push_back(index[d]);
      double& o = out[at(mine, to)];
      switch (n.reduce) {
        case ReduceKind::kSum:
          o += x[i];
          break;
        case ReduceKind::kProd:
          o *= x[i];
          break;
        case ReduceKind::kMax:
          o = apply(scalar::Fn::max, o, x[i], 0, false);
          break;
        case ReduceKind::kMin:
          o = apply(scalar::Fn::min, o, x[i], 0, false);
          break;
        case ReduceKind::kAny:
          o = o != 0 || x[i] != 0;
          break;
        case ReduceKind::kAll:
          o = o != 0 && x[i] != 0;
          break;
      }
    });
    return out;
  }

  const Group& group_;
  Sizes symbols_;
  std::vector<Tensor> values_;
};

}  // namespace paddle::cinn::testing
