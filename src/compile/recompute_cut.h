// What a training program's forward part keeps for its backward part, and what the backward part computes again: a
// minimum cut between the two (as in Kumar et al., "Efficient Rematerialization for Deep Networks", 2019, and min-cut
// partitioners since).
//
// The network has a node for each operation that isn't the backward part's own, and two for each value that one makes:
// what crosses from a value's first node to its second is kept, and costs its bytes; an operation behind the cut is
// computed again, and costs a price: nothing for views and numbers, little for what fusion makes part of the kernels
// that read it, more where its result would have to be written out for a product. Products, reductions, draws, and
// whatever else a kernel computes alone are never computed again. Of equal cuts the one nearest to the backward part is
// taken: the least is computed again.
#pragma once
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "pir/operation.h"

namespace paddle::compile {

struct RecomputeCut {
  std::vector<pir::Value> kept;        // in the order in which they are made
  std::vector<pir::Operation*> again;  // operations that the backward part has besides its own
};

using Operations = std::unordered_set<const pir::Operation*>;

// One line of what was decided, for people.
struct CutRow {
  bool kept;         // else: computed again
  std::string what;  // operator and source line, dtype and shape
  int64_t bytes;
  std::string why;
};

// backward: the operations of `block` that only the backward part has. host: whether kernels of the host will compute
// what isn't compiled. Nothing where finding it would take too long.
std::optional<RecomputeCut> minimum_cut(const pir::Block& block, const Operations& backward, bool host,
                                        std::vector<CutRow>* rows = nullptr);

// What the backward part reads is kept; only lists and numbers are made again.
RecomputeCut plain_cut(const pir::Block& block, const Operations& backward);

// The values that an operation and its regions read.
std::vector<pir::Value> values_read(const pir::Operation& op);
// Made from nothing: made again rather than kept.
bool is_constant(const pir::Operation& op);

}  // namespace paddle::compile
