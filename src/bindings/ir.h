// paddle._core.ir: programs, operations and values as Python objects, for static mode and for passes written in Python.
//
// An operation's object lives as long as Python wants it; if the operation goes first, the object says so instead of
// touching freed memory (pir/destroy_hook.h).
#pragma once
#include <memory>
#include <unordered_map>

#include "bindings/py.h"
#include "dispatch/trace.h"
#include "pir/builder.h"
#include "pir/rewrite/pass.h"

namespace paddle::bindings {

struct IrProgram {
  std::unique_ptr<dispatch::Trace> trace;  // null: a program that something else owns, lent for a pass
  pir::Program* lent = nullptr;
  // For clones: values of the programs it comes from (by the id of their traces) as values here.
  std::unordered_map<uint64_t, pir::ValueMap> origins;
  Tensors fetched;  // what a loaded program gives out

  pir::Program& program() const;
  dispatch::Trace& building() const;  // RuntimeError for a lent one
};

struct PyProgram {
  PyObject_HEAD std::shared_ptr<IrProgram> state;
};
struct PyOperation {
  PyObject_HEAD pir::Operation* op;  // null: erased
  PyObject* program;                 // keeps it alive; null where unknown
};
struct PyBlock {
  PyObject_HEAD PyObject* parent;  // PyOperation
  pir::Block* block;
};
struct PyValue {
  PyObject_HEAD PyObject* owner;  // PyOperation or PyBlock
  uint32_t index;
};
struct PyType {
  PyObject_HEAD pir::Type type;
};

extern PyTypeObject *ir_program_type, *ir_operation_type, *ir_block_type, *ir_value_type, *ir_type_type;

IrProgram& program_of(PyObject* o);  // TypeError if it is none
pir::Operation* operation_of(PyObject* o);
pir::Block* block_of(PyObject* o);
pir::Value value_of(PyObject* o);       // TypeError; ValueError if what had it is gone
pir::Value value_or_null(PyObject* o);  // None: a null value
std::vector<pir::Value> values_of(PyObject* sequence);
pir::Type ir_type_of(PyObject* o);
// The value that a tensor of the program stands for; ValueError where it stands for none.
pir::Value resolve(IrProgram& program, const Tensor& t);

// A copy that gives out `outs` (pd_op.fetch or builtin.shadow_output) and, where wanted, keeps its writes; what nothing
// then needs is gone.
pir::Program cut_to(IrProgram& program, const Tensors& outs, bool writes, bool as_fetch);

PyObject* wrap_operation(pir::Operation* op, PyObject* program);
PyObject* wrap_block(pir::Block* block, PyObject* program);
PyObject* wrap_ir_value(pir::Value v, PyObject* program);  // None for a null value
PyObject* wrap_ir_type(pir::Type t);
PyObject* wrap_program_state(std::shared_ptr<IrProgram> state, PyTypeObject* type);

// ---- attributes: numbers, strings, lists, dtypes and places are Python's own
PyObject* wrap_attribute(const pir::Attribute& a);
// The kind is the old attribute's, else what the operation's table accepts, else the Python value's nearest.
pir::Attribute attribute_from(PyObject* o, const pir::AttrDef* def, const pir::Attribute& old = {});
pir::AttrMap attributes_from(PyObject* dict_or_none, const pir::OpDef& def);

// A program that a pass works on, as an object that becomes invalid with the scope.
class LentProgram {
 public:
  explicit LentProgram(pir::Program* program);
  ~LentProgram();
  PyObject* object() const { return object_.get(); }

 private:
  std::shared_ptr<IrProgram> state_;
  Object object_;
};

// Operations of Python's: create(name, operands, attrs, types, regions) at a builder's place.
PyObject* create_with(pir::Builder& b, PyObject* args, PyObject* program);

// ---- registration
PyTypeObject* add_ir_type(PyType_Spec& spec, PyObject* module, const char* name);
void add_ir(PyObject* core);
void add_ir_program(PyObject* module);
void add_ir_operation(PyObject* module);
void add_ir_values(PyObject* module);
void add_ir_passes(PyObject* module);
void add_ir_patterns(PyObject* module);
void add_ir_run(PyObject* module);
void add_ir_files(PyObject* module);
void add_ir_loops(PyObject* module);

}  // namespace paddle::bindings
