#include <algorithm>
#include <vector>

#include "pir/printer.h"

namespace paddle::pir {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> r;
  while (!text.empty()) {
    size_t end = text.find('\n');
    r.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return r;
}

// A line without the numbers of its values: numbering shifts below every insertion, which is no change.
std::string plain(std::string_view line) {
  std::string r;
  for (size_t i = 0; i < line.size(); ++i) {
    r += line[i];
    if (line[i] != '%') continue;
    while (i + 1 < line.size() && std::isalnum(static_cast<unsigned char>(line[i + 1]))) ++i;
  }
  return r;
}

}  // namespace

std::string diff(std::string_view before, std::string_view after) {
  auto a = lines_of(before), b = lines_of(after);
  std::vector<std::string> pa, pb;
  for (auto l : a) pa.push_back(plain(l));
  for (auto l : b) pb.push_back(plain(l));
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && pa[head] == pb[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head && pa[a.size() - 1 - tail] == pb[b.size() - 1 - tail]) ++tail;
  size_t n = a.size() - head - tail, m = b.size() - head - tail;
  std::string out;
  auto put = [&](char sign, std::string_view line) { (out += sign) += " " + std::string(line) + "\n"; };
  if (n == 0 && m == 0) return out;
  if (head) put(' ', a[head - 1]);
  if (n * m > (size_t{1} << 24)) {  // too large for a table: all out, all in
    for (size_t i = 0; i < n; ++i) put('-', a[head + i]);
    for (size_t j = 0; j < m; ++j) put('+', b[head + j]);
    return out;
  }
  // Longest common subsequence of the middle, from the end.
  std::vector<uint32_t> table((n + 1) * (m + 1), 0);
  auto at = [&](size_t i, size_t j) -> uint32_t& { return table[i * (m + 1) + j]; };
  for (size_t i = n; i-- > 0;)
    for (size_t j = m; j-- > 0;)
      at(i, j) = pa[head + i] == pb[head + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
  size_t i = 0, j = 0;
  while (i < n || j < m) {
    if (i < n && j < m && pa[head + i] == pb[head + j]) {
      put(' ', b[head + j]);
      ++i, ++j;
    } else if (i < n && (j == m || at(i + 1, j) >= at(i, j + 1))) {
      put('-', a[head + i++]);
    } else {
      put('+', b[head + j++]);
    }
  }
  return out;
}

}  // namespace paddle::pir
