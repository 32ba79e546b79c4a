// Every pair of placements on several meshes, executed on paper.
#include <gtest/gtest.h>

#include "world.h"

namespace paddle::spmd::test {
namespace {

constexpr PartialKind kEvery[] = {PartialKind::kSum,  PartialKind::kAvg, PartialKind::kMax, PartialKind::kMin,
                                  PartialKind::kProd, PartialKind::kAny, PartialKind::kAll};

bool boolean(const Placements& p) {
  return std::any_of(p.begin(), p.end(), [](auto& x) {
    return x.is_partial() && (x.partial == PartialKind::kAny || x.partial == PartialKind::kAll);
  });
}

// The value a tensor of these placements has: what any, all make of numbers is 0 or 1.
Array value(const Shape& shape, const Placements& a, const Placements& b) {
  Array x = numbers(shape, 7);
  if (boolean(a) || boolean(b))
    for (double& e : x.data) e = e > 0;
  return x;
}

void check_pair(const Shape& shape, const ProcessMesh& mesh, const Placements& from, const ProcessMesh& to_mesh,
                const Placements& to) {
  std::mt19937 random(1);
  Array x = value(shape, from, to);
  ReshardPlan plan = plan_reshard(shape, {mesh, from}, {to_mesh, to});
  SCOPED_TRACE(to_string(from) + " -> " + to_string(to) + ": " + plan.to_string());
  Distributed got = execute(distribute(x, mesh, from, random), plan);
  EXPECT_EQ(got.placements, to);
  EXPECT_EQ(got.mesh, to_mesh);
  EXPECT_EQ(gather(got), x);
}

TEST(ReshardPlan, EveryPairOnOneAxis) {
  std::vector<PartialKind> kinds(std::begin(kEvery), std::end(kEvery));
  for (int64_t n : {1, 2, 3, 4})
    for (const Shape& shape : {Shape{5, 4}, Shape{2, 7}, Shape{1, 0}})
      for (auto& from : product(all_placements(2, kinds), 1))
        for (auto& to : product(all_placements(2, kinds), 1)) check_pair(shape, mesh_of({n}), from, mesh_of({n}), to);
}

TEST(ReshardPlan, EveryPairOnTwoAxes) {
  for (const Shape& mesh : {Shape{2, 2}, Shape{2, 3}, Shape{3, 2}})
    for (const Shape& shape : {Shape{7, 5}, Shape{2, 4}})
      for (auto& from : product(all_placements(2, {PartialKind::kSum}), 2))
        for (auto& to : product(all_placements(2, {PartialKind::kSum}), 2))
          check_pair(shape, mesh_of(mesh), from, mesh_of(mesh), to);
}

TEST(ReshardPlan, EveryPairOnThreeAxes) {
  for (auto& from : product(all_placements(2, {PartialKind::kSum}), 3))
    for (auto& to : product(all_placements(2, {PartialKind::kSum}), 3))
      check_pair({11, 3}, mesh_of({2, 2, 2}), from, mesh_of({2, 2, 2}), to);
}

TEST(ReshardPlan, BetweenMeshes) {
  auto between = [](const ProcessMesh& a, const ProcessMesh& b) {
    for (auto& from : product(all_placements(2, {PartialKind::kSum}), a.ndim()))
      for (auto& to : product(all_placements(2, {PartialKind::kSum}), b.ndim())) check_pair({5, 6}, a, from, b, to);
  };
  between(mesh_of({2}), mesh_of({2}, 2));        // pipeline stages
  between(mesh_of({2, 2}), mesh_of({2, 2}, 3));  // overlapping
  between(mesh_of({2, 2}), mesh_of({3}));        // to a part of itself, of another shape
  between(mesh_of({3}), mesh_of({2, 2}));
}

std::string steps(Placements from, Placements to, Shape mesh = {2, 2}) {
  return plan_reshard({8, 8}, {mesh_of(mesh), std::move(from)}, {mesh_of(mesh), std::move(to)}).to_string();
}

TEST(ReshardPlan, TakesTheCheapWay) {
  EXPECT_EQ(steps({Partial()}, {Shard(1)}, {4}), "reduce_scatter(sum, dim=1, axis=0)");
  EXPECT_EQ(steps({Shard(0)}, {Shard(1)}, {4}), "all_to_all(from=0, to=1, axis=0)");
  EXPECT_EQ(steps({Replicate(), Partial()}, {Shard(0), Replicate()}), "slice(dim=0, axis=0); all_reduce(sum, axis=1)");
  EXPECT_EQ(steps({Shard(0), Shard(0)}, {Shard(0), Replicate()}), "all_gather(dim=0, axis=1)");
  EXPECT_EQ(steps({Shard(0), Shard(0)}, {Shard(0), Shard(1)}), "all_to_all(from=0, to=1, axis=1)");
  EXPECT_EQ(steps({Shard(0), Shard(1)}, {Shard(0), Shard(1)}), "");
}

TEST(ReshardPlan, DualSwapsReplicateAndPartial) {
  EXPECT_EQ(dual({Replicate(), Shard(1), Partial()}), (Placements{Partial(), Shard(1), Replicate()}));
}

}  // namespace
}  // namespace paddle::spmd::test
