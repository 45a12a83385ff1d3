"""The engines of RAPIDS."""
