"""Atomic operations on array elements, for Numba's CPU target, which has none of its own.

Each returns the element's value from before the operation. The order is relaxed: a BFS level ends with
the end of a parallel loop, and that orders everything.
"""

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
