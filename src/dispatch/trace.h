// Trace: what a call means while a program is captured: the operator is appended to the program, and its outputs are
// tensors that stand for the operation's results.
//
// PIR is pure SSA. A handle (TensorImpl) means a value; an in-place operator appends the operator and the handle means
// the result from then on. A view remembers how it follows from its base, so a write through it also writes the base,
// and a view of a base that was written since is computed anew when it is next read. Tensors from outside become the
// program's parameters; those that were written are among its results (Trace::finish).
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dispatch/captured_program.h"
#include "dispatch/dispatch.h"
#include "pir/builder.h"
#include "pir/clone.h"

namespace paddle::dispatch {

// The value of a tensor was asked for while only a running program knows it. Python sees paddle._core.trace.GraphBreak.
class GraphBreak : public Error {
 public:
  using Error::Error;
};

class TracedPayload final : public Payload {
 public:
  pir::Value value;
  uint64_t trace = 0;          // id of the trace that the value belongs to
  pir::Block* home = nullptr;  // where the tensor that first had this payload was made
  uint32_t version = 0;        // how often the handle was written in place
  // Written where nothing is recorded: what the handle meant before, whose gradient stays the handle's. Null: the
  // value's own counts.
  Ref<TracedPayload> history;
  // Views: how the value follows from the base.
  Tensor base;
  Ref<TracedPayload> base_payload;    // what the base meant when the view was computed
  pir::Operation* view_op = nullptr;  // null: the base's elements as they are, without its gradient
  uint8_t view_operand = 0, view_result = 0;
  int32_t view_item = -1;  // of the result, where that is a list
  Tensor layout;           // strides that eager's tensor would have, without memory; undefined: contiguous

  // Shares memory with one of two tensors, as a condition says (trace_choice.cc).
  struct Choice;
  std::shared_ptr<Choice> choice;

  bool is_view() const { return base.defined(); }
  void forget_base();  // from here on a value of its own
  // Looks into `base`, of which it follows as `view` does.
  void look_as(const TracedPayload& view, const Tensor& base, Ref<TracedPayload> meant);
};

class TraceRegion;

// Runs a part of a capture now (taking it over; null: there is nothing to run). `why` and `where` say what needed it.
using SegmentRunner = std::function<Tensors(CapturedProgram* program, const Tensors& inputs, const std::string& why,
                                            const std::string& where)>;

class Trace final : public Interpreter {
 public:
  explicit Trace(std::string name);
  // Goes on with an existing program: operations go to the end of its block. Used to append gradients.
  Trace(std::string name, pir::Program&& program);
  // A program that is built over time: nothing is recorded until enter(). Its parameters and inputs become handles.
  struct Lasting {};
  Trace(Lasting, std::string name, pir::Program&& program);
  ~Trace() override;

  static Trace* active();  // of this thread; null: none

  void call(OpCall& c, size_t next) override;
  const char* name() const override { return "trace"; }

  // ---- inputs, values, handles
  Tensor add_input(const std::string& name, const Shape& shape, DType dtype, bool stop_gradient, bool leaf = true);
  pir::Value value_of(const Tensor& t);  // captures a tensor from outside; computes a stale view anew
  pir::Value differentiated_value(
      const Tensor& t);  // whose gradient is the tensor's: what was written unrecorded isn't
  Tensor tensor_of(pir::Value v, bool stop_gradient, Place place = Place::cpu());
  // The handle means what `value` means; not through views. With `stays_view` it goes on looking into its base.
  void rebind(const Tensor& handle, const Tensor& value, bool stays_view = false);
  void replace(const Tensor& handle, const Tensor& value);  // the same; views keep the elements that it meant before
  // In place, through views too. Where the write isn't recorded the handle's history stays what it was.
  void write(const Tensor& handle, const Tensor& value, bool recorded);
  Tensor alias(const Tensor& handle);
  Tensor detached(const Tensor& t);  // the same elements, also after writes, without history
  // Stops gradients: a value of its own where the tensor's own would let them pass.
  bool needs_grad(const Tensor& t) const { return !t.stop_gradient(); }
  bool is_leaf(const Tensor& t);  // made by the user; what is asked of an argument is part of what the program assumes

  pir::Builder& builder() { return builder_; }
  pir::Program& program() { return program_; }
  const std::vector<pir::Block*>& blocks() const { return blocks_; }  // outermost first
  // What an argument of a region under construction is in the first round; null for any other value.
  pir::Value entry_value(pir::Value arg) const;

  // ---- recompute (pir/recompute.h): how operations are marked from here on
  struct Marks {
    std::vector<int64_t> path;   // the regions that the operations stand in, outermost first
    bool preserve_rng = true;    // random operators there draw the same when they are computed again
    std::optional<int64_t> key;  // of the next random operator; else a fresh one inside of regions
    bool replayed = false;       // it takes what `key` drew
  };
  Marks marks;
  int64_t fresh_mark() { return next_mark_++; }

  // ---- gradients of leaves
  // Undefined: none. Zeros that clearing left count as none, unless `with_zeros`.
  Tensor grad_of(const Tensor& leaf, bool with_zeros = false);
  // undefined: clears it; with `zeros` what is read afterwards is zeros
  void set_grad(const Tensor& leaf, const Tensor& g, bool zeros = false);
  std::vector<Tensor> leaves() const;  // captured tensors and inputs that need a gradient
  // backward() went through these operations and freed what they had saved.
  void spend(std::span<pir::Operation* const> ops) { spent_.insert(ops.begin(), ops.end()); }

  // ---- lasting traces (trace_lasting.cc)
  void enter();  // calls on this thread append to the program, until leave()
  void leave();
  struct Captured {
    std::string name;
    Tensor handle;
    pir::Value original, now;  // what the program starts with, and what in-place writes made of it
  };
  std::vector<Captured> captured();
  const Tensors& input_handles() const { return inputs_; }
  // A copy as it stands, with a builtin.set_parameter for every captured tensor that was written and that `keeps`
  // (null: all) says. `map` takes values here to values there.
  pir::Program snapshot(pir::ValueMap& map, const std::function<bool(const Captured&)>& keeps = nullptr);
  // For passes that work in place: writes become operations, and are taken back as writes afterwards.
  void seal();
  void unseal();
  // The value of a tensor in this program; null for a traced tensor of another one.
  pir::Value find(const Tensor& t);
  void note_name(const std::string& name, const Tensor& t) { named_[name] = t; }
  // The lasting trace that a traced tensor belongs to; null: none, or it is gone.
  static Trace* owner(const Tensor& t);
  Tensor named(const std::string& name) const;
  // Set on every operation that is appended, as Paddle's op_role: 1 backward, 2 update; 0 none.
  void set_role(int role) { role_ = role; }
  int role() const { return role_; }
  uint64_t id() const { return id_; }
  uint64_t edits() const { return edits_; }  // grows with every change made through the trace
  void edited() { ++edits_; }

  // ---- tensors that share memory (trace_shared.cc): `given` are the tensors that the inputs stand for. Handles of
  // inputs that are one tensor, as positions of the first. `known`: tensors from outside that share memory with some.
  std::vector<size_t> share_memory(const Tensors& given, const Tensors& known = {});

  // ---- results of branches and loops (trace_choice.cc): the result is `yes` itself or `no` itself, as the condition
  // says, so that a write to one is a write to the other. Those that were made inside have memory of their own.
  // `around`: what a side may look into that is an argument of a loop (looked_into).
  void note_choice(const Tensor& result, const Tensor& condition, const Tensor& yes, const Tensor& no,
                   const Tensors& around = {});
  // What the value `of`, which a loop's body leaves, may look into outside of the loop.
  Tensors looked_into(const TraceRegion& body, const Tensors& entries, const Tensors& outs, const Tensor& of) const;
  // GraphBreak where a segment's end couldn't settle the choice and earlier ones have run.
  void check_choice(const Tensor& yes, const Tensor& no) const;
  // What a loop's body writes in place, of what it starts with (`entries`, for each argument; undefined: it isn't a
  // variable's value) and leaves for the next round (`outs`).
  enum class LoopSharing {
    kNone,        // nothing that another name or variable may mean, too
    kFirstRound,  // what a variable is before the loop
    kEveryRound,
  };
  LoopSharing loop_sharing(const TraceRegion& body, const Tensors& entries, const Tensors& outs,
                           const std::vector<bool>& held);  // per entry: Python has more than the variable

  // ---- segments: where Python needs a value, what was captured so far is run and the trace goes on with an empty
  // program (trace_segments.cc). share_memory() is called next.
  void allow_segments(SegmentRunner run);
  bool can_break() const { return run_segment_ && blocks_.size() == 1; }
  size_t num_segments() const { return num_segments_; }
  // What is alive gets its elements. GraphBreak where that can't be: in a branch or loop, or in a whole capture.
  void break_here(const char* why);
  bool make_readable(const Tensor& t, const char* why);  // false: it can't be
  // Sizes of a tensor that a segment left: symbolic where they were in the segment; null: as the tensor says.
  const Shape* sizes_of(const Tensor& t) const;
  // Do gradients flow to the eager graph from what the trace uses?
  bool depends_on_history() const;

  // Does anyone outside of the capture hold a tensor that was made in the region, `but` not counted? Known only where
  // segments are allowed; else no.
  bool holds_from(const TraceRegion& region, const Tensor& but) const;

  // Hooks on gradients that were registered in this trace.
  struct Hook {
    int64_t id;
    Tensor handle;
    std::function<std::function<void()>(const Tensor&)> eagerly;
    std::function<void()> remove;  // of a hook that was moved to the eager tensor
  };
  std::vector<Hook> hooks;

  struct ViewResult {  // of an operation, from one of its operands
    pir::Operation* made;
    uint8_t operand, result;
    int32_t item;  // of the result, where that is a list; else -1
  };

  // Ends the capture. The trace can't be used afterwards. Nothing outside is changed by a trace, finished or not.
  // `histories`: outputs are added for tensors from outside whose gradient goes through what wrote them.
  CapturedProgram finish(const Tensors& outputs, bool histories = true);
  pir::Program take_program();  // of a trace that appended to one

  // Emits an operation; results as tensors of the program.
  pir::Operation* emit(const pir::OpDef& def, std::span<const pir::Value> operands, pir::AttrMap attrs,
                       std::span<const pir::Type> results);
  pir::Operation* mark(pir::Operation* op);  // as `marks` says

 private:
  friend class TraceRegion;
  friend class EmitCall;
  struct Capture {
    Tensor handle;
    std::string name;
    Ref<TracedPayload> original, now;
    bool learns = false;  // what was written needs a gradient, and the handle says so until the capture ends
  };
  struct Written {
    Tensor handle;
    Ref<TracedPayload> before;
    DType dtype;
    Shape shape;
    uint8_t bits;
  };
  using WriteLog = std::vector<Written>;

  void install();
  void uninstall();
  CapturedProgram collect(Tensors outputs, bool histories);
  void add_histories(Tensors& outputs, CapturedProgram& result);
  // What a tensor from outside means now, if its gradient goes through what wrote it; else undefined.
  Tensor rewritten(const Tensor& handle, const Ref<TracedPayload>& original);
  bool is_spent(pir::Value v) const;  // would backward() from here meet such an operation?
  struct ViewAgain;
  void note_made(const Tensor& t);
  struct Living {
    Tensors plain, views, lists;
  };
  Living living();
  void captures_to_inputs(CapturedProgram& program, Tensors& inputs);
  void flush(const char* why);
  bool writes_shared(const OpCall& c) const;
  void start_over();
  void abandon_regions();  // what was begun and is in no operation
  void keep_sizes(const Tensor& t, const Shape& sizes);
  std::vector<Hook*> hooks_leaving();
  void adopt();  // handles for what the program has
  Capture& capture(const Tensor& t);
  Ref<TracedPayload> payload_of(const Tensor& t);
  Ref<TracedPayload> new_payload(pir::Value v);
  void set_payload(const Tensor& handle, Ref<TracedPayload> payload);  // no log
  void log_write(const Tensor& handle);
  void set_needs_grad(const Tensor& handle);  // by what was written
  void forget_needs();                        // of tensors from outside, at the end
  Tensor traced(const Tensor& t);             // t itself, or a stand-in for a captured tensor
  pir::Value refreshed(const Tensor& t);
  Ref<TracedPayload> computed_again(const TracedPayload& view, std::vector<pir::Value> operands, const Tensor& base);
  pir::Value with_history(const Tensor& t);
  void write_through(const Tensor& view, const Tensor& value, bool recorded);
  // The result is a view of `base` if eager's would be.
  void note_view(const Tensor& view, const Tensor& base, const ViewResult& from);
  // In place: the handle looks at its elements in another way from here on; who looked at them through it still does.
  void view_in_place(const Tensor& handle, const Tensor& value, const ViewResult& from);
  bool move_elements(const Tensor& handle, Tensor& elements);
  void follow(TracedPayload& view) const;
  // Tensors from outside that share memory: one that lies within another is a view of that.
  struct Outside {
    Tensor actual, handle;  // of an input the handle stands for the actual tensor
    Ref<TracedPayload> original;
  };
  Outside outside(size_t input) const;
  void note_shared(const Outside& t);
  bool relate(const Outside& a, const Outside& b);
  void look_into(const Outside& part, const Outside& whole);
  void set_outside(const Outside& t, Ref<TracedPayload> now);
  void check_apart(const Tensor& handle) const;
  const TracedPayload* meaning_of(const Tensor& t) const;  // null: it isn't part of the program yet
  Tensor root_of(Tensor t) const;
  bool in_reach(const Tensor& t) const;
  bool own_history(const Tensor& t) const;
  bool written_aside(const Tensor& t) const;
  bool observed(const Tensor& t) const;
  bool can_hoist(const Tensor& t) const;
  Tensor hoisted(const Tensor& t);
  pir::Value hoisted_operand(pir::Value v);
  void add_roots(const Tensor& t, const Tensors& around, TracedPayload::Choice& choice, bool yes) const;
  void refresh_choice(const Tensor& t);
  void set_chosen(const Tensor& t, const Tensor& value, std::shared_ptr<TracedPayload::Choice> choice);
  void write_choice(const Tensor& t, const Tensor& value, bool recorded);
  struct Chosen {
    Tensor handle, condition, yes, no;
    void settle();
  };
  std::vector<Chosen> choices_leaving();
  static void look_again(std::vector<ViewAgain>& views, std::vector<Chosen>& chosen);
  bool shares_input(const Tensor& written) const;
  bool chooses_shared_input(const TracedPayload& p) const;
  bool writes_shared_input(const OpCall& c) const;
  void write_eagerly(const Tensor& handle, const Tensor& value, bool recorded);
  Tensor layout_of(const Tensor& t);
  std::string unique_name(std::string wanted);

  std::string name_;
  pir::Program program_;
  pir::Builder builder_;
  pir::Operation* last_capture_ = nullptr;  // captures are listed at the program's start, in order
  std::vector<pir::Block*> blocks_;
  std::vector<WriteLog> writes_;  // per block
  struct Moved {                  // what a handle meant up to `version` is `elements` from here on
    Tensor handle, elements;
    uint32_t version;
  };
  std::unordered_map<TensorImpl*, std::vector<Moved>> moved_;
  std::vector<Tensor> inputs_;  // handles as given out
  std::vector<Ref<TracedPayload>> input_payloads_;
  std::vector<ProgramInput> input_infos_;
  std::unordered_map<TensorImpl*, Capture> captures_;
  std::vector<TensorImpl*> capture_order_;
  struct Grad {
    Tensor leaf;
    Tensor before;
    bool zeros = false;
  };
  std::vector<Grad> grads_;
  std::unordered_set<const pir::Operation*> spent_;
  std::unordered_map<TensorImpl*, Tensor> absent_grads_;  // leaves whose .grad was asked for and not there
  std::vector<CapturedProgram::GradRead> grad_reads_;
  std::unordered_map<std::string, int> names_;
  std::unordered_map<pir::Value, pir::Value> detached_;
  std::unordered_map<pir::Value, pir::Value> entry_values_;
  std::vector<TraceRegion*> regions_;  // under construction: what they hold uses the program's values
  std::vector<DimGuard> guards_;
  std::unique_ptr<DimGuardSink> sink_;
  SegmentRunner run_segment_;
  Tensors given_;
  bool related_ = false;  // views among the inputs, and of captured tensors, are known as such
  std::unordered_set<const TensorImpl*> entangled_;  // of inputs and captured tensors: overlaps another one in part
  std::vector<std::pair<size_t, size_t>> same_inputs_;
  Tensors made_;  // traced tensors, of which some are alive outside
  size_t made_limit_ = 1024;
  size_t num_segments_ = 0;
  std::unordered_map<const TensorImpl*, Shape> sizes_;  // of what segments left, where they are symbolic
  RandomKey generator_state_;
  bool installed_ = false, lasting_ = false;
  uint64_t id_ = next_id();
  static uint64_t next_id();
  void forget();
  uint64_t edits_ = 0;
  int role_ = 0;
  std::unordered_map<std::string, Tensor> named_;
  int64_t next_mark_ = 1;
};

// Defined once, in the core library: an inline variable would be another one in the extension module.
extern thread_local constinit Trace* active_trace __attribute__((visibility("default"), tls_model("initial-exec")));
inline Trace* Trace::active() { return active_trace; }
inline bool tracing() { return active_trace != nullptr; }

// Raises GraphBreak while a program is captured: `what` needs the tensor's value.
void check_value_readable(const Tensor& t, const char* what);

// Where the user's code stands: installed by the language binding.
extern pir::Location (*current_location)();
// Where a leaf's .grad is kept: installed by autograd.
extern Tensor& (*leaf_grad)(const Tensor& leaf);
// Is a leaf's .grad the zeros that clearing left? The same.
extern bool (*is_zeros)(const Tensor& leaf);
// A tensor that was written in place goes on with the history of `value`. The same.
extern void (*take_history)(const Tensor& written, const Tensor& value);
// A view goes on with the history of its base, if that was written since. The same.
extern void (*follow_history)(const Tensor& view);

// The gradient of an operation's inputs from those of its results, by the record's vjp; calls go to the interpreters of
// this thread. tensor_of gives operands and results as tensors. Per operand of the operation; undefined: none.
using TensorOfValue = std::function<Tensor(pir::Value)>;
std::vector<OutSlot> call_vjp(const pir::Operation& op, const TensorOfValue& tensor_of,
                              std::span<const OutSlot> out_grads, const std::function<bool(size_t operand)>& needs);

// The transpose of a view operator: `value`, of the view's shape, put back to where it came from in the base; zeros
// elsewhere.
Tensor transpose_of_view(Trace& trace, const TracedPayload& view, const Tensor& base, const Tensor& value);

// Suspends every interpreter of this thread: calls mean what they mean by default, or for `only` alone.
class StackScope {
 public:
  explicit StackScope(Interpreter* only = nullptr);
  ~StackScope();
  StackScope(const StackScope&) = delete;

 private:
  std::vector<Interpreter*> saved_;
  Trace* trace_;
};

// A block under construction: the body of a branch or loop. Enter and exit may be repeated.
class TraceRegion {
 public:
  // One argument for each of `inits`, a tensor's or an array's value; shapes[i], where given, replaces the argument's
  // shape; needs_grad[i] says that a gradient passes it though none passes its init.
  TraceRegion(Trace& trace, std::span<const Tensor> inits, std::span<const std::optional<Shape>> shapes,
              const std::vector<bool>& needs_grad = {});
  // Arguments that are nothing yet: gradients to come, of tensors of these types. They may be differentiated.
  TraceRegion(Trace& trace, std::span<const pir::Type> gradients);
  ~TraceRegion();
  TraceRegion(const TraceRegion&) = delete;
  const Tensors& args() const { return args_; }
  void enter();
  void exit();
  struct Write {
    Tensor handle, value;
  };
  const std::vector<Write>& writes() const { return writes_; }
  pir::Region& region() { return region_; }
  pir::Block& block() { return region_.front(); }

 private:
  friend class Trace;
  Trace* trace_;  // null: the capture was given up
  pir::Region region_;
  Tensors args_;
  std::vector<pir::Value> arg_values_;
  std::vector<Write> writes_;
  std::vector<Trace::Written> inside_;  // what handles from around mean here, whenever it is entered again
};

Tensors build_if(Trace& trace, const Tensor& pred, TraceRegion& yes, const Tensors& outs_yes, TraceRegion& no,
                 const Tensors& outs_no);
Tensors build_while(Trace& trace, const Tensor& cond, const Tensors& inits, TraceRegion& body, const Tensor& next_cond,
                    const Tensors& next_values);

// Lists of tensors as values of a program (TypeKind::kTensorArray). Writing gives the new list.
// `shape`: that of an item, where there is none yet.
Tensor array_create(Trace& trace, DType dtype, const Tensors& items, const Shape& shape = {});
Tensor array_write(Trace& trace, const Tensor& array, const Tensor& index, const Tensor& item);
Tensor array_read(Trace& trace, const Tensor& array, const Tensor& index);
Tensor array_length(Trace& trace, const Tensor& array);
Tensor array_pop(Trace& trace, const Tensor& array, const Tensor& index);  // the list without the item
Tensor array_join(Trace& trace, const Tensor& array, int64_t axis, bool stack);
bool is_array(const Tensor& t);
// All items as rows of one tensor, and a row of zeros after them, so that there is one. Only where `has_rows`: items
// are of one shape, as far as sizes are known.
Tensor array_rows(Trace& trace, const Tensor& array);
bool has_rows(const Tensor& array);
// What their gradients are made of. An array's gradient is an array of as many items.
Tensor array_zeros_like(Trace& trace, const Tensor& array);
Tensor array_add(Trace& trace, const Tensor& a, const Tensor& b);
Tensor array_add_at(Trace& trace, const Tensor& array, const Tensor& index, const Tensor& item);
Tensor array_insert(Trace& trace, const Tensor& array, const Tensor& index, const Tensor& item);
// Without what a write at `index` to a list of `length` items put there: zeros in its place, or nothing.
Tensor array_unwrite(Trace& trace, const Tensor& array, const Tensor& index, const Tensor& length);
Tensor array_unstack(Trace& trace, const Tensor& x, int64_t axis);
Tensor array_split(Trace& trace, const Tensor& x, const Tensor& like, int64_t axis);  // pieces as long as like's items

// Texts with tensors in them, as executor/message.h says.
void trace_assert(Trace& trace, const Tensor& cond, const std::vector<std::string>& texts, const Tensors& tensors);
void trace_print(Trace& trace, const std::vector<std::string>& texts, const Tensors& tensors, pir::AttrMap options);

}  // namespace paddle::dispatch
