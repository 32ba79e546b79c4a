#include "spmd/attr_text.h"

#include <charconv>

#include "base/error.h"

namespace paddle::spmd {
namespace {

template <class T, class F>
std::string join(const std::vector<T>& items, F&& text) {
  std::string s;
  for (size_t i = 0; i < items.size(); ++i) s += (i ? "," : "") + std::string(text(items[i]));
  return s;
}

std::string text_of(const Placement& p) {
  if (p.is_shard()) return "S" + std::to_string(p.dim);
  return p.is_partial() ? "P" + std::string(name_of(p.partial)) : "R";
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  return parts;
}

[[noreturn]] void bad(std::string_view text) {
  fail(ErrorKind::kValue, "expected a mesh and placements such as \"2|0,1|x|S0\", got \"{}\"", text);
}

int64_t number(std::string_view s, std::string_view whole) {
  int64_t v = 0;
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (error != std::errc() || end != s.data() + s.size()) bad(whole);
  return v;
}

Placement placement(std::string_view s, std::string_view whole) {
  if (s == "R") return Replicate();
  if (s.size() > 1 && s[0] == 'S') return Shard(static_cast<int>(number(s.substr(1), whole)));
  if (s.size() > 1 && s[0] == 'P')
    for (int k = 0; k <= static_cast<int>(PartialKind::kAll); ++k)
      if (name_of(static_cast<PartialKind>(k)) == s.substr(1)) return Partial(static_cast<PartialKind>(k));
  bad(whole);
}

}  // namespace

std::string encode(const DistAttr& a) {
  auto number = [](int64_t v) { return std::to_string(v); };
  return join(a.mesh.shape(), number) + "|" + join(a.mesh.process_ids(), number) + "|" +
         join(a.mesh.dim_names(), [](auto& n) { return n; }) + "|" + join(a.placements, text_of);
}

DistAttr decode(std::string_view text) {
  auto parts = split(text, '|');
  if (parts.size() != 4) bad(text);
  Shape shape;
  std::vector<int64_t> ids;
  std::vector<std::string> names;
  DistAttr attr;
  for (auto s : split(parts[0], ',')) shape.push_back(number(s, text));
  for (auto s : split(parts[1], ',')) ids.push_back(number(s, text));
  for (auto s : split(parts[2], ',')) names.emplace_back(s);
  for (auto s : split(parts[3], ',')) attr.placements.push_back(placement(s, text));
  attr.mesh = ProcessMesh(shape, ids, names);
  if (static_cast<int>(attr.placements.size()) != attr.mesh.ndim()) bad(text);
  return attr;
}

}  // namespace paddle::spmd
