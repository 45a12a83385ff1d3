"""What Numba-CUDA has no function for: raw pointers, atomics with an order, and a few PTX instructions.

A pointer is of type ``CPointer``, and ``pointer[i]`` loads and stores as in C: unlike an array's, its index does not
wrap around, and a kernel gets it as one argument. Atomics here work on global and on shared memory.
"""

import numpy as np
from llvmlite import ir
from numba import cuda
from numba.cuda import cgutils, types
from numba.cuda.core import targetconfig
from numba.cuda.core.errors import RequireLiteralValue
from numba.cuda.extending import intrinsic

ALL = np.uint32(0xFFFFFFFF)  # the lanes of a warp
GLOBAL = 1  # address space
REGISTER = {32: "r", 64: "l"}  # the constraint of an integer with so many bits
I32, I64 = ir.IntType(32), ir.IntType(64)


def assemble(builder, text, constraints, result, operands, **options):
    """Insert PTX: ``options`` may be ``side_effect`` and ``attrs``."""
    attributes = options.pop("attrs", ())
    function = ir.FunctionType(result, [operand.type for operand in operands])
    return builder.call(ir.InlineAsm(function, text, constraints, **options), operands, attrs=attributes)


def global_address(builder, pointer, index):
    """``&pointer[index]``, which must lie in global memory, as an address in it."""
    element = builder.gep(pointer, [index])
    return builder.addrspacecast(element, ir.PointerType(pointer.type.pointee, GLOBAL))


@intrinsic
def like(typingctx, pointer, value):
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
    """The address of ``array``'s byte number ``byte``, as a pointer to what ``other`` points to, or to that type."""

    def generate(context, builder, signature, arguments):
        array_type, byte_type, _ = signature.args
        data = context.make_array(array_type)(context, builder, arguments[0]).data
        byte = context.cast(builder, arguments[1], byte_type, types.int64)
        address = builder.gep(builder.bitcast(data, ir.IntType(8).as_pointer()), [byte])
        return builder.bitcast(address, context.get_value_type(signature.return_type))

    return types.CPointer(other.dtype)(array, byte, other), generate


@intrinsic
def registers(typingctx, pointer, count):
    """Uninitialized elements like ``pointer``'s, for loops over them that the compiler unrolls."""
    if not isinstance(count, types.IntegerLiteral):
        raise RequireLiteralValue(count)
    length = count.literal_value

    def generate(context, builder, signature, arguments):
        return cgutils.alloca_once(builder, context.get_value_type(pointer.dtype), size=length)

    return types.CPointer(pointer.dtype)(pointer, count), generate


@intrinsic
def load_read_only(typingctx, pointer, index):
    """``pointer[index]`` in global memory that the whole launch only reads."""

    def generate(context, builder, signature, arguments):
        address = global_address(builder, *arguments)
        bits = signature.return_type.bitwidth
        text = f"ld.global.nc.b{bits} $0, [$1];"
        return assemble(builder, text, f"={REGISTER[bits]},l", ir.IntType(bits), [address])

    return pointer.dtype(pointer, index), generate


@intrinsic
def load_four_read_only(typingctx, pointer, group):
    """The elements ``4 * group`` to ``4 * group + 3`` in global memory that the whole launch only reads."""

    def generate(context, builder, signature, arguments):
        pointer, group = arguments
        bits = signature.args[0].dtype.bitwidth
        first = builder.shl(group, group.type(2))
        pairs = 128 // bits  # loaded at a time
        result = ir.Constant(ir.ArrayType(ir.IntType(bits), 4), ir.Undefined)
        for begin in range(0, 4, pairs):
            address = global_address(builder, pointer, builder.add(first, first.type(begin)))
            values = ", ".join(f"${i}" for i in range(pairs))
            text = f"ld.global.nc.v{pairs}.b{bits} {{{values}}}, [${pairs}];"
            constraints = ",".join([f"={REGISTER[bits]}"] * pairs + ["l"])
            loaded = assemble(builder, text, constraints, ir.LiteralStructType([ir.IntType(bits)] * pairs), [address])
            for i in range(pairs):
                result = builder.insert_value(result, builder.extract_value(loaded, i), begin + i)
        return result

    return types.UniTuple(pointer.dtype, 4)(pointer, group), generate


def pair_address(builder, pointer, index):
    """The address of the pair number ``index``, and its alignment."""
    bits = pointer.type.pointee.width
    pairs = builder.bitcast(pointer, ir.VectorType(ir.IntType(bits), 2).as_pointer())
    return builder.gep(pairs, [index]), bits // 4


@intrinsic
def load_pair(typingctx, pointer, index):
    """``pointer[2 * index]`` and the element behind it."""

    def generate(context, builder, signature, arguments):
        address, align = pair_address(builder, *arguments)
        loaded = builder.load(address, align=align)
        result = ir.Constant(context.get_value_type(signature.return_type), ir.Undefined)
        for i in range(2):
            result = builder.insert_value(result, builder.extract_element(loaded, I32(i)), i)
        return result

    return types.UniTuple(pointer.dtype, 2)(pointer, index), generate


@intrinsic
def store_pair(typingctx, pointer, index, first, second):
    """Set ``pointer[2 * index]`` and the element behind it."""
    element = pointer.dtype

    def generate(context, builder, signature, arguments):
        pointer, index, *values = arguments
        address, align = pair_address(builder, pointer, index)
        pair = ir.Constant(ir.VectorType(pointer.type.pointee, 2), ir.Undefined)
        for i, value in enumerate(values):
            pair = builder.insert_element(pair, value, I32(i))
        builder.store(pair, address, align=align)
        return context.get_dummy_value()

    return types.none(pointer, index, element, element), generate


def atomic(operation):
    """An atomic operation on an element; it returns what was there before."""

    @intrinsic
    def fetch(typingctx, pointer, index, value):
        def generate(context, builder, signature, arguments):
            pointer, index, value = arguments
            return builder.atomic_rmw(operation, builder.gep(pointer, [index]), value, "monotonic")

        return pointer.dtype(pointer, index, pointer.dtype), generate

    return fetch


fetch_add, fetch_or = atomic("add"), atomic("or")


@intrinsic
def fetch_add_ordered(typingctx, pointer, index, value):
    """Add to an element of 64 bits in global memory and return what was there.

    What this thread wrote before is seen by whoever reads the sum with `load_ordered` or adds to it in turn, and the
    other way round.
    """

    def generate(context, builder, signature, arguments):
        pointer, index, value = arguments
        operands = [global_address(builder, pointer, index), value]
        text = "atom.add.acq_rel.gpu.global.u64 $0, [$1], $2;"
        return assemble(builder, text, "=l,l,l,~{memory}", I64, operands, side_effect=True)

    return pointer.dtype(pointer, index, pointer.dtype), generate


def loader(order, description):
    @intrinsic
    def load(typingctx, pointer, index):
        def generate(context, builder, signature, arguments):
            text = f"ld.{order}.gpu.global.b64 $0, [$1];"
            operands = [global_address(builder, *arguments)]
            return assemble(builder, text, "=l,l,~{memory}", I64, operands, side_effect=True)

        return pointer.dtype(pointer, index), generate

    load.__doc__ = description
    return load


load_ordered = loader("acquire", "An element of 64 bits in global memory; see `fetch_add_ordered`.")
load_shared_by_blocks = loader("relaxed", "An element of 64 bits in global memory, as other blocks left it.")


@intrinsic
def nanoseconds(typingctx):
    """The device's clock."""

    def generate(context, builder, signature, arguments):
        return assemble(builder, "mov.u64 $0, %globaltimer;", "=l", I64, [], side_effect=True)

    return types.int64(), generate


@intrinsic
def give_up(typingctx):
    """End the launch with an error."""

    def generate(context, builder, signature, arguments):
        assemble(builder, "trap;", "~{memory}", ir.VoidType(), [], side_effect=True)
        return context.get_dummy_value()

    return types.none(), generate


def butterfly_or(bits):
    for step in range(5):
        bits = np.int32(bits | cuda.shfl_xor_sync(ALL, bits, 1 << step))
    return bits


@intrinsic
def reduce_or(typingctx, bits):
    """The union of what the lanes of the warp hold."""

    def generate(context, builder, signature, arguments):
        if targetconfig.ConfigStack().top().compute_capability < (8, 0):
            return context.compile_internal(builder, butterfly_or, signature, arguments)
        text = "redux.sync.or.b32 $0, $1, 0xffffffff;"
        return assemble(builder, text, "=r,r", I32, arguments, side_effect=True, attrs=("convergent",))

    return types.int32(types.int32), generate
