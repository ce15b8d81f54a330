"""Where the package for Python is, its version, whether that is the one that tools know, and a launch."""
import array
import importlib.metadata

import kjit

print(kjit.__file__, kjit.__version__, importlib.metadata.version("kjit") == kjit.__version__)
x = array.array("f", [1, 2, 3])
kjit.Context("cpu").compile("kernel twice(x: f32[]) { let i = grid(1); if i < x.size { x[i] *= 2.0 } }").twice[1, 32](x)
print(x.tolist())
