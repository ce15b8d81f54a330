/* Records through the API: what a module declares, C structs as its elements, fields, launches,
 * modules that share records, files. */
#include "api.h"

typedef struct cell {
    int32_t x;
    int16_t y;
} cell;

typedef struct particle {
    float pos[4];
    uint8_t alive;
    double mass;
    float vel[3];
    cell cells[2];
} particle;

static const char source[] =
    "record Cell { x: i32, y: i16 }\n"
    "record Particle { pos: f32x4, alive: bool, mass: f64, vel: f32[3], cells: Cell[2] }\n"
    "kernel heavier(p: Particle[], by: f64) {\n"
    "    let i = grid(1)\n"
    "    if i < p.size { p[i].mass += by; p[i].cells[1].y = i16(i) }\n"
    "}\n"
    "kernel masses(p: Particle[], m: f64[]) { m[grid(1)] = p[grid(1)].mass }\n"
    "kernel swapped<T>(a: T[], b: T[]) {\n"
    "    let i = grid(1)\n"
    "    let t = a[i]\n"
    "    a[i] = b[i]\n"
    "    b[i] = t\n"
    "}\n"
    "kernel fill(c: Cell[], by: Cell) { c[grid(1)] = by }\n"
    "kernel pair(c: Cell[], by: (i32, i16)) { c[grid(1)] = Cell(by[0], by[1]) }\n"
    "kernel other(c: Cell[], by: (i32, i32)) { c[grid(1)] = Cell(by[0], i16(by[1])) }\n"
    "record Long { v: i32[100] }\n"
    "kernel moved(x: Long[], out: Long[]) { out[grid(1)] = x[grid(1)] }\n"
    "const table: Cell[2]\n"
    "kernel look(c: Cell[]) { c[grid(1)] = table[grid(1)] }\n";

static kjit_dtype record(kjit_module *mod, const char *name)
{
    kjit_dtype dtype;
    OK(kjit_module_record(mod, name, &dtype));
    return dtype;
}

static void launch(kjit_module *mod, const char *kernel, int n, const kjit_arg *args, int nargs)
{
    OK(kjit_launch(mod, kernel, &(kjit_config){.grid = {1}, .block = {n}}, args, nargs));
}

static void test_description(void **state)
{
    (void)state;
    static const kjit_field expected[] = {
        {.name = "pos", .dtype = KJIT_F32X4, .offset = offsetof(particle, pos)},
        {.name = "alive", .dtype = KJIT_BOOL, .offset = offsetof(particle, alive)},
        {.name = "mass", .dtype = KJIT_F64, .offset = offsetof(particle, mass)},
        {.name = "vel",
         .dtype = KJIT_F32,
         .offset = offsetof(particle, vel),
         .ndim = 1,
         .shape = {3}},
    };
    kjit_module *mod = module(source);
    kjit_dtype type = record(mod, "Particle"), inner = record(mod, "Cell"), none;
    kjit_record info;
    kjit_field f;
    assert_true(type >= KJIT_FIRST_RECORD && type <= KJIT_LAST_RECORD && type != inner);
    OK(kjit_record_info(ctx, type, &info));
    assert_string_equal(info.name, "Particle");
    assert_int_equal(info.size, sizeof(particle));
    assert_int_equal(info.align, _Alignof(particle));
    assert_int_equal(info.nfields, 5);
    for (int i = 0; i < 4; i++) {
        OK(kjit_record_field(ctx, type, i, &f));
        assert_string_equal(f.name, expected[i].name);
        assert_int_equal(f.dtype, expected[i].dtype);
        assert_int_equal(f.offset, expected[i].offset);
        assert_int_equal(f.ndim, expected[i].ndim);
        assert_int_equal(f.shape[0], expected[i].shape[0]);
    }
    OK(kjit_record_field(ctx, type, 4, &f));
    assert_int_equal(f.dtype, inner);
    assert_int_equal(f.ndim, 1);
    assert_int_equal(f.shape[0], 2);
    FAILS(kjit_record_field(ctx, type, 5, &f), KJIT_NOT_FOUND, "Particle has 5 fields");
    FAILS(kjit_record_info(ctx, KJIT_F32X4, &info), KJIT_TYPE, "17 is no record");
    FAILS(kjit_record_info(ctx, KJIT_LAST_RECORD, &info), KJIT_TYPE, "65535 is no record");
    FAILS(kjit_module_record(mod, "Particles", &none), KJIT_NOT_FOUND, "did you mean 'Particle'?");
    assert_int_equal(kjit_dtype_size(type), 0);
    assert_null(kjit_dtype_name(type));
    kjit_module_free(mod);
}

static void test_structs(void **state)
{
    (void)state;
    kjit_module *mod = module(source);
    particle p[4] = {{.mass = 1, .vel = {1, 2, 3}}, {.mass = 2, .cells = {{5, 6}, {7, 8}}}};
    double got[4];
    kjit_array *a = wrap(p, record(mod, "Particle"), 1, SHAPE(4)),
               *m = wrap(got, KJIT_F64, 1, SHAPE(4)), *field, *row, *none;
    launch(mod, "heavier", 4, (kjit_arg[]){kjit_arg_array(a), kjit_arg_f64(0.5)}, 2);
    assert_true(p[0].mass == 1.5 && p[1].mass == 2.5 && p[3].mass == 0.5);
    assert_true(p[1].cells[0].x == 5 && p[1].cells[1].x == 7 && p[1].cells[1].y == 1);
    launch(mod, "masses", 4, (kjit_arg[]){kjit_arg_array(a), kjit_arg_array(m)}, 2);
    assert_true(got[0] == 1.5 && got[1] == 2.5 && got[3] == 0.5);
    OK(kjit_array_field(a, "vel", &field));
    assert_int_equal(kjit_array_ndim(field), 2);
    assert_int_equal(kjit_array_shape(field)[1], 3);
    assert_int_equal(kjit_array_strides(field)[0], sizeof(particle));
    assert_ptr_equal(kjit_array_data(field), p[0].vel);
    kjit_array_free(field);
    OK(kjit_array_field(a, "cells", &field));
    OK(kjit_array_field(field, "y", &row));
    assert_ptr_equal(kjit_array_data(row), &p[0].cells[0].y);
    assert_int_equal(kjit_array_strides(row)[1], sizeof(cell));
    FAILS(kjit_array_field(row, "y", &none), KJIT_NOT_FOUND, "i16 has no field 'y'");
    FAILS(kjit_array_field(a, "masss", &none), KJIT_NOT_FOUND, "did you mean 'mass'?");
    kjit_array_free(field);
    kjit_array_free(row);
    kjit_array_free(a);
    kjit_array_free(m);
    kjit_module_free(mod);
}

/* Generics, values, const arrays that the host fills. */
static void test_launches(void **state)
{
    (void)state;
    kjit_module *mod = module(source);
    kjit_dtype type = record(mod, "Cell");
    cell a[3] = {{1, 2}, {3, 4}, {5, 6}}, b[3] = {{7, 8}}, with = {-1, -2};
    kjit_array *x = wrap(a, type, 1, SHAPE(3)), *y = wrap(b, type, 1, SHAPE(3)), *two;
    launch(mod, "swapped", 3, (kjit_arg[]){kjit_arg_array(x), kjit_arg_array(y)}, 2);
    assert_true(a[0].x == 7 && a[0].y == 8 && a[1].x == 0 && b[2].x == 5 && b[2].y == 6);
    launch(mod, "fill", 2, (kjit_arg[]){kjit_arg_array(x), kjit_arg_value(type, &with)}, 2);
    assert_true(a[1].x == -1 && a[1].y == -2 && a[2].x == 0);
    with = (cell){8, 9}; /* for a tuple, by place */
    launch(mod, "pair", 1, (kjit_arg[]){kjit_arg_array(x), kjit_arg_value(type, &with)}, 2);
    assert_true(a[0].x == 8 && a[0].y == 9 && a[1].x == -1);
    kjit_arg wrong[] = {kjit_arg_array(x), kjit_arg_value(type, &with)};
    FAILS(kjit_launch(mod, "other", &(kjit_config){.grid = {1}, .block = {1}}, wrong, 2), KJIT_TYPE,
          "kernel 'other': 'by' takes (i32, i32), and not these: field '1' is i32 in (i32, i32) "
          "and i16 in "
          "Cell");
    OK(kjit_array_wrap(ctx, b + 1, type, 1, SHAPE(2), NULL, KJIT_HOST, &two));
    OK(kjit_module_set_const(mod, "table", two));
    launch(mod, "look", 2, (kjit_arg[]){kjit_arg_array(x)}, 1);
    assert_true(a[0].x == 3 && a[0].y == 4 && a[1].x == 5 && a[1].y == 6);
    kjit_array *device;
    OK(kjit_to_device(x, NULL, &device));
    launch(mod, "swapped", 3, (kjit_arg[]){kjit_arg_array(device), kjit_arg_array(y)}, 2);
    assert_true(b[0].x == 3 && b[1].y == 6);
    kjit_array_free(device);
    kjit_array_free(two);
    kjit_array_free(x);
    kjit_array_free(y);
    kjit_module_free(mod);
}

/* What differs first is named. */
static void test_modules(void **state)
{
    (void)state;
    static const struct {
        const char *declared, *why;
    } others[] = {
        {"record Cell { x: i32, y: i16 }", NULL},
        {"record Square { x: i32, y: i16 }", NULL},
        {"record Cell { x: i32, z: i16 }", "field 'z' of Cell stands where Cell has 'y'"},
        {"record Cell { x: i32, y: i32 }", "field 'y' is i32 in Cell and i16 in Cell"},
        {"record Cell { x: i32, y: i16[2] }", "field 'y' is i16[2] in Cell and i16 in Cell"},
        {"record Cell { x: i32, y: i16, z: i16 }", "Cell has no field 'z'"},
        {"record I { a: u8 }\nrecord Cell { x: I, y: i16 }",
         "field 'x' is I in Cell and i32 in Cell"},
    };
    kjit_module *mod = module(source);
    cell a[2] = {{1, 2}, {3, 4}};
    kjit_array *x = wrap(a, record(mod, "Cell"), 1, SHAPE(2));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char text[256];
        const char *name = strstr(others[i].declared, "Square") ? "Square" : "Cell";
        snprintf(text, sizeof text, "%s\nkernel k(c: %s[]) { c[0] = %s() }\n", others[i].declared,
                 name, name);
        kjit_module *other = module(text);
        kjit_arg args[] = {kjit_arg_array(x)};
        a[0].y = 2;
        if (i == 0)
            assert_int_equal(record(other, "Cell"), record(mod, "Cell"));
        if (others[i].why)
            FAILS(kjit_launch(other, "k", &(kjit_config){.grid = {1}, .block = {1}}, args, 1),
                  KJIT_TYPE, others[i].why);
        else
            launch(other, "k", 1, args, 1);
        assert_int_equal(a[0].y, others[i].why ? 2 : 0);
        a[0].x = 1;
        kjit_module_free(other);
    }
    kjit_module_free(mod); /* the type stays as long as the context */
    char *text;
    OK(kjit_array_format(x, &text));
    assert_string_equal(text, "[(1, 2) (3, 4)]");
    free(text);
    kjit_array_free(x);
}

/* ---- Files ---- */

/* The bytes that numpy.save gives, NumPy 2.4, for np.array([...], np.dtype([("pos", "<f4", (4,)),
 * ("alive", "?"), ("mass", "<f8"), ("vel", "<f4", (3,)), ("cells", np.dtype([("x", "<i4"), ("y",
 * "<i2")], align=True), (2,))], align=True)), by its rules: numpy.lib.format writes repr of
 * dtype.descr, which tells the gaps as '|V' fields without a name, and pads to a multiple of 64. */
static const char descr[] =
    "{'descr': [('pos', '<f4', (4,)), ('alive', '|b1'), ('', '|V7'), ('mass', '<f8'), "
    "('vel', '<f4', (3,)), ('cells', [('x', '<i4'), ('y', '<i2'), ('', '|V2')], (2,)), "
    "('', '|V4')], 'fortran_order': False, 'shape': (2,), }";

static size_t header(char *out, const char *dict)
{
    size_t room = 128;
    while (room < 10 + strlen(dict) + 20 + 1)
        room += 64;
    memset(out, ' ', room);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)(room - 10);
    out[9] = (char)((room - 10) >> 8);
    memcpy(out + 10, dict, strlen(dict));
    out[room - 1] = '\n';
    return room;
}

static void test_saved(void **state)
{
    (void)state;
    kjit_module *mod = module(source);
    kjit_dtype type = record(mod, "Particle");
    particle p[2], clean[2], *got;
    char expected[512 + sizeof p], file[sizeof expected + 1];
    memset(p, 0xee, sizeof p); /* what lies in the gaps is not told */
    memset(clean, 0, sizeof clean);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 4; k++)
            p[i].pos[k] = clean[i].pos[k] = (float)(i + k);
        for (int k = 0; k < 3; k++)
            p[i].vel[k] = clean[i].vel[k] = (float)-k;
        for (int k = 0; k < 2; k++) {
            p[i].cells[k].x = clean[i].cells[k].x = 10 * i + k;
            p[i].cells[k].y = clean[i].cells[k].y = (int16_t)-i;
        }
        p[i].alive = clean[i].alive = (uint8_t)i;
        p[i].mass = clean[i].mass = 1.0 / (i + 1);
    }
    size_t size = header(expected, descr);
    memcpy(expected + size, clean, sizeof clean);
    kjit_array *a = wrap(p, type, 1, SHAPE(2)), *b, *none;
    OK(kjit_array_save(a, path_of("p.npy")));
    FILE *f = fopen(path_of("p.npy"), "rb");
    assert_int_equal(fread(file, 1, sizeof file, f), size + sizeof clean);
    fclose(f);
    assert_memory_equal(file, expected, size + sizeof clean);
    OK(kjit_array_load_records(ctx, path_of("p.npy"), type, &b));
    got = kjit_array_data(b);
    assert_memory_equal(got, clean, sizeof clean);
    FAILS(kjit_array_load(ctx, path_of("p.npy"), &none), KJIT_TYPE, "holds records");
    FAILS(kjit_array_load_records(ctx, path_of("p.npy"), record(mod, "Cell"), &none), KJIT_TYPE,
          "has a field 'pos', which Cell does not have");
    FAILS(kjit_array_load_records(ctx, path_of("p.npy"), KJIT_F32, &none), KJIT_TYPE, "not f32");
    kjit_array_free(a);
    kjit_array_free(b);
    kjit_module_free(mod);
}

/* Another order, no gaps, big-endian numbers, titles: the fields are found by name. */
static void test_packed(void **state)
{
    (void)state;
    kjit_module *mod = module(source);
    static const char dict[] = "{'descr': [(('the y', 'y'), '>i2'), ('x', '>i4')], "
                               "'fortran_order': False, 'shape': (3,), }";
    static const unsigned char bytes[] = {0, 1, 0, 0, 1, 0, 0xff, 0xfe, 0,
                                          0, 0, 2, 1, 2, 3, 4,    5,    6};
    char file[256 + sizeof bytes];
    size_t size = header(file, dict);
    memcpy(file + size, bytes, sizeof bytes);
    write_file(path_of("packed.npy"), file, size + sizeof bytes);
    kjit_array *a;
    OK(kjit_array_load_records(ctx, path_of("packed.npy"), record(mod, "Cell"), &a));
    const cell *c = kjit_array_data(a);
    assert_int_equal(kjit_array_size(a), 3);
    assert_true(c[0].x == 256 && c[0].y == 1 && c[1].x == 2 && c[1].y == -2);
    assert_true(c[2].x == 0x03040506 && c[2].y == 0x0102);
    kjit_array_free(a);
    write_file(path_of("packed.npy"), file, size + sizeof bytes - 1);
    FAILS(kjit_array_load_records(ctx, path_of("packed.npy"), record(mod, "Cell"), &a), KJIT_FORMAT,
          "is truncated");
    kjit_module_free(mod);
}

/* Arrays of arrays, as NumPy writes a field of vectors: their extents stand from the inside out. */
static void test_nested(void **state)
{
    (void)state;
    kjit_module *mod = module("record Pair { m: f32x3[2], n: i32 }\n");
    static const char dict[] = "{'descr': [('m', ('<f4', (3,)), (2,)), ('n', '<i4')], "
                               "'fortran_order': False, 'shape': (1,), }";
    static const struct {
        float m[6];
        int32_t n;
    } pair = {{0, 1, 2, 3, 4, 5}, 6};
    char file[256 + sizeof pair];
    size_t size = header(file, dict);
    memcpy(file + size, &pair, sizeof pair);
    write_file(path_of("nested.npy"), file, size + sizeof pair);
    kjit_array *a, *m;
    OK(kjit_array_load_records(ctx, path_of("nested.npy"), record(mod, "Pair"), &a));
    OK(kjit_array_field(a, "m", &m));
    for (int64_t i = 0; i < 2; i++) {
        float part[3];
        OK(kjit_array_get(m, (int64_t[2]){0, i}, part));
        for (int k = 0; k < 3; k++)
            assert_true(part[k] == (float)(3 * i + k));
    }
    kjit_array_free(m);
    kjit_array_free(a);
    kjit_module_free(mod);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *descr, *why;
        kjit_status status;
    } files[] = {
        {"'<i4'", "has elements of i32, not records", KJIT_TYPE},
        {"[('x', '<i4')]", "has no field 'y' of Cell", KJIT_TYPE},
        {"[('x', '<i4'), ('x', '<i4'), ('y', '<i2')]", "has a field 'x', which Cell has once",
         KJIT_TYPE},
        {"[('x', '<f4'), ('y', '<i2')]", "the field 'x' is <f4 there, and i32 in Cell", KJIT_TYPE},
        {"[('x', '<i4', (2, 3)), ('y', '<i2')]", "the field 'x' is <i4 of shape (2, 3) there",
         KJIT_TYPE},
        {"[('x', [('a', '<i4')]), ('y', '<i2')]", "the field 'x' is a record there", KJIT_TYPE},
        {"[('x', '<U4'), ('y', '<i2')]", "the field 'x' is <U4 there", KJIT_TYPE},
        {"[('x' '<i4')]", "a field has no name", KJIT_FORMAT},
        {"[('x', '<i4' 3)]", "a field is not closed", KJIT_FORMAT},
        {"[('x', '<i4', (2", "a field's shape is none", KJIT_FORMAT},
        {"[('x', 3), ('y', '<i2')]", "a field has no type", KJIT_FORMAT},
        {"[('', '|V99999999'), ('x', '<i4')]", "a gap between fields is too large", KJIT_FORMAT},
        {"[('x', ('<i4', (2,)), (3,)), ('y', '<i2')]", "the field 'x' is <i4 of shape (3, 2) there",
         KJIT_TYPE},
        {"[('x', ('<i4', 2), ('y', '<i2')]", "a field's shape is none", KJIT_FORMAT},
        {"[('x', ((((((((((('<i4'", "a field has no type", KJIT_FORMAT},
        {"['x', 'y']", "a field is no tuple", KJIT_FORMAT},
        {"[('x', '<i4'), ('y', '<i2') 3]", "the list of fields is not closed", KJIT_FORMAT},
    };
    kjit_module *mod = module(source);
    kjit_dtype type = record(mod, "Cell");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char dict[256], file[512] = {0};
        kjit_array *a;
        snprintf(dict, sizeof dict, "{'descr': %s, 'fortran_order': False, 'shape': (1,), }",
                 files[i].descr);
        size_t size = header(file, dict);
        write_file(path_of("bad.npy"), file, size + 64);
        FAILS(kjit_array_load_records(ctx, path_of("bad.npy"), type, &a), files[i].status,
              files[i].why);
    }
    kjit_module_free(mod);
}

/* The bytes of a field, or of an element of one that is an array. */
static void get(kjit_array *of, const char *name, int64_t i, void *value)
{
    kjit_array *f;
    OK(kjit_array_field(of, name, &f));
    OK(kjit_array_get(f, &i, value));
    kjit_array_free(f);
}

/* One record in device memory: an array without axes. It is read and written whole, and by its
 * fields, which are views. */
static void test_device_record(void **state)
{
    (void)state;
    kjit_module *mod = module(source);
    kjit_dtype type = record(mod, "Particle");
    particle p = {.pos = {1, 2, 3, 4}, .alive = 1, .mass = 2.5, .vel = {5, 6, 7}}, q;
    kjit_array *host, *d, *one, *mass, *pos, *vel, *cells;
    p.cells[1] = (cell){9, -9};
    OK(kjit_array_wrap(ctx, &p, type, 0, NULL, NULL, KJIT_HOST, &host));
    OK(kjit_to_device(host, NULL, &d));
    p.mass = 100; /* the device has a copy */
    assert_int_equal(kjit_array_ndim(d), 0);
    assert_int_equal(kjit_array_size(d), 1);
    assert_int_equal(kjit_array_memory(d), KJIT_DEVICE);

    double number;
    int32_t x;
    OK(kjit_array_field(d, "mass", &mass));
    assert_int_equal(kjit_array_ndim(mass), 0);
    OK(kjit_array_get(mass, NULL, &number));
    assert_float_equal(number, 2.5, 0);
    OK(kjit_array_reshape(d, 1, SHAPE(1), 'C', &one));
    launch(mod, "heavier", 1, (kjit_arg[]){kjit_arg_array(one), kjit_arg_f64(1)}, 2);
    OK(kjit_array_get(mass, NULL, &number)); /* the view sees what the kernel did */
    assert_float_equal(number, 3.5, 0);
    OK(kjit_array_set(mass, NULL, &(double){8}));

    OK(kjit_array_field(d, "pos", &pos));
    OK(kjit_array_set(pos, NULL, (float[]){10, 20, 30, 40}));
    OK(kjit_array_field(d, "vel", &vel));
    assert_int_equal(kjit_array_ndim(vel), 1);
    OK(kjit_array_set(vel, SHAPE(2), &(float){70}));
    OK(kjit_array_field(d, "cells", &cells));
    get(cells, "x", 1, &x);
    assert_int_equal(x, 9);
    OK(kjit_array_set(cells, SHAPE(0), &(cell){3, 4}));
    FAILS(kjit_array_get(cells, SHAPE(2), &x), KJIT_SHAPE, "index 2");

    OK(kjit_array_get(d, NULL, &q));
    assert_float_equal(q.mass, 8, 0);
    assert_float_equal(q.pos[3], 40, 0);
    assert_float_equal(q.vel[2], 70, 0);
    assert_float_equal(q.vel[1], 6, 0);
    assert_true(q.cells[0].x == 3 && q.cells[0].y == 4 && q.cells[1].y == 0);
    q.mass = -1;
    OK(kjit_array_set(d, NULL, &q));
    kjit_array_free(d); /* a field keeps the record */
    OK(kjit_array_get(mass, NULL, &number));
    assert_float_equal(number, -1, 0);
    kjit_array *all[] = {host, one, mass, pos, vel, cells};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        kjit_array_free(all[i]);
    kjit_module_free(mod);
}

/* Elements that overlap by parts, either way: what is written is what was there before. */
static void test_overlapping(void **state)
{
    (void)state;
    enum { N = 100, MOST = 3 * N };
    static const int starts[][2] = {{0, 30}, {30, 0}, {0, 99}, {99, 0}, {0, 100}, {7, 7}, {0, 1}};
    kjit_module *mod = module(source);
    kjit_dtype type = record(mod, "Long");
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        int32_t words[MOST];
        kjit_array *x, *out;
        for (int i = 0; i < MOST; i++)
            words[i] = i;
        OK(kjit_array_wrap(ctx, words + starts[k][0], type, 1, (int64_t[]){1}, NULL, KJIT_HOST,
                           &x));
        OK(kjit_array_wrap(ctx, words + starts[k][1], type, 1, (int64_t[]){1}, NULL, KJIT_HOST,
                           &out));
        launch(mod, "moved", 1, (kjit_arg[]){kjit_arg_array(x), kjit_arg_array(out)}, 2);
        OK(kjit_synchronize(ctx));
        for (int i = 0; i < MOST; i++) {
            int at = i - starts[k][1];
            assert_int_equal(words[i], at >= 0 && at < N ? starts[k][0] + at : i);
        }
        kjit_array_free(x);
        kjit_array_free(out);
    }
    kjit_module_free(mod);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_description), cmocka_unit_test(test_structs),
        cmocka_unit_test(test_launches),    cmocka_unit_test(test_modules),
        cmocka_unit_test(test_saved),       cmocka_unit_test(test_packed),
        cmocka_unit_test(test_nested),      cmocka_unit_test(test_device_record),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_overlapping),
    };
    int failed = cmocka_run_group_tests(tests, make_context, drop_context);
    drop_folder();
    return failed;
}
