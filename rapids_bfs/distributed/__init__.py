"""Distributed graphs: one search over several GPUs, or over several threads of the CPU."""
