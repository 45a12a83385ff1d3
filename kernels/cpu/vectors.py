"""Vectors in registers: rows of 64-bit words as wide as a batch is, a number for each bit of a word, and some entries
of an array, of which those that a bitmap names are moved together.

A row of an array is ``array[row * width:(row + 1) * width]``. Its width is that of a tuple of words or of a vector,
a constant to the compiler, so that a function is compiled for each width that it is called with.
"""

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from .bits import WORD

WORD_TYPE = ir.IntType(WORD)


class Words(types.Type):
    """``width`` words of 64 bits."""

    def __init__(self, width):
        self.width = width
        super().__init__(name=f"Words({width})")


@register_model(Words)
class WordsModel(models.PrimitiveModel):
    def __init__(self, manager, words):
        super().__init__(manager, words, ir.VectorType(WORD_TYPE, words.width))


class Numbers(types.Type):
    """64 integers of so many bits."""

    def __init__(self, bits):
        self.bits = bits
        super().__init__(name=f"Numbers({bits})")


@register_model(Numbers)
class NumbersModel(models.PrimitiveModel):
    def __init__(self, manager, numbers):
        super().__init__(manager, numbers, ir.VectorType(ir.IntType(numbers.bits), WORD))


BYTES, INTEGERS = Numbers(8), Numbers(32)


def _width(like):
    return like.width if isinstance(like, Words) else len(like)


def _vector_at(context, builder, array_type, array, place, vector):
    """A pointer to ``vector``, which begins with ``array[place]``."""
    view = context.make_array(array_type)(context, builder, array)
    element = cgutils.get_item_pointer(context, builder, array_type, view, [place], wraparound=False)
    return builder.bitcast(element, vector.as_pointer())


def _row_at(context, builder, array_type, array, row, vector):
    """A pointer to the row, which is ``vector``."""
    place = builder.mul(row, context.get_constant(types.intp, vector.count))
    return _vector_at(context, builder, array_type, array, place, vector)


@intrinsic
def load_row(typing_context, array, row, like):
    """A row, as wide as ``like``."""
    words = Words(_width(like))

    def generate(context, builder, signature, args):
        vector = context.get_value_type(words)
        return builder.load(_row_at(context, builder, array, args[0], args[1], vector), align=8)

    return words(array, types.intp, like), generate


@intrinsic
def store_row(typing_context, array, row, words):
    """Write a row."""

    def generate(context, builder, signature, args):
        builder.store(args[2], _row_at(context, builder, array, args[0], args[1], args[2].type), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, words), generate


@intrinsic
def words_of(typing_context, numbers):
    """The words of a tuple."""
    words = Words(len(numbers))

    def generate(context, builder, signature, args):
        vector = ir.Constant(context.get_value_type(words), ir.Undefined)
        for place, number in enumerate(cgutils.unpack_tuple(builder, args[0])):
            vector = builder.insert_element(vector, number, ir.IntType(32)(place))
        return vector

    return words(numbers), generate


@intrinsic
def no_words(typing_context, like):
    """Words without a bit set, as many as there are in ``like``."""
    words = Words(_width(like))
    return words(like), lambda context, builder, signature, args: ir.Constant(context.get_value_type(words), None)


@intrinsic
def word_at(typing_context, words, place):
    """One of the words."""
    return types.uint64(words, types.intp), lambda context, builder, signature, args: builder.extract_element(*args)


@intrinsic
def any_bit(typing_context, words):
    """Is any bit set?"""

    def generate(context, builder, signature, args):
        bits = builder.bitcast(args[0], ir.IntType(64 * words.width))
        return builder.icmp_unsigned("!=", bits, bits.type(0))

    return types.boolean(words), generate


def _operator(operation, instruction):
    """Let ``operation`` join two vectors by an instruction of the builder."""

    @type_callable(operation)
    def declare(typing_context):
        return lambda one, other: one if isinstance(one, Words | Numbers) and one == other else None

    for kind in Words, Numbers:

        @lower_builtin(operation, kind, kind)
        def generate(context, builder, signature, args):
            return getattr(builder, instruction)(*args)


_operator(operator.and_, "and_")
_operator(operator.or_, "or_")
_operator(operator.xor, "xor")


@type_callable(operator.invert)
def _declare_inverse(typing_context):
    return lambda words: words if isinstance(words, Words) else None


@lower_builtin(operator.invert, Words)
def _invert(context, builder, signature, args):
    return builder.not_(*args)


@intrinsic
def transpose_bytes(typing_context, words):
    """Eight words as a matrix of 8 x 8 bytes, transposed."""

    def generate(context, builder, signature, args):
        matrix = builder.bitcast(args[0], ir.VectorType(ir.IntType(8), WORD))
        places = ir.VectorType(ir.IntType(32), WORD)
        order = ir.Constant(places, [column * 8 + row for row in range(8) for column in range(8)])
        return builder.bitcast(builder.shuffle_vector(matrix, matrix, order), args[0].type)

    return words(words), generate


def _splat(builder, value, vector):
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.IntType(32)(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None))


@intrinsic
def choose(typing_context, array, place, bit, one, zero):
    """64 bytes: ``one`` where a byte has the bit, ``zero`` where not, for the bytes of eight words of the array."""

    def generate(context, builder, signature, args):
        array, place, bit, one, zero = args
        vector = context.get_value_type(BYTES)
        loaded = builder.load(_vector_at(context, builder, signature.args[0], array, place, vector), align=8)
        mask = _splat(builder, builder.shl(vector.element(1), builder.trunc(bit, vector.element)), vector)
        bits = builder.icmp_unsigned("!=", builder.and_(loaded, mask), ir.Constant(vector, None))
        return builder.select(bits, _splat(builder, one, vector), _splat(builder, zero, vector))

    return BYTES(array, types.intp, types.intp, types.int8, types.int8), generate


@intrinsic
def widen(typing_context, numbers, shift):
    """64 bytes as numbers of 32 bits with their signs, each shifted to the left."""

    def generate(context, builder, signature, args):
        vector = context.get_value_type(INTEGERS)
        shift = builder.trunc(args[1], vector.element)
        return builder.shl(builder.sext(args[0], vector), _splat(builder, shift, vector))

    return INTEGERS(BYTES, types.intp), generate


@intrinsic
def store_numbers(typing_context, array, place, numbers):
    """Write numbers to ``array[place:place + 64]``."""

    def generate(context, builder, signature, args):
        builder.store(args[2], _vector_at(context, builder, array, args[0], args[1], args[2].type), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, numbers), generate


@intrinsic
def pack(typing_context, mask, place):
    """The 64 bools ``mask[place:place + 64]`` as a word, the first as its lowest bit."""

    def generate(context, builder, signature, args):
        vector = context.get_value_type(BYTES)
        bools = builder.load(_vector_at(context, builder, mask, *args, vector), align=1)
        bits = builder.icmp_unsigned("!=", bools, ir.Constant(vector, None))
        return builder.bitcast(bits, WORD_TYPE)

    return types.uint64(mask, types.intp), generate


REGISTER = 32  # bytes


def _permutes(context):
    """Can the processor permute the integers of 32 bits in a register?"""
    return "+avx2" in context.codegen().magic_tuple()[-1].split(",")


@intrinsic
def lanes(typing_context, array):
    """How many entries of the array `compress` takes; 0 if there is no such instruction for them."""

    def generate(context, builder, signature, args):
        size = array.dtype.bitwidth // 8
        return context.get_constant(types.intp, REGISTER // size if size in (4, 8) and _permutes(context) else 0)

    return types.intp(array), generate


@intrinsic
def compress(typing_context, values, first, bits, compressed, place):
    """Of the `lanes` entries from ``values[first]`` on, write those whose bits are set one after another, from
    ``compressed[place]`` on, and then anything, `lanes` entries in all. Only where there are lanes."""

    def generate(context, builder, signature, args):
        size = values.dtype.bitwidth // 8
        if size not in (4, 8) or not _permutes(context):
            return context.get_dummy_value()
        integer, byte, parts = ir.IntType(32), ir.IntType(8), size // 4
        vector, narrow = (ir.VectorType(kind, REGISTER // 4) for kind in (integer, byte))
        orders = _orders(REGISTER // size, parts)
        table = ir.Constant(ir.ArrayType(narrow, len(orders)), [ir.Constant(narrow, order) for order in orders])
        rows = cgutils.global_constant(builder, f"orders_{size}", table)
        row = builder.and_(args[2], args[2].type(len(orders) - 1))
        order = builder.zext(builder.load(builder.gep(rows, [row.type(0), row])), vector)
        loaded = builder.load(_vector_at(context, builder, values, args[0], args[1], vector), align=size)
        kind = ir.FunctionType(vector, [vector, vector])
        permute = builder.module.declare_intrinsic("llvm.x86.avx2.permd", (), kind)
        where = _vector_at(context, builder, compressed, args[3], args[4], vector)
        builder.store(builder.call(permute, [loaded, order]), where, align=size)
        return context.get_dummy_value()

    return types.void(values, types.intp, types.uint64, compressed, types.intp), generate


def _orders(count, parts):
    """For each bitmap of ``count`` entries, the parts of those whose bits are set, and then any."""
    rows = []
    for bitmap in range(1 << count):
        order = [entry * parts + part for entry in range(count) if bitmap >> entry & 1 for part in range(parts)]
        rows.append(order + [0] * (count * parts - len(order)))
    return rows


SUMS = 16


@intrinsic
def add_up(typing_context, array, place, before):
    """To each of `SUMS` entries from ``array[place]`` on add those before it and ``before``; returns the last sum."""

    def generate(context, builder, signature, args):
        vector = ir.VectorType(context.get_value_type(array.dtype), SUMS)
        where = _vector_at(context, builder, array, args[0], args[1], vector)
        zeros, places = ir.Constant(vector, None), ir.VectorType(ir.IntType(32), SUMS)
        sums = builder.load(where, align=vector.element.width // 8)
        for distance in (1, 2, 4, 8):
            order = [entry if entry < distance else SUMS + entry - distance for entry in range(SUMS)]
            sums = builder.add(sums, builder.shuffle_vector(zeros, sums, ir.Constant(places, order)))
        builder.store(builder.add(sums, _splat(builder, args[2], vector)), where, align=vector.element.width // 8)
        return builder.add(args[2], builder.extract_element(sums, ir.IntType(32)(SUMS - 1)))

    return array.dtype(array, types.intp, array.dtype), generate
