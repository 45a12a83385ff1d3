"""Instructions that Numba-CUDA has no function for, as inline PTX; those of clusters need compute capability 9.0."""

import operator

import numpy as np
from llvmlite import ir
from numba import cuda
from numba.cuda import types
from numba.cuda.core import targetconfig
from numba.cuda.core.errors import RequireLiteralValue
from numba.cuda.extending import intrinsic

from .pointers import I32, I64

ALL = np.uint32(0xFFFFFFFF)  # the lanes of a warp
GLOBAL = 1  # address space
REGISTER = {32: "r", 64: "l"}  # the constraint of an integer with so many bits


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


@intrinsic
def reduce_or(typingctx, pointer, index, value):
    """An atomic OR in global memory without a result, so that no thread waits for it.

    In kernels with barriers of a cluster the assembler waits for `atomic_or`, whether its result is used or not.
    """

    def generate(context, builder, signature, arguments):
        pointer, index, value = arguments
        bits = signature.args[0].dtype.bitwidth
        text = f"red.relaxed.gpu.global.or.b{bits} [$0], $1;"
        operands = [global_address(builder, pointer, index), value]
        assemble(builder, text, f"l,{REGISTER[bits]},~{{memory}}", ir.VoidType(), operands, side_effect=True)
        return context.get_dummy_value()

    return types.none(pointer, index, pointer.dtype), generate


@intrinsic
def atomic_add_acq_rel(typingctx, pointer, index, value):
    """Add to an element of 64 bits in global memory and return what was there.

    What this thread wrote before is seen by any thread that reads the sum with `load_acquire` or adds to it in turn,
    and the other way round.
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
            operands = [global_address(builder, *arguments)]
            bits = signature.return_type.bitwidth
            text, constraints = f"ld.{order}.gpu.global.b{bits} $0, [$1];", f"={REGISTER[bits]},l,~{{memory}}"
            return assemble(builder, text, constraints, ir.IntType(bits), operands, side_effect=True)

        return pointer.dtype(pointer, index), generate

    load.__doc__ = description
    return load


load_acquire = loader("acquire", "An element in global memory; see `atomic_add_acq_rel`.")
load_relaxed = loader("relaxed", "An element in global memory, as other blocks left it.")


@intrinsic
def nanoseconds(typingctx):
    """The device's clock."""

    def generate(context, builder, signature, arguments):
        return assemble(builder, "mov.u64 $0, %globaltimer;", "=l", I64, [], side_effect=True)

    return types.int64(), generate


@intrinsic
def trap(typingctx):
    """End the launch with an error."""

    def generate(context, builder, signature, arguments):
        assemble(builder, "trap;", "~{memory}", ir.VoidType(), [], side_effect=True)
        return context.get_dummy_value()

    return types.none(), generate


def capability():
    """The compute capability that is compiled for."""
    return targetconfig.ConfigStack().top().compute_capability


def reducer(combine, instruction, description):
    def butterfly(value):
        for step in range(5):
            value = np.int32(combine(value, cuda.shfl_xor_sync(ALL, value, 1 << step)))
        return value

    @intrinsic
    def reduce(typingctx, value):
        def generate(context, builder, signature, arguments):
            if capability() < (8, 0):
                return context.compile_internal(builder, butterfly, signature, arguments)
            text = f"redux.sync.{instruction} $0, $1, 0xffffffff;"
            return assemble(builder, text, "=r,r", I32, arguments, side_effect=True, attrs=("convergent",))

        return types.int32(types.int32), generate

    reduce.__doc__ = description
    return reduce


warp_reduce_or = reducer(operator.or_, "or.b32", "The union of what the lanes of the warp hold.")
warp_reduce_add = reducer(operator.add, "add.s32", "The sum of what the lanes of the warp hold.")
warp_reduce_max = reducer(max, "max.s32", "The greatest of what the lanes of the warp hold.")


@intrinsic
def prefetch(typingctx, pointer, index):
    """Let ``pointer[index]``, in global memory, come into the cache."""

    def generate(context, builder, signature, arguments):
        address = global_address(builder, *arguments)
        assemble(builder, "prefetch.global.L2 [$0];", "l", ir.VoidType(), [address], side_effect=True)
        return context.get_dummy_value()

    return types.none(pointer, index), generate


@intrinsic
def no_unroll(typingctx, value):
    """``value``, for the counter of a loop that the compiler must not unroll.

    If the loop seldom runs, the code beside it is fetched sooner.
    """

    def generate(context, builder, signature, arguments):
        text = r".pragma \22nounroll\22; mov.b32 $0, $1;"
        return assemble(builder, text, "=r,r", I32, arguments, side_effect=True)

    return types.int32(types.int32), generate


def barrier(builder, text):
    assemble(builder, text, "~{memory}", ir.VoidType(), [], side_effect=True, attrs=("convergent",))


@intrinsic
def named_barrier(typingctx, threads):
    """Wait for the first ``threads`` threads of the block, which alone call this."""
    if not isinstance(threads, types.IntegerLiteral):
        raise RequireLiteralValue(threads)

    def generate(context, builder, signature, arguments):
        barrier(builder, f"bar.sync 1, {threads.literal_value};")
        return context.get_dummy_value()

    return types.none(threads), generate


@intrinsic
def cluster_barrier(typingctx):
    """Wait for the blocks of the cluster; what they wrote before is seen after."""

    def generate(context, builder, signature, arguments):
        if capability() >= (9, 0):
            barrier(builder, "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;")
        return context.get_dummy_value()

    return types.none(), generate


@intrinsic
def cluster_size(typingctx):
    """Blocks of a cluster."""

    def generate(context, builder, signature, arguments):
        if capability() < (9, 0):
            return I32(1)
        return assemble(builder, "mov.u32 $0, %cluster_nctarank;", "=r", I32, [])

    return types.int32(), generate


@intrinsic
def map_shared_rank(typingctx, pointer, rank):
    """The address in another block of the cluster that corresponds to ``pointer`` in this block's shared memory."""

    def generate(context, builder, signature, arguments):
        pointer, rank = arguments
        if capability() < (9, 0):
            return pointer
        operands = [builder.ptrtoint(pointer, I64), context.cast(builder, rank, signature.args[1], types.int32)]
        address = assemble(builder, "mapa.u64 $0, $1, $2;", "=l,l,r", I64, operands)
        return builder.inttoptr(address, pointer.type)

    return pointer(pointer, rank), generate
