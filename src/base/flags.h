// FLAGS_*: switches from the environment or set_flags. Each is declared once, in flags.cc, with its type, default and
// meaning.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paddle::flags {

using Value = std::variant<bool, int64_t, double, std::string>;

struct Flag {
  std::string name;  // without "FLAGS_"
  Value value;
  Value initial;
  std::string doc;
};

std::vector<Flag> all();
// "FLAGS_use_cinn" or "use_cinn". An unknown name raises ValueError that names the nearest one.
Value get(std::string_view name);
// The value is converted to the flag's type; ValueError if it can't be.
void set(std::string_view name, const Value& value);
bool known(std::string_view name);

bool get_bool(std::string_view name);
int64_t get_int(std::string_view name);
double get_double(std::string_view name);
std::string get_string(std::string_view name);

// Called with every change (and once at registration), so that hot paths read a plain variable.
void on_change(std::string_view name, std::function<void(const Value&)> fn);

}  // namespace paddle::flags
