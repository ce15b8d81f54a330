"""Kernels that launch kernels, with const arrays of 40,000 bytes: of all one (`one`), or each its own."""
import sys

rows = ", ".join(str(i % 251) for i in range(10000))
names = ("A", "A") if sys.argv[1] == "one" else ("A", "B")
for k, name in enumerate(sorted(set(names))):
    print(f"const {name}: i32[] = [{k}, {rows[3:]}]")
print(f"""
kernel child(out: i32[], n: i32) {{ if grid(1) < out.size {{ out[grid(1)] = {names[0]}[n] }} }}
kernel parent(out: i32[], n: i32) {{
    out[0] = {names[1]}[n]
    launch child[1, 32](out[1:], n)
}}""")
