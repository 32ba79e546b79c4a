#include "pir/location.h"

#include <mutex>
#include <unordered_set>

#include "base/error.h"
#include "pir/text.h"

namespace paddle::pir {

struct LocationData {
  std::string file, function, pass;
  int line = 0;
  const LocationData* next = nullptr;  // the caller; of a derived location the source
  bool operator==(const LocationData&) const = default;
};

namespace {

struct LocationHash {
  size_t operator()(const LocationData& d) const {
    size_t h = std::hash<std::string>()(d.file);
    h = h * 31 + std::hash<std::string>()(d.function);
    h = h * 31 + std::hash<std::string>()(d.pass);
    return (h * 31 + static_cast<size_t>(d.line)) * 31 + std::hash<const void*>()(d.next);
  }
};

// Node-based: addresses of elements stay valid.
const LocationData* intern(LocationData&& data) {
  static auto* mutex = new std::mutex;
  static auto* table = new std::unordered_set<LocationData, LocationHash>;
  std::lock_guard lock(*mutex);
  return &*table->insert(std::move(data)).first;
}

}  // namespace

Location Location::at(std::string_view file, int line, std::string_view function, Location caller) {
  return Location(intern({std::string(file), std::string(function), "", line, caller.data_}));
}

Location Location::derived(std::string_view by, Location from) {
  if (from.pass() == by) return from;
  return Location(intern({"", "", std::string(by), 0, from.source().data_}));
}

Location Location::source() const {
  Location l = *this;
  while (l.data_ && !l.data_->pass.empty()) l.data_ = l.data_->next;
  return l;
}

std::string_view Location::file() const {
  const LocationData* d = source().data_;
  return d ? std::string_view(d->file) : std::string_view();
}
int Location::line() const {
  const LocationData* d = source().data_;
  return d ? d->line : 0;
}
std::string_view Location::function() const {
  const LocationData* d = source().data_;
  return d ? std::string_view(d->function) : std::string_view();
}
std::string_view Location::pass() const { return data_ ? std::string_view(data_->pass) : std::string_view(); }
Location Location::caller() const {
  const LocationData* d = source().data_;
  return d ? Location(d->next) : Location();
}

std::string Location::str() const {
  if (!source()) return "unknown";
  return fmt::format("{}:{}", file(), line());
}

std::string Location::text() const {
  if (!data_) return "loc(unknown)";
  std::string s = "loc(";
  if (!data_->pass.empty()) {
    s += "by " + quote(data_->pass);
    if (!data_->next) return s + ")";
    s += " from ";
  }
  for (Location l = source(); l; l = l.caller()) {
    if (l.data_ != source().data_) s += " at ";
    s += fmt::format("{}:{}", quote(l.data_->file), l.data_->line);
    if (!l.data_->function.empty()) s += " in " + quote(l.data_->function);
  }
  return s + ")";
}

std::string Location::trace() const {
  std::string s;
  for (Location l = source(); l; l = l.caller()) {
    s += fmt::format("  {}:{}", l.file(), l.line());
    if (!l.function().empty()) s += fmt::format(", in {}", l.function());
    s += "\n";
  }
  return s;
}

}  // namespace paddle::pir
