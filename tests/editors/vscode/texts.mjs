// The files that the tests open.
import fs from "node:fs";
import path from "node:path";
import { REPOSITORY } from "./harness.mjs";

const demo = (name) => fs.readFileSync(path.join(REPOSITORY, "tests/demo", name), "utf8");

const kernel = (body, shape = "(8, 128)") => `\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def kernel(x_ref, o_ref):
${body.map((line) => `    ${line}\n`).join("")}

def run(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(${shape}, jnp.float32))(x)


run(jnp.zeros((8, 128), jnp.float32))
`;

export const RMS_NORM = demo("rms_norm.py");
/** A kernel that lowers, with a call that tells its shapes and dtypes. */
export const MATMUL = `${demo("matmul.py").replace(
  "x_ref, y_ref, out_ref, acc_ref, *, steps",
  "\n    x_ref,\n    y_ref,\n    out_ref,\n    acc_ref,\n    *,\n    steps,\n",
)}\nif __name__ == "__main__":\n    jax.jit(run).lower(*ARGS)\n`;
export const PLAIN = "def double(x):\n    return 2 * x\n";
/** Characters of one and of two UTF-16 units stand before the fault. */
export const WIDE = kernel(['é = "𝛼"; o_ref[0, 0] = jnp.sum(x_ref[...])']);
export const TWO_FAULTS = kernel(["o_ref[0, 0] = jnp.sum(x_ref[...])", "o_ref[1, 0] = jnp.max(x_ref[...])"]);
/** pl.load is gone since JAX 0.9.0. */
export const REMOVED = kernel(["o_ref[...] = pl.load(x_ref, (slice(None), slice(None)))"]);

/** The files of an environment with that version of JAX, as far as anybody reads them. */
export const environment = (folder, version) => ({
  [`${folder}/pyvenv.cfg`]: "",
  [`${folder}/lib/python3.11/site-packages/jax-${version}.dist-info/METADATA`]: `Metadata-Version: 2.1\nName: jax\nVersion: ${version}\n`,
});

/** A project of which JAX 0.10.2 is said to be used, wherever else a JAX is. */
export const PROJECT = { "pyproject.toml": '[tool.pallas-lsp]\njax-version = "0.10.2"\n' };
