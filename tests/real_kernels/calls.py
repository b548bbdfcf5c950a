"""Calls of released kernels, as a person would write them for ``inspect --call``.

JAX's own come from a copy (`recording.copy_of_jax_kernels`): the checker takes a package of the project for what it is, and everything
under ``jax`` for a library. The other packages are tried where they are installed.
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


def _calls(package: str, *entries: tuple[str, str, str]) -> list[RealCall]:
    return [RealCall(f"{package.partition('.')[0]} {name}", f"{package}.{module}" if module else package, text) for name, module, text in entries]


def _gradient(function: str, operands: str, by: str = "(0, 1, 2)") -> str:
    """The gradient of the sum of what the function gives."""
    return f"jax.grad(lambda *x: {function}(*x).astype(jnp.float32).sum(), {by})({operands})"


_QKV = "f32[1,2,512,128], f32[1,2,512,128], f32[1,2,512,128]"
_NARROW = _QKV.replace("f32", "bf16")
_BIAS = "f32[1,2,512,512], SegmentIds(i32[1,512], i32[1,512])"
_PAGES = "bf16[4,{heads},128], bf16[2,64,16,128], bf16[2,64,16,128], i32[4], i32[4,8], pages_per_compute_block=4"
_RAGGED = "bf16[64,{heads},128], bf16[32,16,{pairs},128], i32[8], i32[8,8], i32[9], i32[1], num_kv_pages_per_block=4, num_queries_per_block=16"
_BLOCKS = "block_q=512, block_kv=512, block_kv_compute=512, block_q_dkv=512, block_kv_dkv=512, block_kv_dkv_compute=512"
_SIZES = f"BlockSizes({_BLOCKS}, block_q_dq=512, block_kv_dq=512)"
_FUSED = f"BlockSizes({_BLOCKS}, use_fused_bwd_kernel=True)"
_CAUSAL = "mask_lib.CausalMask((1024, 1024))"
_LOCAL = "mask_lib.LocalMask((1024, 1024), (256, 0), 0)"
_FULL = "mask_lib.FullMask((1024, 1024))"
_HEADS, _ONE_HEAD = "f32[2,1024,128], f32[2,1024,128], f32[2,1024,128]", "f32[2,1024,128], f32[1024,128], f32[1024,128]"


def _splash(mask: str, kind: str = "mha", sizes: str = _SIZES, more: str = "") -> str:
    return f"make_splash_{kind}_single_device(mask_lib.MultiHeadMask([{mask}] * 2), block_sizes={sizes}{more})"


JAX = _calls(
    PACKAGE,
    ("flash_attention", "flash_attention", f"flash_attention({_QKV})"),
    ("flash_attention, causal", "flash_attention", f"flash_attention({_QKV}, causal=True, sm_scale=0.1)"),
    ("flash_attention, bias and segments", "flash_attention", f"flash_attention({_QKV}, {_BIAS})"),
    (
        "flash_attention, one block",
        "flash_attention",
        f"flash_attention({_QKV.replace('1,2,512', '2,2,1024')}, block_sizes=BlockSizes.get_default(2, 2, 1024, 1024, 128))",
    ),
    ("flash_attention, gradients", "flash_attention", _gradient("(lambda q, k, v: flash_attention(q, k, v, causal=True))", _NARROW)),
    (
        "flash_attention, gradients of bias and segments",
        "flash_attention",
        f"jax.grad(lambda q, k, v, ab, s: flash_attention(q, k, v, ab, s).sum(), (0, 1, 2, 3))({_QKV}, {_BIAS})",
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
    ("splash", "splash_attention.splash_attention_kernel", f"{_splash(_CAUSAL)}({_HEADS})"),
    ("splash, one head of keys", "splash_attention.splash_attention_kernel", f"{_splash(_LOCAL, 'mqa')}({_ONE_HEAD})"),
    (
        "splash, full with segments",
        "splash_attention.splash_attention_kernel",
        f"{_splash(_FULL)}({_HEADS}, SegmentIds(i32[1024], i32[1024]))",
    ),
    ("splash, capped", "splash_attention.splash_attention_kernel", f"{_splash(_CAUSAL, more=', attn_logits_soft_cap=5.0')}({_HEADS})"),
    ("splash, gradients", "splash_attention.splash_attention_kernel", _gradient(_splash(_CAUSAL), _HEADS)),
    ("splash, fused gradients", "splash_attention.splash_attention_kernel", _gradient(_splash(_CAUSAL, sizes=_FUSED), _HEADS)),
    (
        "splash, gradients of one head of keys",
        "splash_attention.splash_attention_kernel",
        f"jax.grad(lambda q, k, v, s: {_splash(_LOCAL, 'mqa')}(q, k, v, s).sum(), (0, 1, 2))({_ONE_HEAD}, SegmentIds(i32[1024], i32[1024]))",
    ),
    ("gmm", "megablox.gmm", "gmm(bf16[512,256], bf16[4,256,384], i32[4], jnp.float32, (128, 128, 128))"),
    ("gmm, transposed", "megablox.gmm", "gmm(f32[512,256], f32[4,384,256], i32[4], jnp.float32, (128, 128, 128), transpose_rhs=True)"),
    ("tgmm", "megablox.gmm", "tgmm(bf16[256,512], bf16[512,384], i32[4], jnp.float32, (128, 128, 128))"),
    ("matmul", "matmul", "matmul(bf16[512,1024], bf16[1024,512], block_shape=(256, 256))"),
    ("ragged_paged_attention", "ragged_paged_attention.kernel", f"ragged_paged_attention({_RAGGED.format(heads=8, pairs=4)})"),
    (
        "ragged_paged_attention, capped in a window",
        "ragged_paged_attention.kernel",
        f"ragged_paged_attention({_RAGGED.format(heads=16, pairs=8)}, sliding_window=64, soft_cap=30.0)",
    ),
    ("threefry", "random.threefry", "plthreefry_random_bits(u32[2], 32, (256, 256))"),
    ("philox", "random.philox", "philox_4x32_count(u32[2], (256, 512), offset=0)"),
    ("example_kernel", "example_kernel", "double(f32[8,128])"),
)

_KDA = "f32[2,1,512,128]"
TOKAMAX = _calls(
    "tokamax._src.ops",
    ("gmm", "ragged_dot.pallas_mosaic_tpu_kernel", "gmm(bf16[512,256], bf16[4,256,384], i32[4], lax.Precision.DEFAULT, jnp.dtype('float32'))"),
    ("tgmm", "ragged_dot.pallas_mosaic_tpu_kernel", "tgmm(bf16[256,512], bf16[512,384], i32[4], lax.Precision.DEFAULT, jnp.dtype('float32'))"),
    (
        "kda forward",
        "experimental.kda.pallas_mosaic_tpu_fwd_kernel",
        f"pallas_kda_fwd_intra_fused({_KDA}, {_KDA}, {_KDA}, {_KDA}, f32[2,1,512], 0.1, mini_batch=2)",
    ),
    ("kda states", "experimental.kda.common", f"chunk_gated_delta_rule_fwd_h({_KDA}, {_KDA}, {_KDA}, gk={_KDA})"),
    (
        "kda backward",
        "experimental.kda.pallas_mosaic_tpu_bwd_kernel",
        f"chunk_kda_bwd_dAv_kernel({_KDA}, {_KDA}, {_KDA}, {_KDA}, f32[2,1,512,64], 0.1, mini_batch=2)",
    ),
    (
        "kda recomputed",
        "experimental.kda.pallas_mosaic_tpu_bwd_kernel",
        f"fused_recompute_w_u_vnew_from_h_pallas({_KDA}, {_KDA}, {_KDA}, f32[2,1,512], f32[2,1,512,64], {_KDA}, f32[2,1,8,128,128], mini_batch=8)",
    ),
    (
        "mla",
        "experimental.mla.pallas_mosaic_tpu_kernel",
        "mla_ragged_paged_attention(bf16[64,16,512], bf16[64,16,64], bf16[64,512], bf16[64,64], bf16[64,8,2,640], i32[8], i32[64], i32[9], i32[3], "
        "num_kv_pages_per_block=(4, 4, 4), num_queries_per_block=(8, 8, 8), vmem_limit_bytes=64 << 20)",
    ),
    ("router", "experimental.fused_moe.router_ops", "pallas_select(f32[512,256], topk=8)"),
    *(
        (f"splash, {name}", "experimental.tpu.splash_attention.splash_attention_kernel", text)
        for name, text in (
            ("causal", f"make_splash_mha_single_device({_CAUSAL}, config=SplashConfig({_BLOCKS}))({_HEADS})"),
            ("one head of keys", f"make_splash_mqa_single_device({_LOCAL}, config=SplashConfig({_BLOCKS}))({_ONE_HEAD})"),
            ("gradients", _gradient(f"make_splash_mha_single_device({_CAUSAL}, config=SplashConfig({_BLOCKS}))", _HEADS)),
            ("gradients of one head", _gradient(f"make_splash_mqa_single_device({_LOCAL}, config=SplashConfig({_BLOCKS}))", _ONE_HEAD)),
        )
    ),
)

_CE = "ignore_index=-100, block_v=512, block_m=128"
_KL = "temperature=1.0, block_v=512, block_m=128"
_ROWS = "f32[1,2,512]"
EJKERNEL = _calls(
    "ejkernel.kernels._pallas.tpu",
    (
        "cross entropy",
        "fused_cross_entropy._pallas_impl_fwd",
        f"_ce_fwd_pallas(f32[256,2048], i32[256], f32[256], label_smoothing=0.0, z_loss=0.0, {_CE})",
    ),
    ("cross entropy, sharded", "fused_cross_entropy._pallas_impl_fwd", f"_ce_tp_stats_pallas(f32[256,2048], i32[256], f32[256], {_CE})"),
    (
        "cross entropy, backward",
        "fused_cross_entropy._pallas_impl_bwd",
        f"_ce_bwd_pallas(f32[256,2048], f32[256], i32[256], f32[256], f32[256], label_smoothing=0.0, z_loss=0.0, {_CE})",
    ),
    ("kl", "fused_kl_divergence._pallas_impl_fwd", f"_kl_fwd_pallas(f32[256,2048], f32[256,2048], f32[256], direction='forward', {_KL})"),
    ("kl, sharded", "fused_kl_divergence._pallas_impl_fwd", f"_kl_tp_lse_stats_pallas(f32[256,2048], f32[256,2048], f32[256], {_KL})"),
    (
        "kl, backward",
        "fused_kl_divergence._pallas_impl_bwd",
        f"_kl_bwd_pallas(f32[256,2048], f32[256,2048], f32[256], f32[256], f32[256], f32[256], f32[256], direction='forward', {_KL})",
    ),
    (
        "flash",
        "flash_attention._pallas_impl_fwd",
        f"_flash_attention_impl({_QKV}, None, None, False, True, 0.1, None, None, 1, 256, 512, 512)",
    ),
    (
        "flash, capped in a window",
        "flash_attention._pallas_impl_fwd",
        f"_flash_attention_impl({_QKV}, None, None, True, True, 0.1, (128, 0), 20.0, 1, 256, 512, 512)",
    ),
    (
        "flash, dkv",
        "flash_attention._pallas_impl_bwd",
        f"_flash_attention_bwd_dkv({_QKV}, None, None, {_ROWS}, {_ROWS}, f32[1,2,512,128], {_ROWS}, block_q_major=256, block_q=256, "
        "block_k_major=256, block_k=256, softmax_scale=0.1, sliding_window=None, logits_soft_cap=None, causal=True)",
    ),
    (
        "flash, dq",
        "flash_attention._pallas_impl_bwd",
        f"_flash_attention_bwd_dq({_QKV}, None, None, {_ROWS}, {_ROWS}, f32[1,2,512,128], {_ROWS}, block_q_major=256, block_k_major=256, "
        "block_k=256, softmax_scale=0.1, sliding_window=None, logits_soft_cap=None, causal=True, mask_value=-1e30)",
    ),
    ("gmm", "grouped_matmul._pallas_impl", "grouped_matmul(f32[512,256], f32[4,256,384], i32[4])"),
    ("tgmm", "grouped_matmul._pallas_impl", "transposed_grouped_matmul(f32[256,512], f32[512,384], i32[4])"),
    ("gmm 2", "grouped_matmulv2._pallas_impl", "grouped_matmul(f32[512,256], f32[4,256,384], i32[4], jnp.float32)"),
    ("gmm 3", "grouped_matmulv3._interface", "grouped_matmulv3(bf16[512,256], bf16[4,256,384], i32[4])"),
    (
        "pages",
        "page_attention._interface",
        "page_attention(bf16[4,8,128], bf16[2,64,16,128], bf16[2,64,16,128], i32[4], i32[4,8], pages_per_compute_block=4)",
    ),
    (
        "pages, prefill",
        "prefill_page_attention._interface",
        "prefill_page_attention(bf16[128,8,128], bf16[2,64,16,128], bf16[2,64,16,128], i32[1], i32[8])",
    ),
    ("ragged pages", "ragged_page_attention_v2._interface", f"ragged_page_attention_v2({_RAGGED.format(heads=8, pairs=4)})"),
    (
        "ragged decode",
        "ragged_decode_attention._pallas_impl_fwd",
        "inner_decode_tpu(f32[4,8,128], f32[4,1024,2,128], f32[4,1024,2,128], i32[4], i32[4], 0.1)",
    ),
    (
        "delta rule, step",
        "gated_delta_rule._pallas_impl_fwd",
        "_run_single_step_forward(f32[2,4,1,128], f32[2,4,1,128], f32[2,4,1,128], f32[2,4,1], f32[2,4,1], f32[2,4,128,128])",
    ),
    (
        "matmul",
        "quantized_matmul._pallas_impl_core",
        "pallas_dense_matmul(f32[256,256], f32[256,256], transpose_rhs=False, block_m=128, block_n=128, block_k=128)",
    ),
)

_SIX = ", ".join(["f32[1,512,2,128]"] * 6)
SMALLER = [
    *_calls(
        "deltanet_tpu",
        ("gdn2", "gdn2", f"chunk_gdn2({_SIX})"),
        ("gdn2, final state", "gdn2", f"chunk_gdn2({_SIX}, output_final_state=True)"),
        ("gdn2, normalised", "gdn2", f"chunk_gdn2({_SIX}, qk_l2norm=True)"),
    ),
    *_calls(
        "atomic_ops",
        ("gdn2", "gdn2_fwd", f"gdn2_pallas_forward({_SIX}, 0.1)"),
        ("gdn2, residuals", "gdn2_fwd", f"gdn2_pallas_forward_with_residuals({_SIX}, 0.1)"),
    ),
    *_calls(
        "pallas_forge.kernels",
        ("rmsnorm", "rmsnorm", "fused_rmsnorm_residual(f32[512,1024], f32[512,1024], f32[1024], block_size=128)"),
        ("swiglu", "swiglu", "fused_swiglu(f32[512,1024], f32[1024,512], f32[1024,512])"),
        ("geglu", "swiglu", "fused_geglu(f32[512,1024], f32[1024,512], f32[1024,512])"),
        ("matmul", "matmul", "tiled_matmul(f32[512,1024], f32[1024,512])"),
    ),
]

OTHERS = [*TOKAMAX, *EJKERNEL, *SMALLER]
