"""kjit: kernels in a small language, compiled at run time and launched on NumPy arrays, on the CPU or a GPU.

    import kjit, numpy
    mod = kjit.compile("kernel saxpy(a: f32, x: f32[], y: f32[]) { let i = grid(1); if i < y.size { y[i] += a * x[i] } }")
    x, y = numpy.ones(1000, numpy.float32), numpy.zeros(1000, numpy.float32)
    mod.saxpy[4, 256](2.0, x, y)            # or mod.saxpy.forall(1000)(2.0, x, y)

docs/python.md shows the rest. Names are Numba's where it has them."""
from ._array import Array
from ._context import (Context, Device, asarray, compile, default_context, default_stream, defer_cleanup, device_array,
                       device_array_like, devices, event, event_elapsed_time, external_stream, from_dlpack, from_image, managed_array,
                       mapped_array, pinned_array, set_default_context, stream, synchronize, to_device)
from ._errors import (AbsentError, ArgumentError, Cancelled, CompileError, DeviceError, ElementError, Error, ExportError, Fault,
                      FileError, InvalidError, KernelWarning, LaunchError, LimitError, NotFoundError, OutOfMemoryError,
                      RangeError, ShapeError, Timeout)
from ._interop import In, Out
from ._kjit import Event, Kernel, Launcher, Stream
from ._kjit import _version
from ._magic import load_ipython_extension, unload_ipython_extension
from ._module import Diagnostic, Module, Parameter, RunParam
from ._port import Port, numba_port
from ._port_random import xoroshiro128p_states
from ._types import Record

__version__ = _version()
__all__ = [name for name in dir() if not name.startswith("_")]
for _name in __all__:  # what they are called by programs, in messages and help()
    if isinstance(globals()[_name], type) and globals()[_name].__module__.startswith("kjit._"):
        globals()[_name].__module__ = "kjit"
