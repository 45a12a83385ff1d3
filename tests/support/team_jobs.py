"""A team at work for tests, compiled once and kept on disk: each test runs it in a process of its own."""

import threading

import numpy as np

from rapids_bfs.kernels.cpu import team as module
from rapids_bfs.kernels.cpu.atomics import fetch_add
from rapids_bfs.kernels.cpu.compiled import serial


@module.shared
def take(arguments, thread):
    times, by, next_tile = arguments
    taken = 0
    while True:
        tile = fetch_add(next_tile, 0, 1)
        if tile >= len(times):
            return taken
        times[tile] += 1
        by[thread] += 1
        taken += 1


@serial
def jobs(team, threads, rounds, times, by, next_tile):
    taken = 0
    for _ in range(rounds):
        next_tile[0] = 0
        taken += take(team, threads, (times, by, next_tile))
    return taken


def done(team, threads, rounds=300, tiles=50):
    """How many tiles each thread took, after a check that every job was done once and that everybody has left."""
    times, by, next_tile = np.zeros(tiles, np.int64), np.zeros(abs(threads), np.int64), np.zeros(1, np.int64)
    assert jobs(team, threads, rounds, times, by, next_tile) == rounds * tiles == by.sum()
    assert (times == rounds).all()
    return by


def start(helpers):
    team = module.new(helpers)
    for place in range(1, helpers + 1):
        threading.Thread(target=module.serve, args=(team, place), daemon=True).start()
    return team
