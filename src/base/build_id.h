// What tells one build from another: the hash that the linker made of everything in a library; and one processor from
// another.
#pragma once
#include <string>

namespace paddle {

// Of the library or program that holds this code, as hexadecimal digits; empty where it was linked without one.
const std::string& build_id();
// The same of the library that holds `code`, a function's address: a plugin's.
std::string build_id_of_code(const void* code);
// Of a library or program on disk, which isn't opened as one; empty where there is none.
std::string build_id_of_file(const std::string& path);

// Tests pretend to be another build. Returns what it was before.
std::string pretend_build_id(std::string id);

// The processor's model and everything that it says it can do: code made for one runs on another with the same text.
const std::string& cpu_identity();

}  // namespace paddle
