"""The interpreter: runs a program abstractly, path by path, and records what its kernels do to their refs."""
