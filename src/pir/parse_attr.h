// Parsing of types, attributes and locations. Inside of the parser.
#pragma once
#include "pir/attribute.h"
#include "pir/location.h"
#include "pir/reader.h"
#include "pir/type.h"

namespace paddle::pir {

Type parse_type(Reader& in);
Attribute parse_attribute(Reader& in);
AttrMap parse_attributes(Reader& in);  // {name: value, ...}
Location parse_location(Reader& in);   // loc(...)

}  // namespace paddle::pir
