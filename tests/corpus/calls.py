"""Calls of JAX's own TPU kernels, each a module of its own with ``run`` and ``ARGS``.

They import the kernels from `PACKAGE`, a copy of the folder ``jax/experimental/pallas/ops/tpu`` that `recording.copy_of_jax_kernels` makes:
the checker takes a package of the project for what it is, and everything under ``jax`` for a library.
"""

from __future__ import annotations

PACKAGE = "tpu_kernels"

_MODULE = """\
import jax
import jax.numpy as jnp
{imports}

def S(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)

I32, BF16 = jnp.int32, jnp.bfloat16
{before}
run = {run}
ARGS = [{args}]

if __name__ == "__main__":
    jax.jit(run).lower(*ARGS)
"""

_OPS = f"from {PACKAGE}"
_FLASH = f"{_OPS} import flash_attention as m"
_SPLASH = f"{_OPS}.splash_attention import splash_attention_kernel as m, splash_attention_mask as masks"
_QKV = "S(1, 2, 512, 128), S(1, 2, 512, 128), S(1, 2, 512, 128)"
_PAGES = "S(4, 8, 128, dtype=BF16), S(2, 64, 16, 128, dtype=BF16), S(2, 64, 16, 128, dtype=BF16), S(4, dtype=I32), S(4, 8, dtype=I32)"
_SIZES = (
    "sizes = m.BlockSizes(block_q=512, block_kv=512, block_kv_compute=512, block_q_dkv=512, block_kv_dkv=512, block_kv_dkv_compute=512, block_q_dq=512, block_kv_dq=512)\n"
    "mask = masks.MultiHeadMask([masks.{mask}] * 2)\nattend = m.make_splash_{kind}_single_device(mask, block_sizes=sizes)"
)
_HEADS = "S(2, 1024, 128), S(2, 1024, 128), S(2, 1024, 128)"


def _module(imports: str, run: str, args: str, before: str = "") -> str:
    return _MODULE.format(imports=imports, run=run, args=args, before=before)


CALLS: dict[str, str] = {
    "flash_attention": _module(_FLASH, "m.flash_attention", _QKV),
    "flash_attention, causal": _module(_FLASH, "lambda q, k, v: m.flash_attention(q, k, v, causal=True, sm_scale=0.1)", _QKV),
    "flash_attention, bias and segments": _module(
        _FLASH, "lambda q, k, v, ab, s: m.flash_attention(q, k, v, ab, m.SegmentIds(s, s))", f"{_QKV}, S(1, 2, 512, 512), S(1, 512, dtype=I32)"
    ),
    "flash_attention, gradients": _module(
        _FLASH, "jax.grad(lambda q, k, v: m.flash_attention(q, k, v, causal=True).astype(jnp.float32).sum(), (0, 1, 2))", _QKV.replace("128)", "128, dtype=BF16)")
    ),
    "matmul": _module(
        f"{_OPS} import matmul as m", "lambda x, y: m.matmul(x, y, block_shape=(256, 256))", "S(512, 1024, dtype=BF16), S(1024, 512, dtype=BF16)"
    ),
    "megablox gmm": _module(
        f"{_OPS}.megablox.gmm import gmm, tgmm",
        "lambda a, b, s: gmm(a, b, s, jnp.float32, (128, 128, 128))",
        "S(512, 256, dtype=BF16), S(4, 256, 384, dtype=BF16), S(4, dtype=I32)",
    ),
    "megablox tgmm": _module(
        f"{_OPS}.megablox.gmm import gmm, tgmm",
        "lambda a, b, s: tgmm(a, b, s, jnp.float32, (128, 128, 128))",
        "S(256, 512, dtype=BF16), S(512, 384, dtype=BF16), S(4, dtype=I32)",
    ),
    "paged_attention": _module(
        f"{_OPS}.paged_attention import paged_attention_kernel as m",
        "lambda q, k, v, lengths, pages: m.paged_attention(q, k, v, lengths, pages, pages_per_compute_block=4)",
        _PAGES,
    ),
    "paged_attention, no inlined sequence": _module(
        f"{_OPS}.paged_attention import paged_attention_kernel as m",
        "lambda q, k, v, lengths, pages: m.paged_attention(q, k, v, lengths, pages, pages_per_compute_block=4, inline_seq_dim=False)",
        _PAGES,
    ),
    "ragged_paged_attention": _module(
        f"{_OPS}.ragged_paged_attention import kernel as m",
        "lambda q, kv, lens, pages, cu, n: m.ragged_paged_attention(q, kv, lens, pages, cu, n, num_kv_pages_per_block=4, num_queries_per_block=16)",
        "S(64, 8, 128, dtype=BF16), S(32, 16, 4, 128, dtype=BF16), S(8, dtype=I32), S(8, 8, dtype=I32), S(9, dtype=I32), S(1, dtype=I32)",
    ),
    "splash_attention": _module(_SPLASH, "lambda q, k, v: attend(q, k, v)", _HEADS, _SIZES.format(mask="CausalMask((1024, 1024))", kind="mha")),
    "splash_attention, one head of keys, segments": _module(
        _SPLASH,
        "lambda q, k, v, s: attend(q, k, v, m.SegmentIds(s, s))",
        "S(2, 1024, 128), S(1024, 128), S(1024, 128), S(1024, dtype=I32)",
        _SIZES.format(mask="LocalMask((1024, 1024), (256, 0), 0)", kind="mqa"),
    ),
    "splash_attention, gradients": _module(
        _SPLASH, "jax.grad(lambda q, k, v: attend(q, k, v).sum(), (0, 1, 2))", _HEADS, _SIZES.format(mask="CausalMask((1024, 1024))", kind="mha")
    ),
    "philox": _module(
        f"{_OPS}.random import philox as m", "lambda key: m.philox_4x32_count(key, (256, 512), offset=0)", "S(2, dtype=jnp.uint32)"
    ),
    "example_kernel": _module(f"{_OPS} import example_kernel as m", "m.double", "S(8, 128)"),
}  # fmt: skip
