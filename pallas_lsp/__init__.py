"""pallas-lsp: a language server and a headless check for JAX Pallas kernels on TPU."""

__version__ = "0.1.0"
