"""Operations on array elements that Numba's CPU target lacks: atomic ones, and prefetch.

An atomic returns the element's value from before it. The order is relaxed: a BFS level ends with the end of a
parallel loop, and that orders everything.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _read_modify_write(operation):
    def declare(typing_context, array, index, value):
        if not (isinstance(array, types.Array) and array.mutable and array.ndim == 1):
            return None

        def generate(context, builder, signature, args):
            array_type = signature.args[0]
            view = context.make_array(array_type)(context, builder, args[0])
            element = cgutils.get_item_pointer(context, builder, array_type, view, [args[1]], wraparound=False)
            return builder.atomic_rmw(operation, element, args[2], "monotonic")

        return array.dtype(array, types.intp, array.dtype), generate

    return declare


fetch_add = intrinsic(_read_modify_write("add"))
fetch_or = intrinsic(_read_modify_write("or"))
exchange = intrinsic(_read_modify_write("xchg"))


@intrinsic
def prefetch(typing_context, array, index):
    """Ask for the cache line of ``array[index]``, soon to be read. Any index will do, even one past the end."""

    def generate(context, builder, signature, args):
        array_type = signature.args[0]
        view = context.make_array(array_type)(context, builder, args[0])
        element = cgutils.get_item_pointer(context, builder, array_type, view, [args[1]], wraparound=False)
        address = builder.bitcast(element, cgutils.voidptr_t)
        integer = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, integer, integer, integer])
        function = builder.module.declare_intrinsic("llvm.prefetch", (address.type,), kind)
        read, keep, data = integer(0), integer(3), integer(1)
        builder.call(function, [address, read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
