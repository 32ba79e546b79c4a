// A program as a Graphviz graph, for people: `dot -Tsvg program.dot`.
#pragma once
#include <string>

#include "pir/program.h"

namespace paddle::pir {
std::string to_dot(const Program& program);
}
