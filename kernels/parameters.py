"""The parameters of kernels, each declared once.

A declaration gives the structure in the host's memory, the types that Numba compiles for, and assertions for the
compiler of the CUDA C++: its structure has these fields, in this order and of these types, and these constants.
"""

import ctypes
from dataclasses import dataclass, field
from itertools import pairwise

TYPES = ("int, int", "int, long long", "long long, long long")  # of vertices and offsets

CHECKS = """
template <typename A, typename B>
constexpr bool SAME = false;
template <typename A>
constexpr bool SAME<A, A> = true;
constexpr bool precedes(const void* one, const void* following) { return one < following; }
"""


@dataclass(frozen=True)
class Parameters:
    """A structure of pointers, then of integers of 64 bits. The kernels say what the fields mean."""

    structure: str  # in C++, a template of the types of vertices and offsets
    pointers: dict[str, str]  # the type of their elements, in C++
    numbers: tuple[str, ...]
    constants: dict[str, int]
    elements: dict[str, str] = field(default_factory=dict)  # the fields that are elements of an array in C++
    sizes: tuple[str, ...] = ()  # further conditions that the host relies on, in C++
    inherited: int = 0  # how many fields are those of its base in C++, which lies first

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.pointers, *self.numbers)

    def in_memory(self) -> type[ctypes.Structure]:
        """The structure that the host fills in."""
        fields = [(name, ctypes.c_void_p if name in self.pointers else ctypes.c_int64) for name in self.names]
        return type(self.structure, (ctypes.Structure,), {"_fields_": fields})

    def checks(self) -> str:
        """C++ that compiles only if the structure there is the one declared here."""
        types = {
            **{name: f"{kind}*" for name, kind in self.pointers.items()},
            **dict.fromkeys(self.numbers, "long long"),
        }
        members = {self.elements.get(name, name): kind for name, kind in types.items()}
        conditions = [f"sizeof(Structure) == {8 * len(members)}"]
        conditions += [f"SAME<decltype(&all.{member}), {kind} const*>" for member, kind in members.items()]
        # With as many fields of 8 bytes as fit, their order says where each is. NVRTC has no offsetof before 13.1.
        # A compiler does not compare a place in the base with one after it.
        conditions += [
            f"precedes(&all.{one}, &all.{following})"
            for number, (one, following) in enumerate(pairwise(members), 1)
            if number != self.inherited
        ]
        conditions += [f"{name} == {value}" for name, value in self.constants.items()]
        asserts = "\n".join(
            f'    static_assert({each}, "as declared in Python");' for each in (*conditions, *self.sizes)
        )
        declared = (
            "template <typename Vertex, typename Offset>\nstruct Declared {\n"
            f"    using Structure = {self.structure}<Vertex, Offset>;\n"
            f"    static constexpr Structure all{{}};\n{asserts}\n}};\n"
        )
        return CHECKS + declared + "".join(f"template struct Declared<{each}>;\n" for each in TYPES)
