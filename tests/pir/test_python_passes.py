"""Programs, patterns, passes and pipelines from Python."""

import re
from pathlib import Path

import numpy as np
import paddle
import pytest
from paddle import pir

PLUGIN = Path(__file__).parent.parent.parent / "build" / "tests" / "pir" / "libpass_plugin.so"
TEXT = """{
    (%0) = "pd_op.data" () {dtype: float32, name: "x", place: Place(undefined:0), shape: [2, 3], stop_gradient: [true]} : () -> tensor<2x3xf32>
    (%1) = "pd_op.relu" (%0) {stop_gradient: [true]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    (%2) = "pd_op.relu" (%1) {stop_gradient: [true]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    (%3) = "pd_op.tanh" (%2) {stop_gradient: [true]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    () = "builtin.shadow_output" (%3) {output_name: "y"} : (tensor<2x3xf32>) ->
}
"""


def names(program):
    return [op.name() for op in program.global_block().ops]


@pytest.fixture
def program():
    return pir.parse(TEXT)


@pytest.fixture
def registered():
    """Names that the test registers; they are forgotten afterwards."""
    before = set(pir.registered_passes())
    yield
    for name in set(pir.registered_passes()) - before:
        for stage in ("captured", "optimised"):
            pir.remove_from_pipeline(name, stage)
        pir.unregister_pass(name)


def test_structure(program):
    assert str(pir.parse(str(program))) == str(program)
    data, relu, second, tanh, out = program.global_block().ops
    assert relu.operand_source(0) == data.result(0) and relu.result(0).get_defining_op() is relu
    assert relu.result(0).all_used_ops() == [second] and second.result(0).has_one_use()
    assert [o.source().get_defining_op() for o in tanh.operands()] == [second]
    assert data.result(0).shape == [2, 3] and data.result(0).dtype == paddle.float32
    assert data.attrs()["name"] == "x" and data.attrs()["shape"] == [2, 3]
    assert out.num_results() == 0 and out.num_operands() == 1 and out.get_parent_block() == program.global_block()
    assert relu.has_trait("elementwise") and not out.has_trait("elementwise")
    assert relu.get_input_names() == ["x"] and relu.get_output_names() == ["out"]
    assert relu.result(0).stop_gradient and tanh.result(0).use_empty() is False
    seen = []
    pir.walk(program, lambda op: seen.append(op.name()))
    assert seen == names(program) and program.num_ops() == 5
    with pytest.raises(IndexError, match="has 1 operands, got index 1"):
        relu.operand_source(1)


def test_changing_by_hand(program):
    data, relu, second, tanh, out = program.global_block().ops
    with pytest.raises(ValueError, match="its results are used"):
        relu.erase()
    second.result(0).replace_all_uses_with(relu.result(0))
    second.erase()
    assert not second.alive
    with pytest.raises(ValueError, match="was erased"):
        second.name()
    sigmoid = program.global_block().create("pd_op.sigmoid", [relu.result(0)], before=tanh)
    tanh.set_operand(0, sigmoid.result(0))
    out.set_attr("output_name", "z")
    assert names(program) == ["pd_op.data", "pd_op.relu", "pd_op.sigmoid", "pd_op.tanh", "builtin.shadow_output"]
    program.verify(True)
    assert '"z"' in str(program)
    changed = pir.diff(TEXT, program)
    assert "- " in changed and "pd_op.sigmoid" in changed and pir.diff(program, program) == ""
    tanh.move_before(relu)
    with pytest.raises(ValueError, match="tanh"):
        program.verify()
    with pytest.raises(NotImplementedError, match="pd_op.no_such"):
        program.global_block().create("pd_op.no_such", [])


def test_objects_outlive_their_program(program):
    relu = program.global_block().ops[1]
    value = relu.result(0)
    del program
    assert relu.name() == "pd_op.relu" and value.shape == [2, 3]


class MergeRelus(pir.RewritePattern):
    root = "pd_op.relu"

    def match_and_rewrite(self, op, rewriter):
        before = op.operand_source(0).get_defining_op()
        if before is None or before.name() != "pd_op.relu":
            return False
        rewriter.replace(op, before.result(0))
        return True


def merge_relus():
    drr = pir.Drr("merge_relus")
    drr.source("pd_op.relu", ["x"], ["t"])
    drr.source("pd_op.relu", ["t"], ["y"])
    drr.result("pd_op.relu", ["x"], ["y"])
    return drr


@pytest.mark.parametrize(
    "pattern", [MergeRelus(), merge_relus(), merge_relus().where(lambda m: m.value("x").shape == [2, 3])]
)
def test_patterns(program, pattern):
    result = pir.apply_patterns(program, [pattern])
    assert names(program) == ["pd_op.data", "pd_op.relu", "pd_op.tanh", "builtin.shadow_output"]
    assert result["converged"] and list(result["by_pattern"].values()) == [1]
    program.verify(True)


def test_patterns_that_do_not_hold(program):
    assert pir.apply_patterns(program, [merge_relus().where(lambda m: False)])["rewrites"] == 0
    wrong = pir.Drr("wrong")
    wrong.source("pd_op.relu", ["x"], ["y"])
    wrong.result("pd_op.relu", ["z"], ["y"])
    with pytest.raises(ValueError, match="wrong"):
        pir.apply_patterns(program, [wrong])

    class Raises(pir.RewritePattern):
        root = "pd_op.tanh"

        def match_and_rewrite(self, op, rewriter):
            raise KeyError("from the pattern")

    with pytest.raises(KeyError, match="from the pattern"):
        pir.apply_patterns(program, [Raises()])

    class Endless(pir.RewritePattern):
        root = "pd_op.tanh"

        def match_and_rewrite(self, op, rewriter):
            rewriter.replace(op, rewriter.create("pd_op.tanh", [op.operand_source(0)]).result(0))
            return True

    assert not pir.apply_patterns(program, [Endless()])["converged"]


def test_captured_and_computed_attributes():
    text = TEXT.replace('"pd_op.tanh" (%2) {', '"pd_op.softmax" (%2) {axis: (Int32)-1, ')
    program = pir.parse(text)
    drr = pir.Drr("first_axis")
    drr.source("pd_op.softmax", ["x"], ["y"], {"axis": pir.Drr.capture("axis")})
    drr.result("pd_op.log_softmax", ["x"], ["y"], {"axis": pir.Drr.compute(lambda m: m.attr("axis") + 1)})
    pir.apply_patterns(program, [drr])
    (op,) = [o for o in program.global_block().ops if o.name() == "pd_op.log_softmax"]
    assert op.attrs()["axis"] == 0
    program.verify(True)


def test_passes_by_name(program, registered, capsys):
    calls = []

    def count(program, context):
        """counts operations"""
        context.count("operations", program.num_ops())
        calls.append(context.options)
        return False

    pir.register_pass("count_operations", count)
    pir.register_pass("merge_relus_by_pattern", [MergeRelus()], "two in a row are one")
    known = pir.registered_passes()
    assert known["count_operations"] == "counts operations" and "two in a row" in known["merge_relus_by_pattern"]
    manager = pir.PassManager(verify=True)
    manager.add_pass("count_operations", {"loud": True}).add_pass("merge_relus_by_pattern").add_pass("count_operations")
    manager.add_pass("dead_code_elimination_pass")
    assert manager.passes()[-1] == "dead_code" and not manager.empty()
    assert manager.run(program)
    first, second, third, _ = manager.records()
    assert calls == [{"loud": "true"}, {}] and first.statistics == {"operations": 5}
    assert second.changed and not first.changed and third.statistics == {"operations": 4}
    assert (second.ops_before, second.ops_after) == (5, 4) and second.seconds >= 0
    assert "merge_relus_by_pattern" in manager.report()
    with pytest.raises(ValueError, match="no pass is called 'nope'"):
        manager.add_pass("nope")
    with pytest.raises(TypeError, match="expected patterns or a function"):
        pir.register_pass("x", 3)


def test_what_a_pass_changed_is_shown(program, registered):
    pir.register_pass("merge_relus_by_pattern", merge_relus())
    shown = []
    manager = pir.PassManager(print_changes=shown.append)
    manager.add_pass("merge_relus_by_pattern").run(program)
    assert any(re.search(r"^- .*pd_op.relu", line, re.M) for line in shown)


def test_a_pass_that_breaks_the_program_is_named(program, registered):
    def breaks(program):
        ops = program.global_block().ops
        ops[3].move_before(ops[1])
        return True

    pir.register_pass("breaks_it", breaks)
    with pytest.raises(ValueError, match="breaks_it"):
        pir.PassManager(verify=True).add_pass("breaks_it").run(program)


def test_errors_of_a_pass_come_through(program, registered):
    def fails(program):
        raise ZeroDivisionError("mine")

    pir.register_pass("fails", fails)
    with pytest.raises(ZeroDivisionError, match="mine"):
        pir.PassManager().add_pass("fails").run(program)


@pytest.mark.skipif(not PLUGIN.exists(), reason="the plugin is part of the build tree")
def test_a_plugin_brings_a_pass(program):
    pir.load_plugin(str(PLUGIN))
    assert "plugin_merge_relus" in pir.registered_passes()
    assert pir.PassManager(verify=True).add_pass("plugin_merge_relus").run(program)
    assert names(program).count("pd_op.relu") == 1
    with pytest.raises(OSError, match="nothing_here"):
        pir.load_plugin("/nothing_here.so")


class AddIsSubtract(pir.RewritePattern):
    """x + y becomes x - y: wrong on purpose, so that its effect shows."""

    root = "pd_op.add"

    def match_and_rewrite(self, op, rewriter):
        rewriter.replace(op, rewriter.create("pd_op.subtract", op.operands_source()).result(0))
        return True


@pytest.mark.parametrize("stage", ["captured", "optimised"])
def test_a_python_pass_in_the_pipeline_of_to_static(registered, stage):
    seen = []

    def look(program, context):
        seen.append([op.name() for op in program.global_block().ops])
        return False

    pir.register_pass("look_at_it", look)
    pir.register_pass("add_is_subtract", [AddIsSubtract()])

    def function(x, y):
        return paddle.tanh(x + y)

    x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([0.5, 0.25])
    plain = paddle.jit.to_static(function)(x, y)
    np.testing.assert_allclose(plain.numpy(), np.tanh(x.numpy() + y.numpy()), rtol=1e-6)
    pir.add_to_pipeline("look_at_it", stage)
    pir.add_to_pipeline("add_is_subtract", stage)
    changed = paddle.jit.to_static(function)(x, y)
    np.testing.assert_allclose(changed.numpy(), np.tanh(x.numpy() - y.numpy()), rtol=1e-6)
    assert "pd_op.add" in seen[0]
    pir.remove_from_pipeline("add_is_subtract", stage)
    again = paddle.jit.to_static(function)(x, y)
    np.testing.assert_allclose(again.numpy(), plain.numpy(), rtol=1e-6)
    with pytest.raises(ValueError, match="no pass is called"):
        pir.add_to_pipeline("nope")
    with pytest.raises(ValueError, match="expected a stage"):
        pir.add_to_pipeline("look_at_it", "nowhere")


def test_passes_on_a_program_of_static_mode(registered):
    pir.register_pass("merge_relus_by_pattern", merge_relus())
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
            x = paddle.static.data("x", [None, 3], "float32")
            h = paddle.nn.functional.relu(paddle.nn.functional.relu(paddle.static.nn.fc(x, 2)))
            loss = paddle.mean(h)
            loss.name = "loss"
            paddle.optimizer.SGD(0.1).minimize(loss)
        exe = paddle.static.Executor()
        with paddle.static.scope_guard(paddle.static.Scope()):
            exe.run(startup)
            feed = {"x": np.arange(6, dtype="f4").reshape(2, 3)}
            before = exe.run(main.clone(for_test=True), feed=feed, fetch_list=["loss"])[0]
            manager = pir.PassManager(verify=True)
            manager.add_pipeline("merge_relus_by_pattern,common_subexpression,dead_code").run(main)
            assert exe.run(main, feed=feed, fetch_list=["loss"])[0] == pytest.approx(float(before), rel=1e-6)
            after = exe.run(main, feed=feed, fetch_list=["loss"])[0]
            assert float(before) == 0 or after < before  # it still trains
    finally:
        paddle.disable_static()
