"""Bitmaps over vertices: bit ``v % 64`` of word ``v // 64`` (uint64) is vertex v's."""

import numpy as np
from numba import types
from numba.extending import intrinsic

WORD = 64
ONE = np.uint64(1)
LAST = np.uint64(WORD - 1)


@intrinsic
def count_ones(typing_context, word):
    """Number of bits set in ``word``."""
    return types.intp(types.uint64), lambda context, builder, signature, args: builder.ctpop(args[0])


@intrinsic
def lowest_one(typing_context, word):
    """Position of the lowest bit set in ``word``, which must not be 0."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), generate


@intrinsic
def bit_of(typing_context, vertex):
    """The word in which only ``vertex``'s bit is set."""

    def generate(context, builder, signature, args):
        place = context.cast(builder, args[0], vertex, types.uint64)
        return builder.shl(place.type(1), builder.and_(place, place.type(WORD - 1)))

    return types.uint64(vertex), generate


@intrinsic
def word_of(typing_context, vertex):
    """Index of the word that holds ``vertex``'s bit."""

    def generate(context, builder, signature, args):
        place = context.cast(builder, args[0], vertex, types.uint64)
        return builder.lshr(place, place.type(WORD.bit_length() - 1))

    return types.uint64(vertex), generate


def words(vertices: int) -> int:
    """Number of words in a bitmap over ``vertices``."""
    return -(-vertices // WORD)
