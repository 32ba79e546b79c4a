// Which values of a block may look into one another's memory, and until when: what must be known before a value is
// overwritten where it lies.
#pragma once
#include <set>
#include <unordered_map>
#include <vector>

#include "device/place.h"
#include "pir/operation.h"

namespace paddle::executor {

class Aliases {
 public:
  Aliases(const pir::Block& block, Place place);
  // Does anything after `op` read v's elements as they are before `op`, through whatever value? What `op` itself makes
  // doesn't count.
  bool read_after(pir::Value v, const pir::Operation& op) const;
  // May one look into the other's memory?
  bool overlap(pir::Value a, pir::Value b) const;

 private:
  void visit(pir::Operation& op, size_t at);
  bool fresh(const pir::Operation& op) const;

  Place place_;
  std::unordered_map<const pir::Operation*, size_t> number_;
  std::unordered_map<pir::Value, std::set<size_t>> roots_;  // numbers of the memories that a value may look into
  std::vector<size_t> last_read_;                           // per memory
};

}  // namespace paddle::executor
