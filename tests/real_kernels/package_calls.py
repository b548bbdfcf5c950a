"""Calls of kernels of other packages, tried where these are installed."""

from __future__ import annotations

from real_kernels.calls import BLOCKS, CAUSAL, HEADS, LOCAL, ONE_HEAD, QKV, RAGGED, calls, gradient

_KDA = "f32[2,1,512,128]"
_TILES = "b_block_size=256, h_block_size=256, v_block_size=256"
TOKAMAX = calls(
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
    ("gmm 2", "experimental.gmm_v2.gmm_v2", "gmm_v2(bf16[512,512], bf16[4,512,512], i32[4])"),
    (
        "tgmm 2",
        "experimental.gmm_v2.tgmm_v2",
        "tgmm_v2(bf16[512,512], bf16[512,512], i32[4], num_actual_groups=4, preferred_element_type=jnp.float32)",
    ),
    (
        "linear cross entropy",
        "linear_softmax_cross_entropy_loss.pallas_mosaic_tpu_kernel",
        f"linear_softmax_cross_entropy_loss_fwd_pallas_mosaic_tpu(f32[512,512], i32[512], f32[512,1024], {_TILES})",
    ),
    (
        "linear cross entropy, backward",
        "linear_softmax_cross_entropy_loss.pallas_mosaic_tpu_kernel",
        f"linear_softmax_cross_entropy_loss_bwd_pallas_mosaic_tpu(f32[], f32[512], f32[512,512], i32[512], f32[512,1024], {_TILES})",
    ),
    ("transpose", "experimental.mla.v2.transpose", "xpose_pipeline(bf16[16,256,512], transpose_axes=(1, 0, 2))"),
    ("router", "experimental.fused_moe.router_ops", "pallas_select(f32[512,256], topk=8)"),
    *(
        (f"splash, {name}", "experimental.tpu.splash_attention.splash_attention_kernel", text)
        for name, text in (
            ("causal", f"make_splash_mha_single_device({CAUSAL}, config=SplashConfig({BLOCKS}))({HEADS})"),
            ("one head of keys", f"make_splash_mqa_single_device({LOCAL}, config=SplashConfig({BLOCKS}))({ONE_HEAD})"),
            ("gradients", gradient(f"make_splash_mha_single_device({CAUSAL}, config=SplashConfig({BLOCKS}))", HEADS)),
            ("gradients of one head", gradient(f"make_splash_mqa_single_device({LOCAL}, config=SplashConfig({BLOCKS}))", ONE_HEAD)),
        )
    ),
)

_CE = "ignore_index=-100, block_v=512, block_m=128"
_KL = "temperature=1.0, block_v=512, block_m=128"
_ROWS = "f32[1,2,512]"
_LATENT = (
    "bf16[64,16,512], bf16[64,16,64], bf16[64,512], bf16[64,64], bf16[64,8,2,640], i32[8], i32[64], i32[9], i32[3], "
    "num_kv_pages_per_block=4, num_queries_per_block=8, vmem_limit_bytes=64 << 20"
)
EJKERNEL = calls(
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
        f"_flash_attention_impl({QKV}, None, None, False, True, 0.1, None, None, 1, 256, 512, 512)",
    ),
    (
        "flash, capped in a window",
        "flash_attention._pallas_impl_fwd",
        f"_flash_attention_impl({QKV}, None, None, True, True, 0.1, (128, 0), 20.0, 1, 256, 512, 512)",
    ),
    (
        "flash, one block",
        "flash_attention._pallas_impl_fwd",
        f"_flash_attention_impl({QKV}, None, None, True, False, 0.1, None, None, 1, 512, 512, 512)",
    ),
    (
        "flash, dkv",
        "flash_attention._pallas_impl_bwd",
        f"_flash_attention_bwd_dkv({QKV}, None, None, {_ROWS}, {_ROWS}, f32[1,2,512,128], {_ROWS}, block_q_major=256, block_q=256, "
        "block_k_major=256, block_k=256, softmax_scale=0.1, sliding_window=None, logits_soft_cap=None, causal=True)",
    ),
    (
        "flash, dq",
        "flash_attention._pallas_impl_bwd",
        f"_flash_attention_bwd_dq({QKV}, None, None, {_ROWS}, {_ROWS}, f32[1,2,512,128], {_ROWS}, block_q_major=256, block_k_major=256, "
        "block_k=256, softmax_scale=0.1, sliding_window=None, logits_soft_cap=None, causal=True, mask_value=-1e30)",
    ),
    ("gmm", "grouped_matmul._pallas_impl", "grouped_matmul(f32[512,256], f32[4,256,384], i32[4])"),
    ("tgmm", "grouped_matmul._pallas_impl", "transposed_grouped_matmul(f32[256,512], f32[512,384], i32[4])"),
    ("gmm, transposed", "grouped_matmul._pallas_impl", "grouped_matmul(f32[512,256], f32[4,384,256], i32[4], transpose_rhs=True)"),
    ("gmm 2", "grouped_matmulv2._pallas_impl", "grouped_matmul(f32[512,256], f32[4,256,384], i32[4], jnp.float32)"),
    ("tgmm 2", "grouped_matmulv2._pallas_impl", "transposed_grouped_matmul(f32[256,512], f32[512,384], i32[4], jnp.float32)"),
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
    ("ragged pages", "ragged_page_attention_v2._interface", f"ragged_page_attention_v2({RAGGED.format(heads=8, pairs=4)})"),
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
        "delta rule, step backward",
        "gated_delta_rule._pallas_impl_bwd",
        "_run_single_step_backward(f32[2,4,1,128], f32[2,4,1,128], f32[2,4,1,128], f32[2,4,1], f32[2,4,1], f32[2,4,128,128], "
        "f32[2,4,1,128], f32[2,4,128,128])",
    ),
    (
        "ragged delta rule",
        "ragged_gated_delta_rule._pallas_impl_fwd",
        "run_ragged_gdr_decode_pallas(f32[8,4,128], f32[8,4,128], f32[8,4,128], f32[8,4], f32[8,4], f32[8,4,128,128])",
    ),
    (
        "mla",
        "multi_latent_ragged_page_attention._pallas_impl_fwd",
        f"mla_ragged_paged_attention({_LATENT})",
    ),
    (
        "mla 2",
        "multi_latent_ragged_page_attention_v2._pallas_impl_fwd",
        f"_mla_ragged_paged_attention_v2_impl({_LATENT})",
    ),
    (
        "ragged pages 3",
        "ragged_page_attention_v3._pallas_impl_fwd",
        "ragged_paged_attention(bf16[64,8,128], bf16[64,2,128], bf16[64,2,128], bf16[32,16,2,2,128], i32[8], i32[64], i32[9], i32[3], "
        "num_kv_pages_per_block=4, num_queries_per_block=16)",
    ),
    (
        "matmul, transposed",
        "quantized_matmul._pallas_impl_core",
        "pallas_dense_matmul(f32[256,256], f32[256,256], transpose_rhs=True, block_m=128, block_n=128, block_k=128)",
    ),
    (
        "matmul",
        "quantized_matmul._pallas_impl_core",
        "pallas_dense_matmul(f32[256,256], f32[256,256], transpose_rhs=False, block_m=128, block_n=128, block_k=128)",
    ),
)

_TOKENS = "bf16[1,512,4,128], bf16[1,512,4,128], bf16[1,512,4,128]"
_ALL_SIX = "(0, 1, 2, 3, 4, 5)"
_SIX = ", ".join(["f32[1,512,2,128]"] * 6)
SMALLER = [
    *calls(
        "deltanet_tpu",
        ("gdn2", "gdn2", f"chunk_gdn2({_SIX})"),
        ("gdn2, final state", "gdn2", f"chunk_gdn2({_SIX}, output_final_state=True)"),
        ("gdn2, gradients", "gdn2", f"jax.grad(lambda *x: jnp.sum(chunk_gdn2(*x)[0]), {_ALL_SIX})({_SIX})"),
        ("gdn2, normalised", "gdn2", f"chunk_gdn2({_SIX}, qk_l2norm=True)"),
    ),
    *calls(
        "atomic_ops",
        ("gdn2", "gdn2_fwd", f"gdn2_pallas_forward({_SIX}, 0.1)"),
        ("gdn2, gradients", "gdn2_pipeline", f"jax.grad(lambda *x: jnp.sum(gdn2_pallas_forward_trainable(*x, 0.1)[0]), {_ALL_SIX})({_SIX})"),
        ("gdn2, residuals", "gdn2_fwd", f"gdn2_pallas_forward_with_residuals({_SIX}, 0.1)"),
    ),
    *calls(
        "flywheel_tpu",
        ("flash", "flash_attn_interface", f"flash_attn_func({_TOKENS}, causal=True)"),
        ("flash, windowed", "flash_attn_interface", f"flash_attn_func({_TOKENS}, window_size=(128, 0), softcap=10.0)"),
        (
            "flash, gradients",
            "flash_attn_interface",
            gradient("(lambda q, k, v: flash_attn_func(q, k, v, causal=True))", _TOKENS),
        ),
        (
            "cache",
            "flash_attn_interface",
            "flash_attn_with_kvcache(bf16[4,1,8,128], bf16[4,1024,2,128], bf16[4,1024,2,128], cache_seqlens=i32[4])",
        ),
    ),
    *calls(
        "pallas_forge.kernels",
        ("rmsnorm", "rmsnorm", "fused_rmsnorm_residual(f32[512,1024], f32[512,1024], f32[1024], block_size=128)"),
        ("swiglu", "swiglu", "fused_swiglu(f32[512,1024], f32[1024,512], f32[1024,512])"),
        ("geglu", "swiglu", "fused_geglu(f32[512,1024], f32[1024,512], f32[1024,512])"),
        ("matmul", "matmul", "tiled_matmul(f32[512,1024], f32[1024,512])"),
    ),
]

OTHERS = [*TOKAMAX, *EJKERNEL, *SMALLER]
