"""Operations on array elements that Numba's CPU target lacks: atomic ones, and prefetch.

An atomic returns the old value of the element. The order is relaxed, since a level ends with a job, whose end orders
all accesses. The operations by which `team` begins and ends jobs are ordered.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

ORDERED = "seq_cst"


def _element(context, builder, array_type, array, index):
    """A pointer to ``array[index]``."""
    view = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, view, [index], wraparound=False)


def _read_modify_write(operation, order="monotonic"):
    def declare(typing_context, array, index, value):
        if not (isinstance(array, types.Array) and array.mutable and array.ndim == 1):
            return None

        def generate(context, builder, signature, args):
            element = _element(context, builder, signature.args[0], args[0], args[1])
            return builder.atomic_rmw(operation, element, args[2], order)

        return array.dtype(array, types.intp, array.dtype), generate

    return declare


fetch_add = intrinsic(_read_modify_write("add"))
fetch_or = intrinsic(_read_modify_write("or"))
exchange = intrinsic(_read_modify_write("xchg"))

ordered_add = intrinsic(_read_modify_write("add", ORDERED))
ordered_or = intrinsic(_read_modify_write("or", ORDERED))
ordered_exchange = intrinsic(_read_modify_write("xchg", ORDERED))


@intrinsic
def load(typing_context, array, index):
    """``array[index]``, in order."""

    def generate(context, builder, signature, args):
        element = _element(context, builder, signature.args[0], args[0], args[1])
        return builder.load_atomic(element, ORDERED, array.dtype.bitwidth // 8)

    return array.dtype(array, types.intp), generate


@intrinsic
def store(typing_context, array, index, value):
    """Write ``value`` to ``array[index]``, in order."""

    def generate(context, builder, signature, args):
        element = _element(context, builder, signature.args[0], args[0], args[1])
        builder.store_atomic(args[2], element, ORDERED, array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, array.dtype), generate


@intrinsic
def compare_and_swap(typing_context, array, index, expected, value):
    """Write ``value`` to ``array[index]``, in order, if ``expected`` is there; return whether it was."""

    def generate(context, builder, signature, args):
        element = _element(context, builder, signature.args[0], args[0], args[1])
        return builder.extract_value(builder.cmpxchg(element, args[2], args[3], ORDERED, ORDERED), 1)

    return types.boolean(array, types.intp, array.dtype, array.dtype), generate


@intrinsic
def prefetch(typing_context, array, index):
    """Prefetch the cache line of ``array[index]``. Any index will do, even one past the end."""

    def generate(context, builder, signature, args):
        element = _element(context, builder, signature.args[0], args[0], args[1])
        address = builder.bitcast(element, cgutils.voidptr_t)
        integer = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, integer, integer, integer])
        function = builder.module.declare_intrinsic("llvm.prefetch", (address.type,), kind)
        read, keep, data = integer(0), integer(3), integer(1)
        builder.call(function, [address, read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
