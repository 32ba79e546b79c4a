#include "spmd/mesh.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "spmd/local_shape.h"

namespace paddle::spmd {
namespace {

TEST(Mesh, CoordinatesAndGroups) {
  ProcessMesh mesh({2, 3}, {5, 4, 3, 2, 1, 0}, {"x", "y"});
  EXPECT_EQ(mesh.coordinate_of(2), (Shape{1, 0}));
  EXPECT_FALSE(mesh.coordinate_of(7));
  EXPECT_EQ(mesh.group_along(4, 0), (std::vector<int64_t>{4, 1}));
  EXPECT_EQ(mesh.group_along(4, 1), (std::vector<int64_t>{5, 4, 3}));
  EXPECT_EQ(mesh.groups_along(0).size(), 3u);
  EXPECT_EQ(mesh.axis_of("y"), 1);
  EXPECT_EQ(ProcessMesh({2}, {0, 1}).dim_names()[0], "d0");
}

TEST(Mesh, BadMeshesAreNamed) {
  auto message = [](auto f) {
    try {
      f();
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(message([] { ProcessMesh({2, 2}, {0, 1, 2}); }).find("holds 4 processes, got 3"), std::string::npos);
  EXPECT_NE(message([] { ProcessMesh({2}, {1, 1}); }).find("1 is given twice"), std::string::npos);
  EXPECT_NE(message([] { normalize({Shard(2)}, ProcessMesh({2}, {0, 1}), 2); }).find("in [-2, 2)"), std::string::npos);
  EXPECT_EQ(normalize({Shard(-1)}, ProcessMesh({2, 1}, {0, 1}), 3), (Placements{Shard(2), Replicate()}));
}

TEST(LocalShape, LastShardsMayBeSmallerOrEmpty) {
  EXPECT_EQ(shard_sizes(7, 3), (std::vector<int64_t>{3, 3, 1}));
  EXPECT_EQ(shard_sizes(5, 4), (std::vector<int64_t>{2, 2, 1, 0}));
  EXPECT_EQ(shard_sizes(0, 2), (std::vector<int64_t>{0, 0}));
  ProcessMesh mesh({2, 2}, {0, 1, 2, 3});
  // 7 over 2: 4 and 3; each over 2: 2, 2 and 2, 1.
  EXPECT_EQ(local_shard({7}, mesh, {Shard(0), Shard(0)}, {1, 1}), (LocalShard{{1}, {6}}));
  EXPECT_EQ(local_shard({7, 5}, mesh, {Shard(1), Shard(0)}, {1, 0}), (LocalShard{{4, 2}, {0, 3}}));
  EXPECT_FALSE(is_even({6}, mesh, {Shard(0), Shard(0)}));
  EXPECT_TRUE(is_even({8}, mesh, {Shard(0), Shard(0)}));
}

}  // namespace
}  // namespace paddle::spmd
