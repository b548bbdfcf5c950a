"""Finding the rule by what JAX said: whole messages, parts of them, tracebacks, and texts that are no message of JAX."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages.reading import page_of

from pallas_lsp.pages import find_rules_by_message, rule_ids

MESSAGES = [(rule_id, message) for rule_id in rule_ids() for message in page_of(rule_id).jax_messages]
WORDS = st.text("abcdefgh 0123456789(),[]", min_size=1, max_size=20).filter(str.strip)


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("Cannot store scalars to VMEM", "store-scalar-to-vmem"),
        ("ValueError: Cannot store scalars to VMEM\n", "store-scalar-to-vmem"),
        ("cannot store scalars", "store-scalar-to-vmem"),
        ("swap scalars to VMEM", "swap-scalar-to-vmem"),
        ("scalars from SMEM", "load-vector-from-smem"),
        (
            "Invalid shape for `swap`. Ref shape: (8, 128). Expected shape: (8, 128). Value shape: (). Transforms: (). ",
            "store-shape-mismatch",
        ),
        ("Expected shape: (1, 128). Value shape: (128,)", "store-shape-mismatch"),
        ("Ref dtype: bfloat16. Value dtype: float32", "store-dtype-mismatch"),
        ("Ref dtype: dma_sem. Value dtype: int32", "semaphore-used-as-value"),
        ("start=9, dim=8", "slice-out-of-bounds"),
        ("ANY memory space can only be accessed using async_copy", "access-any-or-hbm"),
        ("AttributeError: module 'jax.experimental.pallas.tpu' has no attribute 'repeat'", "removed-api"),
        ("has no attribute 'load'", "removed-api"),
        ("pltpu.HOST was deprecated in JAX v0.10.0, and removed in JAX v0.12.0. Use pl.HOST instead.", "removed-api"),
        ("'AbstractRef' object has no attribute '_mul'", "ref-used-as-array"),
        ("TransposeTransform(permutation=(1, 0))", "ref-transpose"),
        ("jax.errors.TracerBoolConversionError: Attempted boolean conversion of traced array", "dynamic-python-slice"),
        ("AssertionError", "matmul-all-contracted"),
        ("NotImplementedError:", "masked-load"),
        ("jax.errors.NonConcreteBooleanIndexError", "boolean-mask-index"),
        ("INTERNAL: Mosaic failed to compile TPU kernel: Only 32-bit scalar vector.extracts supported.", "narrow-vmem-scalar-load"),
        (
            'Traceback (most recent call last):\n  File "kernel.py", line 12, in kernel\n    o_ref[0, 0] = total\n'
            "ValueError: Cannot store scalars to VMEM\n\nDuring handling of the above exception",
            "store-scalar-to-vmem",
        ),
    ],
)
def test_best(text: str, best: str) -> None:
    assert find_rules_by_message(text)[0] == best


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "8",
        "hello world",
        "the quick brown fox",
        "cannot reshape array of size 10 into shape (3, 3)",
    ],
)
def test_what_jax_did_not_say_of_these_rules_finds_nothing(text: str) -> None:
    assert find_rules_by_message(text) == []


def test_a_long_traceback_takes_no_time() -> None:
    frames = "".join(f'  File "site-packages/jax/_src/core.py", line {n}, in bind: with {n}: pass\n' for n in range(500))
    started = time.process_time()
    assert find_rules_by_message(f"Traceback:\n{frames}ValueError: Can only load scalars from SMEM") == ["load-vector-from-smem"]
    assert time.process_time() - started < 1


def test_what_jax_shows_instead_finds_both_rules() -> None:
    assert find_rules_by_message("Cannot store scalars to VMEM") == ["store-scalar-to-vmem", "swap-scalar-to-vmem"]


@given(st.sampled_from(MESSAGES), st.data())
def test_a_message_with_values_in_its_holes_finds_its_rule(known: tuple[str, str], data: st.DataObject) -> None:
    rule_id, message = known
    pieces = message.split("{")
    filled = pieces[0] + "".join(data.draw(WORDS) + piece.partition("}")[2] for piece in pieces[1:])
    noise = data.draw(st.text("\n xyz=", max_size=30))
    assert rule_id in find_rules_by_message(noise + filled + noise)


@given(st.sampled_from([(rule_id, message) for rule_id, message in MESSAGES if "{" not in message and len(message) > 8]), st.data())
def test_a_part_of_a_message_finds_its_rule(known: tuple[str, str], data: st.DataObject) -> None:
    rule_id, message = known
    length = min(8, len(message))
    start = data.draw(st.integers(0, len(message) - length))
    end = data.draw(st.integers(start + length, len(message)))
    assert rule_id in find_rules_by_message(message[start:end].upper()) or len(message[start:end].strip(" .`'")) < 4


@given(st.text(max_size=200))
def test_any_text_may_be_asked_for(text: str) -> None:
    assert set(find_rules_by_message(text)) <= set(rule_ids())
