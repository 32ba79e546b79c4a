// Location: where in the user's source an operation comes from: file, line, function, and the call that led there.
// Uniqued; one pointer. Every operation has one; `Location::unknown()` is for programs that were read from files.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace paddle::pir {

struct LocationData;

class Location {
 public:
  constexpr Location() : data_(nullptr) {}  // unknown
  static Location unknown() { return {}; }
  // `caller`: the frame that called this one; unknown() where the chain ends.
  static Location at(std::string_view file, int line, std::string_view function = {}, Location caller = {});
  // An operation made from another by a pass: keeps the source, adds the pass's name.
  static Location derived(std::string_view by, Location from);

  explicit operator bool() const { return data_ != nullptr; }
  friend bool operator==(Location a, Location b) { return a.data_ == b.data_; }

  std::string_view file() const;  // of a derived location: of its source
  int line() const;               // 0 if unknown
  std::string_view function() const;
  std::string_view pass() const;  // "" unless derived
  Location caller() const;
  Location source() const;  // what a derived location was made from; else itself

  std::string str() const;    // "model.py:31" or "unknown"
  std::string text() const;   // what the printer writes and the parser reads: loc("model.py":31 in "forward" at ...)
  std::string trace() const;  // one line a frame, innermost first, for error messages

 private:
  explicit Location(const LocationData* data) : data_(data) {}
  const LocationData* data_;
};

}  // namespace paddle::pir
