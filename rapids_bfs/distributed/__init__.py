"""Graphs in partitions: one search over several GPUs, or over several threads or processes of the CPU."""
