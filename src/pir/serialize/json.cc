#include "pir/serialize/json.h"

#include "pir/serialize/json_words.h"

namespace paddle::pir {

Program program_from_json(std::string_view source, JsonInfo* info) {
  wire::Json root;
  // The parser takes a zero for the end.
  if (size_t zero = source.find('\0'); zero != source.npos) wire::malformed("no valid JSON: byte {} is zero", zero);
  try {
    // Depth is bounded while parsing: what nests deeper than any program is refused before it costs memory.
    auto bounded = [](int depth, wire::Json::parse_event_t, wire::Json&) {
      if (depth > 8 * wire::kMaxDepth) wire::malformed("the JSON is nested too deeply");
      return true;
    };
    root = wire::Json::parse(source, bounded);
  } catch (const wire::Json::exception& e) {
    wire::malformed("no valid JSON: {}", e.what());
  }
  try {
    return wire::read_program(root, info);
  } catch (const wire::Json::exception& e) {
    wire::malformed("{}", e.what());
  }
}

std::string program_to_json(const Program& program, const JsonInfo& info, int indent) {
  try {
    return wire::write_program(program, info).dump(indent);
  } catch (const wire::Json::exception& e) {  // strings that are no UTF-8
    wire::malformed("{}", e.what());
  }
}

}  // namespace paddle::pir
