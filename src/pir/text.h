// Spelling of strings and numbers in the IR's text form, shared by printer and parser.
#pragma once
#include <string>
#include <string_view>

namespace paddle::pir {

std::string quote(std::string_view s);  // "a\"b\n\x01": printable ASCII and UTF-8 stay, the rest is escaped
// Shortest text that reads back to the same bits; nan(0x...) keeps payloads, inf, -inf.
std::string float_text(float v);
std::string float_text(double v);
// Words that begin an attribute or a type: no symbolic size in brackets may look like one.
bool is_reserved(std::string_view word);

}  // namespace paddle::pir
