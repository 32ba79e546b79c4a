// Parameters as Paddle saves them beside a program (`.pdiparams`): one tensor after another in the order of their
// sorted names, which the file doesn't hold. Each tensor: version (u32, 0), levels of detail (u64, 0), version (u32,
// 0), length of the description (i32), the description (a protobuf message: dtype and dims), the elements.
#pragma once
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "pir/program.h"

namespace paddle::pir {

// Reads all tensors of a file's bytes. ValueError for cut or damaged bytes, with the number of the tensor and the
// offset.
std::vector<Tensor> read_tensors(std::span<const std::byte> bytes);
void write_tensor(std::ostream& out, const Tensor& tensor);  // RuntimeError if the stream fails

// Of their elements, dtypes and shapes, in order: what a program's file may say of its parameters (JsonInfo).
std::string digest_of_tensors(std::span<const Tensor> tensors);
// Compares with what the program's file said, if it did, and forgets it. ValueError where it differs.
void compare_digest(Program& program, std::span<const Tensor> tensors);

// Zeros for the parameters that the program says are not persistable: no file holds them.
void make_scratch(Program& program);

// Names of the program's persistable builtin.parameter operations, sorted: what a `.pdiparams` file holds.
std::vector<std::string> parameter_names(const Program& program);
// Sets the program's parameters. ValueError where the file doesn't fit the program (number, shapes, dtypes).
void load_parameters(Program& program, std::span<const std::byte> bytes);
void load_parameters(Program& program, const std::string& path);        // OSError if it can't be read
void save_parameters(const Program& program, const std::string& path);  // written beside, then renamed

}  // namespace paddle::pir
