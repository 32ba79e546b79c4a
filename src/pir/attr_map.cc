// Names and the attributes of an operation by name.
#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "pir/attribute.h"

namespace paddle::pir {

Name::Name(std::string_view text) {
  static auto* mutex = new std::mutex;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  static auto* table = new std::unordered_set<std::string, Hash, std::equal_to<>>;
  std::lock_guard lock(*mutex);
  auto it = table->find(text);
  text_ = it != table->end() ? &*it : &*table->emplace(text).first;
}

AttrMap::AttrMap(NamedAttrs items) {
  items_.reserve(items.size());
  for (NamedAttr& a : items) set(a.name, std::move(a.value));
}

const Attribute* AttrMap::find(std::string_view name) const {
  for (const NamedAttr& a : items_)
    if (a.name.str() == name) return &a.value;
  return nullptr;
}

Attribute AttrMap::get(std::string_view name) const {
  const Attribute* a = find(name);
  return a ? *a : Attribute();
}

void AttrMap::set(Name name, Attribute value) {
  auto it = std::lower_bound(items_.begin(), items_.end(), name.str(),
                             [](const NamedAttr& a, std::string_view n) { return a.name.str() < n; });
  if (it != items_.end() && it->name == name)
    it->value = std::move(value);
  else
    items_.insert(it, NamedAttr{name, std::move(value)});
}

bool AttrMap::erase(std::string_view name) {
  return std::erase_if(items_, [&](const NamedAttr& a) { return a.name.str() == name; }) > 0;
}

bool AttrMap::operator==(const AttrMap& o) const {
  return std::equal(items_.begin(), items_.end(), o.items_.begin(), o.items_.end(),
                    [](const NamedAttr& a, const NamedAttr& b) { return a.name == b.name && a.value == b.value; });
}

}  // namespace paddle::pir
