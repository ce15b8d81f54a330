"""A program that uses every vector type, beside what the host makes of its numbers: loads and stores of whole elements and
of parts, of all lanes and of some; arithmetic, shared, local and const arrays, records, functions, parameters, conversions."""
SCALARS = ("f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
TYPE = """
fn doubled_TYPE(v: TYPE) -> TYPE { return v + v }

kernel work_TYPE(a: TYPE[], b: TYPE[], c: TYPE, out: TYPE[], back: TYPE[]) {
    let s = shared.array(40, TYPE)
    let l = local.array(2, TYPE)
    let t, i = threadIdx.x, grid(1)
    if i < a.size { s[t] = a[i] * b[i] }
    syncthreads()
    if i >= a.size { return }
    l[t % 2] = s[39 - t]
    l[1 - t % 2] = doubled_TYPE(a[i])
    var v = l[t % 2] + c
    v.y -= l[1 - t % 2].x
    out[i] = v
    if i % 3 != 1 { back[i] = a[i] }
    back[i].y = b[i].x
}

run checked_TYPE() {
    let n = PARTS
    let size = 160
    let numbers = (arange(size * n, i64) % 5).reshape(size, n)
    let a, b = array(numbers, TYPE), array((numbers + 1) % 4, TYPE)
    let out, back = zeros(size, TYPE), full(size, 1, TYPE)
    work_TYPE[4, 40](a, b, (COUNT), out, back)
    let add = arange(1, n + 1, i64)
    let other = (numbers + 1) % 4
    for i in range(size) {
        let mirror = i // 40 * 40 + 39 - i % 40
        for p in range(n) {
            var want = numbers[mirror, p] * other[mirror, p] + add[p]
            if p == 1 { want -= 2 * numbers[i, 0] }
            let kept = numbers[i, p] if i % 3 != 1 else 1
            assert(int(back[i, p]) == (other[i, 0] if p == 1 else kept))
            assert(int(out[i, p]) % 256 == want % 256)
        }
    }
}
"""
# Of each scalar one of its types, of each number of parts four types.
FURTHER = """
kernel strided_TYPE(a: TYPE[,], out: TYPE[,]) {
    let x, y = grid(2)
    if x < out.shape[1] and y < out.shape[0] { out[y, x] = a[x, y] + a[x, 0].x }
}

kernel made_TYPE(n: i32, out: TYPE[]) {
    let i = grid(1)
    if i < out.size { out[i] = TYPE(i * n) if i % 2 == 0 else TYPE(1) }
}

record Of_TYPE { tag: u8, v: TYPE, w: TYPE[2] }
const C_TYPE: TYPE[] = [TYPE(COUNT), TYPE(7)]

kernel fields_TYPE(r: Of_TYPE[], out: TYPE[]) {
    let i = i32(grid(1))
    if i >= 4 { return }
    r[i].v = TYPE(f64xPARTS(r[i].w[0])) + C_TYPE[0]
    r[i].w[1] = C_TYPE[i // 4 + 1]
    r[i].w[1].x = TYPE(i).y
    out[i] = TYPE(r[i].v[1]OTHERS)
    out[i].x = r[i].v[i % PARTS]
}

run further_TYPE() {
    let n = PARTS
    let numbers = (arange(160 * n, i64) % 5).reshape(160, n)
    let out = zeros(160, TYPE)
    let wide, turned = array(numbers[:42].reshape(6, 7, n), TYPE), zeros((7, 6), TYPE)
    strided_TYPE[1, (8, 8)](wide, turned)
    let w = numbers[:42].reshape(6, 7, n)
    for y in range(7) {
        for x in range(6) {
            for p in range(n) { assert(int(turned[y, x, p]) == w[x, y, p] + w[x, 0, 0]) }
        }
    }
    made_TYPE[1, 160](3, out)
    assert(int(out[7, 0]) == 1 and int(out[10, n - 1]) == 30)
    let r = zeros(5, Of_TYPE)
    r.w[:] = array(numbers[:10].reshape(5, 2, n), ELEM)
    fields_TYPE[1, 8](r, out)
    for i in range(4) {
        for p in range(n) {
            assert(int(r.v[i, p]) == numbers[2 * i, p] + p + 1)
            assert(int(r.w[i, 1, p]) == (i if p == 0 else 7))
        }
        assert(int(out[i, 0]) == int(r.v[i, i % n]) and int(out[i, n - 1]) == int(r.v[i, 0]))
    }
}
"""

types = [(f"{scalar}x{n}", n) for scalar in SCALARS for n in (2, 3, 4)]
further = [f"{scalar}x{2 + k % 3}" for k, scalar in enumerate(SCALARS)]
for name, n in types:
    text = TYPE + (FURTHER if name in further else "")
    count = ", ".join(str(i + 1) for i in range(n))
    print(text.replace("TYPE", name).replace("PARTS", str(n)).replace("COUNT", count)
          .replace("ELEM", name[:-2]).replace("OTHERS", f", r[i].v.x" * (n - 1)))
print("run {")
for name, n in types:
    print(f"    checked_{name}()")
    if name in further:
        print(f"    further_{name}()")
print(f'    print({len(types)}, "types")')
print("}")
