// The local form of an operator: the call that one rank makes on its shards. Mostly the operator itself; a record's
// `local` field says what differs:
//   sizes(shape)       the argument is the shape of the first output: the shard's own
//   size(rows, 0)      the argument is the size of that dimension of the first output
//   reshape            a reshape to the shard of the output (squeeze: a size that is 1 only here must stay)
//   embedding          the vocabulary is sharded: rows that are elsewhere are zero
// Several are separated by ';'.
#pragma once
#include "api/op_call.h"
#include "spmd/local_shape.h"
#include "spmd/propagate.h"

namespace paddle::distributed {

struct LocalCall {
  OpCall& call;  // arguments are the shards; a form changes them, or sets the outputs itself
  const spmd::Resolved& resolved;
  const std::vector<spmd::LocalShard>& inputs;  // by flat number: shape and offset in the whole
  const std::vector<spmd::LocalShard>& outputs;
  paddle::Shape whole;  // of the first output
};

// Runs the local form on dense shards.
void run_local(const LocalCall& c);

// Changes the arguments that name sizes; for programs, where the operator itself is put in elsewhere.
void localise_sizes(const LocalCall& c);

}  // namespace paddle::distributed
