// Composite operators written out as their compositions.
#pragma once
#include "pir/program.h"

namespace paddle::compile {

enum class DecomposeWhat {
  kAll,           // every operator that has a composition and isn't a primitive
  kContractions,  // those that stand for products and have no kernel: what is made of products can then be recognised
  kToFuse,        // only those that the compiler can then fuse and that nothing runs better
  kEvaluating,    // those whose record says in `evaluation` that they write nothing as they are called: normalisations
};

// In every block. Returns how many operators were replaced.
size_t decompose(pir::Program& program, DecomposeWhat what);

}  // namespace paddle::compile
