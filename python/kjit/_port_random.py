"""The states of Numba's random numbers, for kernels that kjit.numba_port takes over: kjit.xoroshiro128p_states."""
import functools

from . import _context, _port_unit

_STATES = """record State { s0: u64, s1: u64 }

""" + _port_unit.RANDOM.split("\n\n")[0].format(record="State") + """

# The state 2**64 numbers further on.
fn jump(states: State[], index: i64) {
    var s0: u64 = 0
    var s1: u64 = 0
    for word in (u64(0xbeac0467eba5facb), u64(0xd86b048b86aa9922)) {
        for b in range(64) {
            if word >> b & 1 != 0 {
                s0 ^= states[index].s0
                s1 ^= states[index].s1
            }
            let _ = xoroshiro128p_next(states, index)
        }
    }
    states[index].s0 = s0
    states[index].s1 = s1
}

kernel fill(states: State[], seed: u64, first: u64) {
    var z = seed + 0x9E3779B97F4A7C15
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9
    z = (z ^ z >> 27) * 0x94D049BB133111EB
    z = z ^ z >> 31
    if states.size > 0 {
        states[0] = State(z, z)
        for _ in range(first) { jump(states, 0) }
    }
    for i in range(1, states.size) {
        states[i] = states[i - 1]
        jump(states, i)
    }
}
"""


@functools.lru_cache(maxsize=4)
def _module(context):
    return context.compile(_STATES, name="xoroshiro128p.knl", warn="off")


def xoroshiro128p_states(n, seed, subsequence_start=0):
    """The states of n random generators, as numba.cuda.random.create_xoroshiro128p_states makes them: an Array of records of s0
    and s1, for kernels that call xoroshiro128p_uniform_float32(states, i) and its like. The numbers are Numba's."""
    context = _context.default_context()
    module = _module(context)
    states = context.array(n, module.State)
    module.fill[1, 1](states, seed % 2 ** 64, subsequence_start)
    return states
