// Lists as arguments of the typed functions: from a braced list, a vector or a span. They borrow: use them only as the
// type of a parameter.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddle {

template <class T>
class ListArg : public std::span<const T> {
 public:
  ListArg() = default;
  ListArg(std::initializer_list<T> items) : std::span<const T>(items.begin(), items.size()) {}
  ListArg(std::span<const T> items) : std::span<const T>(items) {}
  ListArg(const std::vector<T>& items) : std::span<const T>(items) {}
};
using IntList = ListArg<int64_t>;
using FloatList = ListArg<double>;

}  // namespace paddle
