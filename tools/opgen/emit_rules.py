"""phi/rules_<family>.{h,cc}: what each operator's C++ rules read and write, and the glue to OpCall and VjpCall."""

from __future__ import annotations

from .derive import grad_field
from .emit_api import HEAD, result_type
from .kinds import DTYPES, cpp_name
from .schema import Record
from .signature import Arg

DTYPE_BITS = {name: i for i, name in enumerate([
    "undefined", "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16",
    "bfloat16",
    "float32", "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
])}  # fmt: skip  # in the order of tensor/dtype.h; rules_<family>.cc asserts it
ALL_CHECKED = set(DTYPES)


def public_args(r: Record) -> bool:
    """Rules and kernels read the arguments of everything that is not just an expression."""
    return bool(r.rules & {"shape", "decompose"}) or r.prog is None


def header(family: str, records: list[Record]) -> str:
    out = [HEAD.format(family), "// What the rules in src/phi/rules/" + family + ".cc read and write.\n",
           f'#pragma once\n#include "api/ops_{family}.h"\n#include "phi/rules/glue.h"\n\n']  # fmt: skip
    for r in records:
        if not r.rules and not public_args(r):
            continue
        out.append(f"namespace paddle::rules::{cpp_name(r.name)} {{\n")
        if public_args(r):
            out.append(args_struct(r))
        if "shape" in r.rules:
            metas = ", ".join(
                f"{'std::vector<TensorMeta>&' if o.kind.is_list else 'TensorMeta&'} {cpp_name(o.name)}" for o in r.outs
            )
            out.append(f"void shape(const Args& a, {metas});\n")
        if "decompose" in r.rules:
            result = result_type(r)
            out.append(f"{'ops::' if len(r.outs) > 1 else ''}{result} decompose(const Args& a);\n")
        if "vjp" in r.rules:
            out.append(vjp_struct(r) + "void vjp(Vjp& v);\n")
        out.append(f"}}  // namespace paddle::rules::{cpp_name(r.name)}\n\n")
    return "".join(out)


def source(family: str, records: list[Record]) -> str:
    out = [HEAD.format(family), f'#include "phi/rules_{family}.h"\n\n#include "api/ops.h"\n',
           '#include "phi/rules/compose.h"\n#include "phi/rules/infer.h"\n\nnamespace paddle::rules {\n']  # fmt: skip
    out.append(
        f"static_assert(static_cast<int>(DType::kFloat8E5M2) == {DTYPE_BITS['float8_e5m2']} && "
        f"static_cast<int>(DType::kFloat32) == {DTYPE_BITS['float32']});\n\n"
    )
    for r in records:
        out.append(f"namespace {cpp_name(r.name)} {{\n")
        local = ""
        if not public_args(r):
            local += args_struct(r)
        if r.vjp_source is not None:
            body = "".join(f"  {line}\n" for line in r.vjp_source.split("\n"))
            local += vjp_struct(r) + f"[[maybe_unused]] void vjp(Vjp& v) {{\n{body}}}\n"
        out.append(f"namespace {{\n{local}}}  // namespace\n" if local else "")
        out.append(f"}}  // namespace {cpp_name(r.name)}\n")
        out.append("namespace glue {\n" + meta_glue(r))
        if "decompose" in r.rules:
            out.append(decompose_glue(r))
        if r.has_vjp:
            out.append(vjp_glue(r))
        out.append("}  // namespace glue\n\n")
    out.append("}  // namespace paddle::rules\n")
    return "".join(out)


def args_struct(r: Record) -> str:
    if not r.args:
        return "struct Args {\n  explicit Args(const OpCall&) {}\n};\n"
    inits = ", ".join(f"{cpp_name(a.name)}({a.kind.get.replace('$', f'c.args[{i}]')})" for i, a in enumerate(r.args))
    fields = "".join(f"  {a.kind.field} {cpp_name(a.name)};\n" for a in r.args)
    return f"struct Args {{\n  explicit Args(const OpCall& c) : {inits} {{}}\n{fields}}};\n"


def _saved_field(a: Arg) -> tuple[str, str]:
    """(C++ type, getter) of a saved tensor."""
    if a.saved == "kValue":
        return a.kind.field, a.kind.get
    return ("std::vector<TensorMeta>", "metas_of($)") if a.kind.is_list else ("TensorMeta", "meta_of($)")


def gradient_outs(r: Record) -> list[tuple[int, Arg]]:
    return [(i, o) for i, o in enumerate(r.outs) if not o.intermediate and not o.nondifferentiable]


def gradient_args(r: Record) -> list[tuple[int, Arg]]:
    return [(i, a) for i, a in enumerate(r.args) if a.kind.tensor and not a.nondifferentiable]


def vjp_struct(r: Record) -> str:
    """Only what `saves` names is a member, so that reading anything else does not compile."""
    members: list[tuple[str, str, str]] = []
    for i, a in enumerate(r.args):
        if not a.kind.tensor:
            members.append((a.kind.field, cpp_name(a.name), a.kind.get.replace("$", f"c.args[{i}]")))
        elif a.saved != "kNo":
            kind, get = _saved_field(a)
            members.append((kind, cpp_name(a.name), get.replace("$", f"c.args[{i}]")))
    for i, o in enumerate(r.outs):
        if o.saved != "kNo":
            kind, get = _saved_field(o)
            members.append((kind, cpp_name(o.name), get.replace("$", f"c.outs[{i}]")))
    for i, o in gradient_outs(r):
        members.append((o.kind.field, f"{o.name}_grad", o.kind.get.replace("$", f"c.out_grads[{i}]")))
    for i, a in gradient_args(r):
        members.append(("bool", f"need_{a.name}", f"c.needs[{i}] != 0"))
    inits = ", ".join(f"{name}({get})" for _, name, get in members)
    fields = "".join(f"  {kind} {name};\n" for kind, name, _ in members)
    results = "".join(
        f"  {'Tensors' if a.kind.is_list else 'Tensor'} {grad_field(r, a.name)};\n" for _, a in gradient_args(r)
    )
    colon = f" : {inits}" if inits else ""
    head = f"struct Vjp {{\n  explicit Vjp(const VjpCall& c){colon} {{}}\n"
    return f"{head}{fields}  // to fill in; undefined is zero\n{results}}};\n"


def meta_glue(r: Record) -> str:
    op = f'"{r.name}"'
    lines = []
    for i, a in enumerate(r.args):
        if a.kind.text == "Tensor":
            lines.append(f'infer::present({op}, "{a.name}", a.{cpp_name(a.name)});')
    if r.dtype:
        first = r.tensors[0] if r.tensors else None
        for name in r.dtype.checks:
            accepted = set(r.dtype.accepted(name))
            arg = r.args[r.arg_index(name)]
            if accepted >= ALL_CHECKED:
                continue
            mask = sum(1 << DTYPE_BITS[d] for d in accepted)
            many = "s" if arg.kind.is_list else ""
            lines.append(f'infer::check_dtype{many}({op}, "{name}", a.{cpp_name(name)}, {mask:#x}u);')
        for name in r.dtype.alike:
            if first is not None and name != first.name:
                lines.append(
                    f'infer::check_alike({op}, "{name}", a.{cpp_name(name)}, "{first.name}", a.{cpp_name(first.name)});'
                )
    if len(r.outs) > 1:
        lines.append(f"c.meta({len(r.outs) - 1});")
    names = []
    for i, o in enumerate(r.outs):
        variable = f"{o.name}_meta"
        if o.kind.is_list:
            lines.append(f"std::vector<TensorMeta>& {variable} = c.list_metas;")
        else:
            lines.append(f"TensorMeta& {variable} = c.meta({i});")
            if r.dtype:
                lines.append(f"{variable}.dtype = {r.dtype.results[o.name]};")
        names.append(variable)
        if r.shape:
            lines.append(f"infer::set_shape({variable}, {r.shape[o.name]});")
    if "shape" in r.rules:
        lines.append(f"rules::{cpp_name(r.name)}::shape(a, {', '.join(names)});")
    for o in r.outs:
        if o.kind.is_list and r.dtype:
            lines.append(f"infer::set_dtypes({o.name}_meta, {r.dtype.results[o.name]});")
    lines.append("c.metas_ready = true;")
    body = "".join(f"  {line}\n" for line in lines)
    return (
        f"void meta_{r.name}(OpCall& c) {{\n  [[maybe_unused]] const rules::{cpp_name(r.name)}::Args a(c);\n{body}}}\n"
    )


def decompose_glue(r: Record) -> str:
    call = f"rules::{cpp_name(r.name)}::decompose(rules::{cpp_name(r.name)}::Args(c))"
    if len(r.outs) == 1:
        body = f"  c.out0.{'list' if r.outs[0].kind.is_list else 'tensor'} = {call};\n"
    else:
        body = f"  auto result = {call};\n" + "".join(
            f"  c.out_slot({i}).{'list' if o.kind.is_list else 'tensor'} = std::move(result.{cpp_name(o.name)});\n"
            for i, o in enumerate(r.outs)
        )
    return f"void decompose_{r.name}(OpCall& c) {{\n{body}}}\n"


def vjp_glue(r: Record) -> str:
    stores = "".join(
        f"  c.in_grads[{i}].{'list' if a.kind.is_list else 'tensor'} = std::move(v.{grad_field(r, a.name)});\n"
        for i, a in gradient_args(r)
    )
    name = cpp_name(r.name)
    return (
        f"void vjp_{r.name}(VjpCall& c) {{\n  rules::{name}::Vjp v(c);\n  rules::{name}::vjp(v);\n"
        f"  if (c.in_grads.size() < {len(r.args)}) c.in_grads.resize({len(r.args)});\n{stores}}}\n"
    )
