#include "spmd/mesh.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.h"

namespace paddle::spmd {

ProcessMesh::ProcessMesh(Shape shape, std::vector<int64_t> process_ids, std::vector<std::string> dim_names)
    : shape_(std::move(shape)), process_ids_(std::move(process_ids)), dim_names_(std::move(dim_names)) {
  int64_t count = 1;
  for (int64_t n : shape_) {
    check(n > 0, ErrorKind::kValue, "[ProcessMesh] expected positive sizes, got shape [{}]", fmt::join(shape_, ", "));
    if (__builtin_mul_overflow(count, n, &count)) count = INT64_MAX;  // more than any list of ids
  }
  check(count == size() && !shape_.empty(), ErrorKind::kValue,
        "[ProcessMesh] shape [{}] holds {} processes, got {} process ids", fmt::join(shape_, ", "),
        shape_.empty() ? 0 : count, size());
  std::set<int64_t> seen;
  for (int64_t id : process_ids_) {
    check(id >= 0, ErrorKind::kValue, "[ProcessMesh] expected process ids >= 0, got {}", id);
    check(seen.insert(id).second, ErrorKind::kValue, "[ProcessMesh] process id {} is given twice", id);
  }
  if (dim_names_.empty())
    for (int i = 0; i < ndim(); ++i) dim_names_.push_back(fmt::format("d{}", i));
  check(static_cast<int>(dim_names_.size()) == ndim(), ErrorKind::kValue, "[ProcessMesh] expected {} dim_names, got {}",
        ndim(), dim_names_.size());
  std::set<std::string> names(dim_names_.begin(), dim_names_.end());
  check(names.size() == dim_names_.size(), ErrorKind::kValue, "[ProcessMesh] expected distinct dim_names, got [{}]",
        fmt::join(dim_names_, ", "));
}

bool ProcessMesh::contains(int64_t process) const {
  return std::find(process_ids_.begin(), process_ids_.end(), process) != process_ids_.end();
}

int ProcessMesh::axis_of(const std::string& dim_name) const {
  auto it = std::find(dim_names_.begin(), dim_names_.end(), dim_name);
  check(it != dim_names_.end(), ErrorKind::kValue, "[ProcessMesh] no dimension is called '{}'; there are [{}]",
        dim_name, fmt::join(dim_names_, ", "));
  return static_cast<int>(it - dim_names_.begin());
}

Shape ProcessMesh::coordinate_at(int64_t index) const {
  Shape coordinate(shape_.size());
  for (int a = ndim() - 1; a >= 0; --a) {
    coordinate[a] = index % shape_[a];
    index /= shape_[a];
  }
  return coordinate;
}

std::optional<Shape> ProcessMesh::coordinate_of(int64_t process) const {
  auto it = std::find(process_ids_.begin(), process_ids_.end(), process);
  if (it == process_ids_.end()) return std::nullopt;
  return coordinate_at(it - process_ids_.begin());
}

int64_t ProcessMesh::process_at(const Shape& coordinate) const {
  int64_t index = 0;
  for (int a = 0; a < ndim(); ++a) index = index * shape_[a] + coordinate[a];
  return process_ids_.at(index);
}

std::vector<int64_t> ProcessMesh::group_along(int64_t process, int axis) const {
  auto coordinate = coordinate_of(process);
  check(coordinate.has_value(), ErrorKind::kValue, "[ProcessMesh] process {} is not in the mesh {}", process,
        to_string());
  std::vector<int64_t> group;
  for (int64_t i = 0; i < shape_[axis]; ++i) {
    (*coordinate)[axis] = i;
    group.push_back(process_at(*coordinate));
  }
  return group;
}

std::vector<std::vector<int64_t>> ProcessMesh::groups_along(int axis) const {
  std::vector<std::vector<int64_t>> groups;
  for (int64_t i = 0; i < size(); ++i)
    if (coordinate_at(i)[axis] == 0) groups.push_back(group_along(process_ids_[i], axis));
  return groups;
}

std::string ProcessMesh::to_string() const {
  return fmt::format("{{shape: [{}], process_ids: [{}], dim_names: [{}]}}", fmt::join(shape_, ","),
                     fmt::join(process_ids_, ","), fmt::join(dim_names_, ","));
}

}  // namespace paddle::spmd
