"""A kernel that uses all sizes of n arrays of six dimensions."""
import sys

n = int(sys.argv[1])
print(f"kernel k({', '.join(f'a{i}: f32[,,,,,]' for i in range(n))}) {{\n    let i = grid(1)")
for i in range(n):
    print(f"    a{i}[i, i, i, i, i, i] += f32(a{i}.shape[0])")
print("}")
