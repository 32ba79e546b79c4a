// ProcessMesh: a named, N-dimensional arrangement of processes. Ranks lie in row-major order.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paddle::spmd {

using Shape = std::vector<int64_t>;

class ProcessMesh {
 public:
  ProcessMesh() = default;
  // shape {2, 3} with six distinct process ids >= 0. dim_names may be empty: then "d0", "d1", ...
  // Raises ValueError when the counts disagree, an id repeats or a name repeats.
  ProcessMesh(Shape shape, std::vector<int64_t> process_ids, std::vector<std::string> dim_names = {});

  int ndim() const { return static_cast<int>(shape_.size()); }
  int64_t size() const { return static_cast<int64_t>(process_ids_.size()); }
  bool empty() const { return process_ids_.empty(); }
  const Shape& shape() const { return shape_; }
  int64_t dim_size(int axis) const { return shape_[axis]; }
  const std::vector<int64_t>& process_ids() const { return process_ids_; }
  const std::vector<std::string>& dim_names() const { return dim_names_; }

  bool contains(int64_t process) const;
  int axis_of(const std::string& dim_name) const;             // ValueError if there is no such name
  std::optional<Shape> coordinate_of(int64_t process) const;  // empty if the process is not in the mesh
  Shape coordinate_at(int64_t index) const;                   // of the index-th process in row-major order
  int64_t process_at(const Shape& coordinate) const;
  std::vector<int64_t> group_along(int64_t process, int axis) const;  // the processes that differ from it only in axis
  std::vector<std::vector<int64_t>> groups_along(int axis) const;     // all such groups, in order

  bool operator==(const ProcessMesh&) const = default;
  std::string to_string() const;  // {shape: [2,3], process_ids: [0,1,2,3,4,5], dim_names: [x,y]}

 private:
  Shape shape_;
  std::vector<int64_t> process_ids_;
  std::vector<std::string> dim_names_;
};

}  // namespace paddle::spmd
