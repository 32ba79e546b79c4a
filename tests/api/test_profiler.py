"""paddle.profiler: what is recorded, when, and how it is shown."""

import json
import time

import pytest

import paddle
from paddle import profiler
from paddle.profiler import Profiler, ProfilerState, SortedKeys, SummaryView, make_scheduler
from paddle.profiler.spans import Span
from paddle.profiler.summary import own_times, rows_of


def test_scheduler_cycles():
    states = make_scheduler(closed=1, ready=1, record=2, repeat=2, skip_first=1)
    c, y, r, e = ProfilerState.CLOSED, ProfilerState.READY, ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN
    assert [states(i) for i in range(11)] == [c, c, y, r, e, c, y, r, e, c, c]
    with pytest.raises(ValueError, match="record"):
        make_scheduler(closed=0, ready=0, record=0)
    with pytest.raises(TypeError, match="scheduler"):
        Profiler(scheduler=(3, 1))


def test_operators_gradients_and_own_spans_are_recorded():
    x = paddle.ones([4, 5])
    x.stop_gradient = False
    with Profiler(record_shapes=True) as p:
        with profiler.RecordEvent("mine"):
            loss = paddle.tanh(x).sum()
            loss.backward()
    spans = {(s.kind, s.name): s for s in p.profiler_result.spans}
    assert spans["Operator", "tanh"].detail == "float32[4, 5]"
    assert any(kind == "Backward" and "tanh" in name for kind, name in spans)
    mine, tanh = spans["PythonUserDefined", "mine"], spans["Operator", "tanh"]
    assert mine.begin <= tanh.begin <= tanh.end <= mine.end
    assert mine.thread == tanh.thread


def test_nothing_is_recorded_outside():
    with Profiler() as p:
        paddle.ones([2]).exp()
    paddle.ones([2]).tanh()
    assert not any(s.name == "tanh" for s in p.profiler_result.spans)


def test_programs_show_their_instructions_and_their_compilation():
    f = paddle.jit.to_static(lambda x, w: (paddle.matmul(x, w) * 2 + 1).exp().sum(-1))
    x, w = paddle.ones([8, 16]), paddle.ones([16, 8])
    with Profiler() as p:
        f(x, w)
    kinds = {s.kind for s in p.profiler_result.spans}
    assert {"Instruction", "Compile"} <= kinds
    assert any(s.name == "matmul" and s.kind == "Instruction" for s in p.profiler_result.spans)


def test_steps_follow_the_scheduler(tmp_path):
    ready = []
    with Profiler(scheduler=(2, 4), on_trace_ready=lambda p: ready.append(p.profiler_result)) as p:
        for i in range(6):
            paddle.full([2], float(i)).exp()
            p.step()
    (result,) = ready
    names = [s.name for s in result.spans if s.kind == "ProfileStep"]
    assert names == ["ProfileStep#2", "ProfileStep#3"]
    assert sum(s.name == "exp" for s in result.spans) == 2


def test_chrome_trace_round_trip(tmp_path):
    with Profiler(on_trace_ready=profiler.export_chrome_tracing(str(tmp_path), "w")) as p:
        paddle.ones([3]).exp()
    (path,) = tmp_path.iterdir()
    events = json.loads(path.read_text())["traceEvents"]
    assert any(e["ph"] == "X" and e["name"] == "exp" and e["dur"] >= 0 for e in events)
    loaded = profiler.load_profiler_result(str(path))
    assert [s.name for s in loaded.spans] == [s.name for s in p.profiler_result.spans]
    bad = tmp_path / "bad.json"
    bad.write_text("[1, 2]")
    with pytest.raises(ValueError, match="not a trace"):
        profiler.load_profiler_result(str(bad))


def test_own_time_excludes_what_runs_inside():
    spans = [Span("a", "k", 0, 100, 1), Span("b", "k", 10, 40, 1), Span("c", "k", 15, 25, 1), Span("b", "k", 50, 60, 1),
             Span("d", "k", 5, 95, 2)]  # fmt: skip
    spans.sort(key=lambda s: (s.begin, -s.end))
    own = {(s.name, s.begin): o for s, o in zip(spans, own_times(spans), strict=True)}
    assert own == {("a", 0): 60, ("b", 10): 20, ("c", 15): 10, ("b", 50): 10, ("d", 5): 90}
    row = rows_of(spans)["k", "b"]
    assert (row.calls, row.total, row.own, row.most, row.least) == (2, 40, 30, 30, 10)


def test_summary_tables(capsys):
    with Profiler() as p:
        for _ in range(3):
            paddle.ones([3]).exp()
    p.summary(sorted_by=SortedKeys.CPUMax, time_unit="us")
    text = capsys.readouterr().out
    line = next(row for row in text.splitlines() if row.startswith("exp"))
    assert line.split()[1] == "3"
    p.summary(views=SummaryView.KernelView)
    assert "Operators" not in capsys.readouterr().out
    with pytest.raises(ValueError, match="time_unit"):
        p.summary(time_unit="h")
    with pytest.raises(RuntimeError, match="nothing has been recorded"):
        Profiler().summary()


class Slow(paddle.io.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        time.sleep(0.01)
        return paddle.ones([2])


def test_throughput_and_time_waiting_for_data():
    p = Profiler(timer_only=True)
    p.start()
    for batch in paddle.io.DataLoader(Slow(), batch_size=2):
        p.step(num_samples=len(batch))
    text = p.step_info(unit="images")
    p.stop()
    words = text.split()
    reader, batch = float(words[words.index("reader_cost:") + 1]), float(words[words.index("batch_cost:") + 1])
    assert text.endswith("images/s") and 0.01 < reader <= batch
