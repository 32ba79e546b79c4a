// The groups of ranks that a program in parts talks in. Operators name them by numbers of this process; a program that
// another process finished is given this one's (distributed::Environment::group_of makes them, in the same order).
#pragma once
#include <vector>

#include "distributed/environment.h"
#include "pir/serialize/bytes.h"

namespace paddle::compile {

class KeptGroups {
 public:
  KeptGroups() = default;
  explicit KeptGroups(std::vector<distributed::MeshGroup> asked);  // by this process
  explicit KeptGroups(pir::ProgramReader& in);                     // asks for those that another one asked for

  void write(pir::ProgramWriter& out) const;
  void renumber(pir::Program& program) const;  // one that is as it was kept

 private:
  struct Group {
    distributed::MeshGroup now;
    int then;  // its number where the program was finished
  };
  std::vector<Group> list_;
};

}  // namespace paddle::compile
