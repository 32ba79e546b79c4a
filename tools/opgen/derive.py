"""Gradients that follow from `expr`.

An operator with one tensor gets an ordinary record `<op>_grad`, pointwise as well: args are what it reads, then the
gradient of the output, then the parameters. That record's own gradients are compositions of operators, so every order
exists. Where the gradient takes only a step or two, and for operators with several tensors, the gradient itself is a
composition, summed to the input's shape where the input was broadcast.
"""

from __future__ import annotations

from dataclasses import replace

from . import expr as scalar_expr
from . import scalar
from .compose import ComposeError, Composer, Operators, operators, parametric
from .dtype_lang import DtypeRule
from .kinds import KINDS, cpp_name
from .schema import Record
from .signature import REQUIRED, Arg


def complete(families: dict[str, list[Record]], root) -> None:
    """Adds what `expr` implies, in place: vjp_source, saves, and the records `<op>_grad`."""
    everything = [r for records in families.values() for r in records]
    names = {r.name for r in everything}
    context = _Context(Operators(operators(everything), parametric(everything)), scalar.load(root))
    for records in families.values():
        made: list[Record] = []
        for record in records:
            if record.prog is None or record.nondifferentiable or "vjp" in record.rules:
                continue
            try:
                grad = context.derive(record, names)
            except (ComposeError, scalar_expr.ExprError) as fault:
                raise record.wrong("expr", f"expr: {fault}") from None
            if grad:
                made.append(grad)
        records.extend(made)


class _Context:
    def __init__(self, ops: Operators, functions: dict[str, scalar.Fn]):
        self.ops, self.functions = ops, functions

    def derive(self, r: Record, names: set[str]) -> Record | None:
        inputs = [a for a in r.tensors if not a.nondifferentiable]
        if not inputs:
            return None
        if len(r.outs) != 1:
            raise r.wrong("expr", "expr: with several outputs the gradient is written in C++ (rules: [vjp])")
        declared = r.saves
        progs = {a.name: self.vjp(r, a.name, declared) for a in inputs}
        grad: Record | None = None
        steps = sum(i.fn != "constant" for p in progs.values() for i in p.instrs)
        reads_grad = all(f"{r.outs[0].name}_grad" in p.inputs for p in progs.values())
        if len(r.tensors) == 1 and steps > 1 and reads_grad and not r.synthetic and f"{r.name}_grad" not in names:
            prog = progs[inputs[0].name]
            grad = self.grad_record(r, prog)
            arguments = [f"v.{cpp_name(n)}" for n in (*prog.inputs, *(a.name for a in grad.args[len(prog.inputs) :]))]
            self.set_saves(r, set(prog.inputs), set())
            target = f"v.{grad_field(r, inputs[0].name)}"
            body = f"if (v.need_{inputs[0].name}) {target} = ops::{grad.name}({', '.join(arguments)});"
            if r.complex == "holomorphic":  # conj(f'(x)) g = conj(f'(x) conj(g)): one program for real and complex
                seed = f"v.{r.outs[0].name}_grad"
                arguments = [f"compose::conj({a})" if a == seed else a for a in arguments]
                body = (
                    f"if (v.need_{inputs[0].name}) {target} = compose::conj(ops::{grad.name}({', '.join(arguments)}));"
                )
            r.vjp_source = body
            self.derive(grad, names)
            return grad
        self.compositions(r, progs)
        return None

    def vjp(self, r: Record, wrt: str, saves: list[str] | None) -> scalar_expr.Prog:
        outs = [o.name for o in r.outs]
        if saves is None:  # not declared: the inputs; outputs too would keep more alive
            saves = [a.name for a in r.tensors]
        saves = [s for s in saves if "." not in s]
        return scalar_expr.vjp(r.prog, wrt, outputs=outs, saves=saves, partial=r.derivative.get(wrt))

    def grad_record(self, r: Record, prog: scalar_expr.Prog) -> Record:
        source = {a.name: a for a in r.args}
        args = [Arg(n, KINDS["Tensor"], pir_name=n) for n in prog.inputs]
        args += [replace(source[p], default=REQUIRED, saved="kNo") for p in prog.params]
        x = r.tensors[0].name
        out = Arg(f"{x}_grad", KINDS["Tensor"])
        seed = f"{r.outs[0].name}_grad"
        record = Record(
            name=f"{r.name}_grad", family=r.family, raw=r.raw, args=args, outs=[out],
            doc=f"Gradient of `{r.name}`: {prog.text}.", shape={out.name: f'infer::same_as("{r.name}_grad", a.{seed})'},
            traits={"elementwise", "primitive"}, prog=prog, expr_args=list(range(len(args))),
            complex=r.complex, synthetic=True,
        )  # fmt: skip
        record.dtype = DtypeRule(results={out.name: f"infer::dtype_of(a.{seed})"})
        record.spmd = ", ".join(["..."] * len(prog.inputs)) + " -> ..." if r.spmd else ""
        return record

    def compositions(self, r: Record, progs: dict[str, scalar_expr.Prog]) -> None:
        read = {n for p in progs.values() for n in p.inputs}
        kinds = {a.name: ("scalar" if a.kind.text == "Scalar" else "num", f"v.{cpp_name(a.name)}") for a in r.args}
        for a in r.args:
            if a.kind.text in ("int", "bool"):
                kinds[a.name] = ("num", f"double(v.{cpp_name(a.name)})")
        several = len(r.tensors) > 1 and not r.synthetic
        for name, prog in progs.items():  # the shape to sum to, or the shape of a gradient that is zero
            arg = r.args[r.arg_index(name)]
            if arg.saved == "kNo" and (several or not prog.inputs):
                arg.saved = "kMeta"
        metas = {a.name for a in (*r.args, *r.outs) if a.saved == "kMeta"}
        self.set_saves(r, read, metas)
        seed = f"v.{r.outs[0].name}_grad"
        blocks = []
        for name, prog in progs.items():
            bindings = kinds | {n: ("tensor", f"v.{cpp_name(n)}") for n in prog.inputs}
            blocks.append(self.block(r, name, prog, bindings, seed, several))
        r.vjp_source = "\n".join(blocks)

    @staticmethod
    def set_saves(r: Record, read: set[str], metas: set[str]) -> None:
        for value in (*r.args, *r.outs):
            if value.name in read and value.kind.tensor:
                value.saved = "kValue"
            elif value.name in metas:
                value.saved = "kMeta"
            else:
                value.saved = "kNo"
        values = [v for v in (*r.args, *r.outs) if v.saved != "kNo"]
        r.saves = [v.name + (".meta" if v.saved == "kMeta" else "") for v in values]

    def block(self, r: Record, name: str, prog, bindings, seed: str, several: bool) -> str:
        target = f"v.{grad_field(r, name)}"
        field = f"v.{cpp_name(name)}"
        head = f"if (v.need_{name}) {{\n"
        if not prog.inputs:  # constant: zero, or the gradient does not depend on the output's
            return head + f"  {target} = compose::zeros_like({field});\n}}"
        like = f"v.{cpp_name(prog.inputs[-1])}"
        unbroadcast = (lambda text: f"compose::unbroadcast({text}, {field})") if several else (lambda text: text)
        bound = {n: bindings[n] for n in (*prog.inputs, *prog.params)}
        conjugate = r.complex == "holomorphic" and len(prog.inputs) + len(prog.instrs) > 1
        if conjugate and seed[2:] in bound:
            bound[seed[2:]] = ("tensor", f"compose::conj({seed})")

        def body(values: dict[str, tuple[str, str]]) -> list[str]:
            composer = Composer(prog, self.ops, self.functions, like)
            result = composer.run(values)
            result = f"compose::conj({result})" if conjugate else result
            return [*composer.lines, f"{target} = {unbroadcast(result)};"]

        lines = body(bound)
        scalars = [n for n, (kind, _) in bound.items() if kind == "scalar"]
        if scalars and len(lines) > 3:  # arithmetic on numbers that are known now needs no tensors
            numbers = {n: ("num", n) for n in scalars}
            known = [f"const double {n} = v.{cpp_name(n)}.to_double();" for n in scalars]
            test = " && ".join(f"v.{cpp_name(n)}.is_const()" for n in scalars)
            lines = [f"if ({test}) {{", *(f"  {line}" for line in (*known, *body(bound | numbers))), "} else {",
                     *(f"  {line}" for line in lines), "}"]  # fmt: skip
        return head + "".join(f"  {line}\n" for line in lines) + "}"


def grad_field(r: Record, name: str) -> str:
    """The member of Vjp that takes the gradient of an input: `x_grad`, or `grad_x` where an argument has that name."""
    taken = {a.name for a in (*r.args, *r.outs)} | {f"{o.name}_grad" for o in r.outs}
    return f"grad_{name}" if f"{name}_grad" in taken else f"{name}_grad"
