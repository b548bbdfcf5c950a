"""Calls of released kernels, as a person would write them for ``inspect --call``.

JAX's own come from a copy (`recording.copy_of_jax_kernels`): the checker takes a package of the project for what it is, and everything
under ``jax`` for a library. Those of other packages are in `package_calls`.
"""

from __future__ import annotations

from dataclasses import dataclass

PACKAGE = "tpu_kernels"


@dataclass(frozen=True)
class RealCall:
    """A call in the module ``module``."""

    name: str
    module: str
    text: str

    @property
    def package(self) -> str:
        """The package that the module is in."""
        return self.module.partition(".")[0]


def calls(package: str, *entries: tuple[str, str, str]) -> list[RealCall]:
    return [RealCall(f"{package.partition('.')[0]} {name}", f"{package}.{module}" if module else package, text) for name, module, text in entries]


def gradient(function: str, operands: str, by: str = "(0, 1, 2)") -> str:
    """The gradient of the sum of what the function gives."""
    return f"jax.grad(lambda *x: {function}(*x).astype(jnp.float32).sum(), {by})({operands})"


QKV = "f32[1,2,512,128], f32[1,2,512,128], f32[1,2,512,128]"
_NARROW = QKV.replace("f32", "bf16")
_BIAS = "f32[1,2,512,512], SegmentIds(i32[1,512], i32[1,512])"
_PAGES = "bf16[4,{heads},128], bf16[2,64,16,128], bf16[2,64,16,128], i32[4], i32[4,8], pages_per_compute_block=4"
RAGGED = "bf16[64,{heads},128], bf16[32,16,{pairs},128], i32[8], i32[8,8], i32[9], i32[1], num_kv_pages_per_block=4, num_queries_per_block=16"
BLOCKS = "block_q=512, block_kv=512, block_kv_compute=512, block_q_dkv=512, block_kv_dkv=512, block_kv_dkv_compute=512"
_SIZES = f"BlockSizes({BLOCKS}, block_q_dq=512, block_kv_dq=512)"
_FUSED = f"BlockSizes({BLOCKS}, use_fused_bwd_kernel=True)"
CAUSAL = "mask_lib.CausalMask((1024, 1024))"
LOCAL = "mask_lib.LocalMask((1024, 1024), (256, 0), 0)"
_FULL = "mask_lib.FullMask((1024, 1024))"
HEADS, ONE_HEAD = "f32[2,1024,128], f32[2,1024,128], f32[2,1024,128]", "f32[2,1024,128], f32[1024,128], f32[1024,128]"


def _splash(mask: str, kind: str = "mha", sizes: str = _SIZES, more: str = "") -> str:
    return f"make_splash_{kind}_single_device(mask_lib.MultiHeadMask([{mask}] * 2), block_sizes={sizes}{more})"


JAX = calls(
    PACKAGE,
    ("flash_attention", "flash_attention", f"flash_attention({QKV})"),
    ("flash_attention, causal", "flash_attention", f"flash_attention({QKV}, causal=True, sm_scale=0.1)"),
    ("flash_attention, bias and segments", "flash_attention", f"flash_attention({QKV}, {_BIAS})"),
    (
        "flash_attention, one block",
        "flash_attention",
        f"flash_attention({QKV.replace('1,2,512', '2,2,1024')}, block_sizes=BlockSizes.get_default(2, 2, 1024, 1024, 128))",
    ),
    ("flash_attention, gradients", "flash_attention", gradient("(lambda q, k, v: flash_attention(q, k, v, causal=True))", _NARROW)),
    (
        "flash_attention, gradients of bias and segments",
        "flash_attention",
        f"jax.grad(lambda q, k, v, ab, s: flash_attention(q, k, v, ab, s).sum(), (0, 1, 2, 3))({QKV}, {_BIAS})",
    ),
    *(
        (f"paged_attention, {name}", "paged_attention.paged_attention_kernel", f"paged_attention({_PAGES.format(heads=heads)}{more})")
        for name, heads, more in (
            ("groups", 8, ""),
            ("no inlined sequence", 8, ", inline_seq_dim=False"),
            ("capped", 16, ", attn_logits_soft_cap=1.0"),
            ("cores over heads", 8, ", megacore_mode='kv_head'"),
            ("cores over batch", 8, ", megacore_mode='batch'"),
        )
    ),
    ("splash", "splash_attention.splash_attention_kernel", f"{_splash(CAUSAL)}({HEADS})"),
    ("splash, one head of keys", "splash_attention.splash_attention_kernel", f"{_splash(LOCAL, 'mqa')}({ONE_HEAD})"),
    (
        "splash, full with segments",
        "splash_attention.splash_attention_kernel",
        f"{_splash(_FULL)}({HEADS}, SegmentIds(i32[1024], i32[1024]))",
    ),
    ("splash, capped", "splash_attention.splash_attention_kernel", f"{_splash(CAUSAL, more=', attn_logits_soft_cap=5.0')}({HEADS})"),
    ("splash, gradients", "splash_attention.splash_attention_kernel", gradient(_splash(CAUSAL), HEADS)),
    ("splash, fused gradients", "splash_attention.splash_attention_kernel", gradient(_splash(CAUSAL, sizes=_FUSED), HEADS)),
    (
        "splash, gradients of one head of keys",
        "splash_attention.splash_attention_kernel",
        f"jax.grad(lambda q, k, v, s: {_splash(LOCAL, 'mqa')}(q, k, v, s).sum(), (0, 1, 2))({ONE_HEAD}, SegmentIds(i32[1024], i32[1024]))",
    ),
    ("gmm", "megablox.gmm", "gmm(bf16[512,256], bf16[4,256,384], i32[4], jnp.float32, (128, 128, 128))"),
    ("gmm, transposed", "megablox.gmm", "gmm(f32[512,256], f32[4,384,256], i32[4], jnp.float32, (128, 128, 128), transpose_rhs=True)"),
    ("tgmm", "megablox.gmm", "tgmm(bf16[256,512], bf16[512,384], i32[4], jnp.float32, (128, 128, 128))"),
    ("matmul", "matmul", "matmul(bf16[512,1024], bf16[1024,512], block_shape=(256, 256))"),
    ("ragged_paged_attention", "ragged_paged_attention.kernel", f"ragged_paged_attention({RAGGED.format(heads=8, pairs=4)})"),
    (
        "ragged_paged_attention, capped in a window",
        "ragged_paged_attention.kernel",
        f"ragged_paged_attention({RAGGED.format(heads=16, pairs=8)}, sliding_window=64, soft_cap=30.0)",
    ),
    ("threefry", "random.threefry", "plthreefry_random_bits(u32[2], 32, (256, 256))"),
    ("philox", "random.philox", "philox_4x32_count(u32[2], (256, 512), offset=0)"),
    ("example_kernel", "example_kernel", "double(f32[8,128])"),
)
