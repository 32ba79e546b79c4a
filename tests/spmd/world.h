// Ranks on paper: small arrays, distributed over a mesh, and reshard plans executed on all ranks at once. Values are
// whole numbers, so sums in any order are exact.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "spmd/reshard_plan.h"

namespace paddle::spmd::test {

struct Array {
  Shape shape;
  std::vector<double> data;

  Array() = default;
  explicit Array(Shape s, double fill = 0) : shape(std::move(s)), data(count(shape), fill) {}
  static int64_t count(const Shape& s) {
    int64_t n = 1;
    for (int64_t d : s) n *= d;
    return n;
  }
  int64_t offset(const Shape& at) const {
    int64_t o = 0;
    for (size_t d = 0; d < shape.size(); ++d) o = o * shape[d] + at[d];
    return o;
  }
  double& operator[](const Shape& at) { return data[offset(at)]; }
  double operator[](const Shape& at) const { return data[offset(at)]; }
  bool operator==(const Array&) const = default;
};

// f(index) for every index of a shape, in row-major order.
inline void each(const Shape& shape, const std::function<void(const Shape&)>& f) {
  Shape at(shape.size(), 0);
  for (int64_t n = Array::count(shape); n > 0; --n) {
    f(at);
    for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
      if (++at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
}

inline Shape plus(Shape a, const Shape& b) {
  for (size_t d = 0; d < a.size(); ++d) a[d] += b[d];
  return a;
}

inline Array cut(const Array& a, const Shape& offset, const Shape& shape) {
  Array part(shape);
  each(shape, [&](const Shape& at) { part[at] = a[plus(at, offset)]; });
  return part;
}

inline void paste(Array& into, const Shape& offset, const Array& part) {
  each(part.shape, [&](const Shape& at) { into[plus(at, offset)] = part[at]; });
}

inline double combine(PartialKind kind, double a, double b) {
  switch (kind) {
    case PartialKind::kSum:
    case PartialKind::kAvg:
      return a + b;
    case PartialKind::kMax:
      return std::max(a, b);
    case PartialKind::kMin:
      return std::min(a, b);
    case PartialKind::kProd:
      return a * b;
    case PartialKind::kAny:
      return a != 0 || b != 0;
    case PartialKind::kAll:
      return a != 0 && b != 0;
  }
  return 0;
}

inline Array reduce(PartialKind kind, const std::vector<Array>& parts) {
  Array r = parts.at(0);
  for (size_t i = 1; i < parts.size(); ++i)
    for (size_t e = 0; e < r.data.size(); ++e) r.data[e] = combine(kind, r.data[e], parts[i].data.at(e));
  if (kind == PartialKind::kAvg)
    for (double& x : r.data) x /= static_cast<double>(parts.size());
  return r;
}

// A distributed array: what each rank (in the mesh's order) holds.
struct Distributed {
  Shape shape;
  ProcessMesh mesh;
  Placements placements;
  std::vector<Array> local;
};

// Splits a replicated value into n parts of a kind at random.
inline std::vector<Array> part(const Array& a, PartialKind kind, int64_t n, std::mt19937& random) {
  std::vector<Array> parts(n, a);
  std::uniform_int_distribution<int> number(-3, 3), who(0, static_cast<int>(n) - 1);
  for (size_t e = 0; e < a.data.size(); ++e) {
    int keeper = who(random);
    double rest = kind == PartialKind::kAvg ? a.data[e] * static_cast<double>(n) : a.data[e];
    for (int i = 0; i < n; ++i) {
      double& x = parts[i].data[e];
      if (i == keeper) continue;
      double r = number(random);
      if (kind == PartialKind::kSum || kind == PartialKind::kAvg) x = r, rest -= r;
      if (kind == PartialKind::kMax) x -= std::abs(r);
      if (kind == PartialKind::kMin) x += std::abs(r);
      if (kind == PartialKind::kProd) x = 1;
      if (kind == PartialKind::kAny) x = a.data[e] != 0 ? r > 0 : 0;
      if (kind == PartialKind::kAll) x = a.data[e] != 0 ? 1 : r > 0;
    }
    parts[keeper].data[e] = rest;
  }
  return parts;
}

inline Distributed distribute(const Array& a, const ProcessMesh& mesh, const Placements& placements,
                              std::mt19937& random) {
  Distributed d{a.shape, mesh, placements, {}};
  // Partial first (of the whole), then the shard of each part.
  std::vector<Array> whole(mesh.size(), a);
  for (int axis = mesh.ndim() - 1; axis >= 0; --axis) {
    if (!placements[axis].is_partial()) continue;
    std::vector<Array> next = whole;
    unsigned seed = static_cast<unsigned>(random());
    for (auto& group : mesh.groups_along(axis)) {
      auto place = [&](int64_t id) {
        return std::find(mesh.process_ids().begin(), mesh.process_ids().end(), id) - mesh.process_ids().begin();
      };
      std::mt19937 alike(seed);  // ranks that differ only along a replicated axis must hold the same parts
      auto parts = part(whole[place(group[0])], placements[axis].partial, static_cast<int64_t>(group.size()), alike);
      for (size_t i = 0; i < group.size(); ++i) next[place(group[i])] = parts[i];
    }
    whole = next;
  }
  for (int64_t r = 0; r < mesh.size(); ++r) {
    LocalShard s = local_shard(a.shape, mesh, placements, mesh.coordinate_at(r));
    d.local.push_back(cut(whole[r], s.offset, s.shape));
  }
  return d;
}

inline std::vector<Array> along(const Distributed& d, const Shape& coordinate, int axis) {
  std::vector<Array> parts;
  Shape c = coordinate;
  for (c[axis] = 0; c[axis] < d.mesh.dim_size(axis); ++c[axis]) {
    int64_t index = 0;
    for (int a = 0; a < d.mesh.ndim(); ++a) index = index * d.mesh.dim_size(a) + c[a];
    parts.push_back(d.local[index]);
  }
  return parts;
}

inline Array concat(const std::vector<Array>& parts, int dim) {
  Shape shape = parts[0].shape;
  shape[dim] = 0;
  for (auto& p : parts) shape[dim] += p.shape[dim];
  Array r(shape);
  Shape offset(shape.size(), 0);
  for (auto& p : parts) {
    paste(r, offset, p);
    offset[dim] += p.shape[dim];
  }
  return r;
}

inline Array own_part(const Array& a, int dim, int64_t parts, int64_t index) {
  Range r = shard_range(a.shape[dim], parts, index);
  Shape offset(a.shape.size(), 0), shape = a.shape;
  offset[dim] = r.offset;
  shape[dim] = r.size;
  return cut(a, offset, shape);
}

inline Array neutral(const Array& a, PartialKind kind, int64_t index) {
  if (index == 0 || replicate_is_partial(kind)) return a;
  return Array(a.shape, neutral_element(kind));
}

inline Array after_step(const Distributed& d, const ReshardStep& step, int64_t rank) {
  Shape at = d.mesh.coordinate_at(rank);
  int64_t n = d.mesh.dim_size(step.mesh_axis), index = at[step.mesh_axis];
  switch (step.op) {
    case ReshardStep::kSlice:
      return own_part(d.local[rank], step.dim, n, index);
    case ReshardStep::kToPartial:
      return neutral(d.local[rank], step.kind, index);
    case ReshardStep::kAllGather:
      return concat(along(d, at, step.mesh_axis), step.dim);
    case ReshardStep::kAllReduce:
      return reduce(step.kind, along(d, at, step.mesh_axis));
    case ReshardStep::kReduceScatter:
      return own_part(reduce(step.kind, along(d, at, step.mesh_axis)), step.dim, n, index);
    case ReshardStep::kAllToAll: {
      std::vector<Array> mine;
      for (const Array& a : along(d, at, step.mesh_axis)) mine.push_back(own_part(a, step.dim, n, index));
      return concat(mine, step.from_dim);
    }
    case ReshardStep::kMove:
      break;
  }
  return {};
}

inline Distributed move(const Distributed& d, const ReshardStep& step, const ProcessMesh& to) {
  Distributed next{d.shape, to, step.after, std::vector<Array>(to.size())};
  auto place = [](const ProcessMesh& m, int64_t id) {
    return std::find(m.process_ids().begin(), m.process_ids().end(), id) - m.process_ids().begin();
  };
  for (auto& p : step.pairs) next.local.at(place(to, p.to)) = d.local.at(place(d.mesh, p.from));
  return next;
}

inline Distributed execute(Distributed d, const ReshardPlan& plan) {
  for (const ReshardStep& step : plan.steps) {
    if (d.placements != step.before) throw std::logic_error("a step starts from other placements: " + plan.to_string());
    if (step.op == ReshardStep::kMove) {
      d = move(d, step, plan.to_mesh);
      continue;
    }
    Distributed next{d.shape, d.mesh, step.after, {}};
    for (int64_t r = 0; r < d.mesh.size(); ++r) next.local.push_back(after_step(d, step, r));
    d = std::move(next);
  }
  return d;
}

inline Distributed reshard(const Distributed& d, const Placements& to) {
  return execute(d, plan_reshard(d.shape, {d.mesh, d.placements}, {d.mesh, to}));
}

// The global value, checking that every rank has the same.
inline Array gather(const Distributed& d) {
  Array whole(d.shape);
  for (int axis = 0; axis < d.mesh.ndim(); ++axis)
    for (int64_t r = 0; r < d.mesh.size() && d.placements[axis].is_replicate(); ++r)
      if (along(d, d.mesh.coordinate_at(r), axis)[0] != d.local[r]) throw std::logic_error("replicas differ");
  Distributed now = d;
  for (int axis = d.mesh.ndim() - 1; axis >= 0; --axis) {
    if (!now.placements[axis].is_partial()) continue;
    Distributed next = now;
    for (int64_t r = 0; r < d.mesh.size(); ++r)
      next.local[r] = reduce(now.placements[axis].partial, along(now, d.mesh.coordinate_at(r), axis));
    next.placements[axis] = Replicate();
    now = next;
  }
  for (int64_t r = 0; r < d.mesh.size(); ++r) {
    LocalShard s = local_shard(d.shape, d.mesh, now.placements, d.mesh.coordinate_at(r));
    if (s.shape != now.local[r].shape) throw std::logic_error("a rank holds a shard of the wrong shape");
    paste(whole, s.offset, now.local[r]);
  }
  for (int64_t r = 0; r < d.mesh.size(); ++r) {
    LocalShard s = local_shard(d.shape, d.mesh, now.placements, d.mesh.coordinate_at(r));
    if (cut(whole, s.offset, s.shape) != now.local[r]) throw std::logic_error("ranks that should agree do not");
  }
  return whole;
}

// Every placement that a tensor of `rank` dimensions can have along one axis.
inline Placements all_placements(int rank, std::vector<PartialKind> kinds) {
  Placements all{Replicate()};
  for (int d = 0; d < rank; ++d) all.push_back(Shard(d));
  for (PartialKind k : kinds) all.push_back(Partial(k));
  return all;
}

inline std::vector<Placements> product(const Placements& one, int axes) {
  std::vector<Placements> all{{}};
  for (int a = 0; a < axes; ++a) {
    std::vector<Placements> next;
    for (auto& prefix : all)
      for (auto& p : one) {
        next.push_back(prefix);
        next.back().push_back(p);
      }
    all = next;
  }
  return all;
}

inline ProcessMesh mesh_of(Shape shape, int64_t first = 0) {
  std::vector<int64_t> ids(Array::count(shape));
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = first + static_cast<int64_t>(i);
  return {std::move(shape), ids};
}

inline Array numbers(const Shape& shape, int seed) {
  Array a(shape);
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> number(-4, 4);
  for (double& x : a.data) x = number(random);
  return a;
}

}  // namespace paddle::spmd::test
