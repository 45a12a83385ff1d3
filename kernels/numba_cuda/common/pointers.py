"""Raw pointers, vectors and atomics, which Numba-CUDA has no function for.

A pointer is of type ``CPointer``, and ``pointer[i]`` loads and stores as in C: unlike an array's, its index does not
wrap around, and a kernel gets it as one argument. Atomics here work on global and on shared memory.
"""

from llvmlite import ir
from numba.cuda import cgutils, types
from numba.cuda.core.errors import RequireLiteralValue
from numba.cuda.extending import intrinsic

I32, I64 = ir.IntType(32), ir.IntType(64)


@intrinsic
def cast_like(typingctx, pointer, value):
    """``value`` as the type that ``pointer`` points to."""

    def generate(context, builder, signature, arguments):
        return context.cast(builder, arguments[1], signature.args[1], signature.return_type)

    return pointer.dtype(pointer, value), generate


@intrinsic
def is_null(typingctx, pointer):
    def generate(context, builder, signature, arguments):
        return builder.icmp_unsigned("==", builder.ptrtoint(arguments[0], I64), I64(0))

    return types.boolean(pointer), generate


@intrinsic
def size_of(typingctx, pointer):
    """The bytes of an element."""

    def generate(context, builder, signature, arguments):
        return I64(pointer.dtype.bitwidth // 8)

    return types.int64(pointer), generate


@intrinsic
def pointer_into(typingctx, array, byte, other):
    """The address of byte number ``byte`` of an array or advance a pointer, as a pointer to what ``other`` points to.

    ``other`` may be a type, too.
    """

    def generate(context, builder, signature, arguments):
        array_type, byte_type, _ = signature.args
        data = arguments[0]
        if isinstance(array_type, types.Array):
            data = context.make_array(array_type)(context, builder, data).data
        byte = context.cast(builder, arguments[1], byte_type, types.int64)
        address = builder.gep(builder.bitcast(data, ir.IntType(8).as_pointer()), [byte])
        return builder.bitcast(address, context.get_value_type(signature.return_type))

    return types.CPointer(other.dtype)(array, byte, other), generate


@intrinsic
def advance(typingctx, pointer, count):
    """``&pointer[count]``."""

    def generate(context, builder, signature, arguments):
        return builder.gep(arguments[0], [arguments[1]])

    return pointer(pointer, count), generate


@intrinsic
def local_array(typingctx, pointer, count):
    """Uninitialized elements of ``pointer``'s type, for loops over them that the compiler unrolls.

    They live until the function that made them returns, even if it is inlined.
    """
    if not isinstance(count, types.IntegerLiteral):
        raise RequireLiteralValue(count)
    length = count.literal_value

    def generate(context, builder, signature, arguments):
        return cgutils.alloca_once(builder, context.get_value_type(pointer.dtype), size=length)

    return types.CPointer(pointer.dtype)(pointer, count), generate


def vector_address(builder, pointer, index, count):
    """The address of the vector number ``index`` of ``count`` elements, and its alignment: at most 16 bytes."""
    bits = pointer.type.pointee.width
    vectors = builder.bitcast(pointer, ir.VectorType(ir.IntType(bits), count).as_pointer())
    return builder.gep(vectors, [index]), min(count * bits // 8, 16)


def vector_loader(count, description):
    @intrinsic
    def load(typingctx, pointer, index):
        def generate(context, builder, signature, arguments):
            address, align = vector_address(builder, *arguments, count)
            loaded = builder.load(address, align=align)
            result = ir.Constant(context.get_value_type(signature.return_type), ir.Undefined)
            for i in range(count):
                result = builder.insert_value(result, builder.extract_element(loaded, I32(i)), i)
            return result

        return types.UniTuple(pointer.dtype, count)(pointer, index), generate

    load.__doc__ = description
    return load


load_pair = vector_loader(2, "The elements ``2 * index`` and ``2 * index + 1``.")
load_four = vector_loader(4, "The elements ``4 * index`` to ``4 * index + 3``.")


def store_vector(context, builder, arguments):
    pointer, index, *values = arguments
    address, align = vector_address(builder, pointer, index, len(values))
    vector = ir.Constant(ir.VectorType(pointer.type.pointee, len(values)), ir.Undefined)
    for i, value in enumerate(values):
        vector = builder.insert_element(vector, value, I32(i))
    builder.store(vector, address, align=align)
    return context.get_dummy_value()


@intrinsic
def store_pair(typingctx, pointer, index, first, second):
    """Set the elements ``2 * index`` and ``2 * index + 1``."""

    def generate(context, builder, signature, arguments):
        return store_vector(context, builder, arguments)

    return types.none(pointer, index, *[pointer.dtype] * 2), generate


@intrinsic
def store_four(typingctx, pointer, index, first, second, third, fourth):
    """Set the elements ``4 * index`` to ``4 * index + 3``."""

    def generate(context, builder, signature, arguments):
        return store_vector(context, builder, arguments)

    return types.none(pointer, index, *[pointer.dtype] * 4), generate


def atomic(operation):
    """An atomic operation on an element; it returns what was there before."""

    @intrinsic
    def fetch(typingctx, pointer, index, value):
        def generate(context, builder, signature, arguments):
            pointer, index, value = arguments
            return builder.atomic_rmw(operation, builder.gep(pointer, [index]), value, "monotonic")

        return pointer.dtype(pointer, index, pointer.dtype), generate

    return fetch


atomic_add, atomic_or, atomic_exchange = atomic("add"), atomic("or"), atomic("xchg")
