/* Elements of strips: 4, 8 or 16 neighbours in each lane's own row of memory, loaded or stored at once.
 *
 * A lane's elements are loaded as they lie, as vectors, and put in the order of a gang: the first ones of all
 * lanes, then the second ones. That is a transposition, of tiles as wide as a vector register. Registers are made
 * of pieces of 16 bytes: first pieces of different rows are brought together (`regroup`), then the elements of
 * rows within pieces (`kj_transpose`), by shuffles that every x86 has. The code is a function for each size of
 * elements, which loops over tiles. */
#include "lower/memory/memory.h"

#include "base/c_locale.h"

enum {
    PIECE = 16,                        /* bytes that shuffles take elements out of */
    MOST_PIECES = 4,                   /* of a register */
    MOST_ELEMENTS = 16,                /* of a piece */
    MOST_PLACES = PIECE * MOST_PIECES, /* of a register */
    AHEAD = 3 * KJ_LINE                /* bytes by which the next strips are fetched */
};

/* How a tile lies in registers. */
typedef struct shape {
    int size;     /* bytes of an element */
    int turns;    /* of the strip */
    int elements; /* of a piece */
    int pieces;   /* of a register of a tile's lanes */
    int width;    /* lanes of a tile */
    int columns;  /* pieces of a lane's row */
    int block;    /* that are loaded at a time */
} shape;

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static shape shape_of(const kj_lower *lo, int size, int turns)
{
    shape s = {
        .size = size, .turns = turns, .elements = PIECE / size, .columns = turns * size / PIECE};
    s.width = smaller(lo->lanes, lo->vector * 4 / size);
    s.pieces = s.width / s.elements;
    s.block = smaller(s.columns, s.pieces);
    return s;
}

bool kj_has_strips(const kj_lower *lo, kj_dtype type, int turns)
{
    int elements = PIECE / kj_types[type].size;
    return lo->lanes >= elements && turns >= elements;
}

/* ---- Shuffles ---- */

/* Pieces of two vectors behind each other, of n elements each. */
static LLVMValueRef pieces(kj_lower *lo, LLVMValueRef a, LLVMValueRef b, int n, const int *which,
                           int count)
{
    int places[MOST_PLACES] = {0};
    for (int i = 0; i < count * n; i++)
        places[i] = which[i / n] * n + i % n;
    return kj_shuffled(lo, a, b, places, count * n);
}

/* Rows of b pieces each, as many as a register has pieces, become b vectors: the first has the rows' first pieces.
 * In place; n elements a piece. */
static void regroup(kj_lower *lo, LLVMValueRef *v, int rows, int b, int n)
{
    static const int first[2] = {0, 2}, second[2] = {1, 3}, low[4] = {0, 1, 4, 5},
                     high[4] = {2, 3, 6, 7}, even[4] = {0, 2, 4, 6}, odd[4] = {1, 3, 5, 7},
                     all[4] = {0, 1, 2, 3};
    if (rows == 2) {
        LLVMValueRef x = v[0], y = v[1];
        v[0] = pieces(lo, x, y, n, b == 2 ? first : all, 2);
        v[1] = b == 2 ? pieces(lo, x, y, n, second, 2) : NULL;
    } else if (rows == 4 && b == 1) {
        LLVMValueRef x = pieces(lo, v[0], v[1], n, all, 2), y = pieces(lo, v[2], v[3], n, all, 2);
        v[0] = pieces(lo, x, y, n, all, 4);
    } else if (rows == 4) {
        LLVMValueRef from[4] = {v[0], v[1], v[2], v[3]};
        for (int h = 0; h < b / 2; h++) {
            const int *half = b == 2 ? all : h ? high : low;
            LLVMValueRef x = pieces(lo, from[0], from[1], n, half, 4),
                         y = pieces(lo, from[2], from[3], n, half, 4);
            v[2 * h] = pieces(lo, x, y, n, even, 4);
            v[2 * h + 1] = pieces(lo, x, y, n, odd, 4);
        }
    }
}

/* And back: b vectors become rows of b pieces. */
static void ungroup(kj_lower *lo, LLVMValueRef *v, int rows, int b, int n)
{
    LLVMValueRef from[2] = {v[0], b == 2 ? v[1] : NULL};
    if (b == 4) {
        regroup(lo, v, rows, b, n);
        return;
    }
    for (int q = 0; q < rows; q++)
        v[q] = pieces(lo, from[0], from[1], n, (const int[]){q, rows + q}, b);
}

/* ---- A tile ---- */

/* Of the function: rows' addresses, how many bytes behind them the strip begins, where the gang's order is, and the
 * tile's first lane. */
typedef struct place {
    LLVMValueRef rows, by, room, lane;
    bool down;
} place;

static LLVMValueRef behind(kj_lower *lo, LLVMValueRef base, LLVMValueRef bytes, int more)
{
    LLVMValueRef by = LLVMBuildAdd(lo->b, bytes, kj_i64(lo, more), "");
    return LLVMBuildGEP2(lo->b, lo->i8, base, &by, 1, "");
}

/* From that piece on of that lane's row. */
static LLVMValueRef row_at(kj_lower *lo, const place *p, int lane, int piece)
{
    LLVMValueRef l = LLVMBuildAdd(lo->b, p->lane, kj_i64(lo, lane), "");
    LLVMValueRef at = LLVMBuildGEP2(lo->b, lo->ptr, p->rows, &l, 1, "");
    return behind(lo, LLVMBuildLoad2(lo->b, lo->ptr, at, ""), p->by, piece * PIECE);
}

/* What the tile's lanes have in that column of the strip. */
static LLVMValueRef turn_at(kj_lower *lo, const place *p, const shape *s, int column)
{
    int turn = p->down ? s->turns - 1 - column : column;
    LLVMValueRef bytes = LLVMBuildMul(lo->b, p->lane, kj_i64(lo, s->size), "");
    return behind(lo, p->room, bytes, turn * lo->lanes * s->size);
}

static LLVMTypeRef vector_of(kj_lower *lo, const shape *s, int n)
{
    return LLVMVectorType(LLVMIntTypeInContext(lo->ctx, 8u * (unsigned)s->size), (unsigned)n);
}

static void load_block(kj_lower *lo, const place *p, const shape *s, int piece)
{
    LLVMValueRef v[MOST_PIECES][MOST_ELEMENTS];
    for (int j = 0; j < s->elements; j++) {
        LLVMValueRef rows[MOST_PIECES];
        for (int q = 0; q < s->pieces; q++) {
            LLVMValueRef at = row_at(lo, p, q * s->elements + j, piece);
            rows[q] = LLVMBuildLoad2(lo->b, vector_of(lo, s, s->block * s->elements), at, "");
            LLVMSetAlignment(rows[q], (unsigned)s->size);
            if (s->turns == KJ_STRIP && piece * PIECE % KJ_LINE == 0)
                kj_prefetch(lo, behind(lo, at, kj_i64(lo, p->down ? -AHEAD : AHEAD), 0), 1, 2);
        }
        regroup(lo, rows, s->pieces, s->block, s->elements);
        for (int c = 0; c < s->block; c++)
            v[c][j] = rows[c];
    }
    for (int c = 0; c < s->block; c++) {
        kj_transpose(lo, v[c], s->elements, s->width);
        for (int i = 0; i < s->elements; i++) {
            int column = (piece + c) * s->elements + i;
            LLVMValueRef store = LLVMBuildStore(lo->b, v[c][i], turn_at(lo, p, s, column));
            LLVMSetAlignment(store, (unsigned)(s->width * s->size));
        }
    }
}

static void store_block(kj_lower *lo, const place *p, const shape *s, int piece)
{
    LLVMValueRef v[MOST_PIECES][MOST_ELEMENTS];
    for (int c = 0; c < s->block; c++) {
        for (int i = 0; i < s->elements; i++) {
            LLVMValueRef at = turn_at(lo, p, s, (piece + c) * s->elements + i);
            v[c][i] = LLVMBuildLoad2(lo->b, vector_of(lo, s, s->width), at, "");
            LLVMSetAlignment(v[c][i], (unsigned)(s->width * s->size));
        }
        kj_transpose(lo, v[c], s->elements, s->width);
    }
    for (int j = 0; j < s->elements; j++) {
        LLVMValueRef rows[MOST_PIECES] = {NULL};
        for (int c = 0; c < s->block; c++)
            rows[c] = v[c][j];
        ungroup(lo, rows, s->pieces, s->block, s->elements);
        for (int q = 0; q < s->pieces; q++) {
            LLVMValueRef at = row_at(lo, p, q * s->elements + j, piece);
            LLVMSetAlignment(LLVMBuildStore(lo->b, rows[q], at), (unsigned)s->size);
        }
    }
}

/* ---- The functions ---- */

/* A loop over the tiles of a gang's row. */
static void move_tiles(kj_lower *lo, const shape *s, bool down, bool stores)
{
    place p = {LLVMGetParam(lo->fn, 0), LLVMGetParam(lo->fn, 1), LLVMGetParam(lo->fn, 2), NULL,
               down};
    LLVMBasicBlockRef entry = kj_new_block(lo, "entry"), tile = kj_new_block(lo, "tile"),
                      done = kj_new_block(lo, "done");
    LLVMPositionBuilderAtEnd(lo->b, entry);
    LLVMBuildBr(lo->b, tile);
    LLVMPositionBuilderAtEnd(lo->b, tile);
    p.lane = LLVMBuildPhi(lo->b, lo->i64, "lane");
    for (int piece = 0; piece < s->columns; piece += s->block)
        (stores ? store_block : load_block)(lo, &p, s, piece);
    LLVMValueRef next = LLVMBuildAdd(lo->b, p.lane, kj_i64(lo, s->width), "");
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntULT, next, kj_i64(lo, lo->lanes), ""), tile,
                    done);
    LLVMAddIncoming(p.lane, (LLVMValueRef[]){kj_i64(lo, 0), next},
                    (LLVMBasicBlockRef[]){entry, tile}, 2);
    LLVMPositionBuilderAtEnd(lo->b, done);
    LLVMBuildRetVoid(lo->b);
}

/* A loop over the lanes that run, whose bits are the last argument: element by element. */
static void store_lanes(kj_lower *lo, const shape *s, bool down)
{
    place p = {LLVMGetParam(lo->fn, 0), LLVMGetParam(lo->fn, 1), LLVMGetParam(lo->fn, 2), NULL,
               down};
    LLVMPositionBuilderAtEnd(lo->b, kj_new_block(lo, "entry"));
    kj_bit_loop l = kj_bits_begin(lo, LLVMGetParam(lo->fn, 3), true);
    p.lane = l.thread;
    LLVMValueRef row = row_at(lo, &p, 0, 0);
    for (int column = 0; column < s->turns; column++) {
        LLVMValueRef v = LLVMBuildLoad2(lo->b, LLVMGetElementType(vector_of(lo, s, 1)),
                                        turn_at(lo, &p, s, column), "");
        LLVMSetAlignment(v, (unsigned)s->size);
        LLVMValueRef store =
            LLVMBuildStore(lo->b, v, behind(lo, row, kj_i64(lo, 0), column * s->size));
        LLVMSetAlignment(store, (unsigned)s->size);
    }
    kj_bits_end(lo, &l);
    LLVMBuildRetVoid(lo->b);
}

typedef enum task { LOADS, STORES, STORES_SOME } task;

static LLVMValueRef make_function(kj_lower *lo, LLVMTypeRef signature, const char *name,
                                  const shape *s, bool down, task what)
{
    LLVMValueRef kernel = lo->fn, f = LLVMAddFunction(lo->module, name, signature);
    LLVMBasicBlockRef back = LLVMGetInsertBlock(lo->b);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    lo->fn = f;
    kj_attribute(lo, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "noinline", 0);
    kj_attribute(lo, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "nounwind", 0);
    kj_attribute_vectors(lo);
    if (what == STORES_SOME)
        store_lanes(lo, s, down);
    else
        move_tiles(lo, s, down, what == STORES);
    lo->fn = kernel;
    LLVMPositionBuilderAtEnd(lo->b, back);
    return f;
}

/* `bits`: of the lanes that run; NULL: all do. */
static void call(kj_lower *lo, task what, const kj_strip_shape *form, LLVMValueRef rows,
                 LLVMValueRef turn, LLVMValueRef room, LLVMValueRef bits)
{
    static const char *const words[] = {"load", "store", "some"};
    char name[48];
    shape s = shape_of(lo, kj_types[form->type].size, form->turns);
    LLVMTypeRef params[4] = {lo->ptr, lo->i64, lo->ptr, lo->i64};
    unsigned n = bits ? 4 : 3;
    LLVMTypeRef signature = LLVMFunctionType(LLVMVoidTypeInContext(lo->ctx), params, n, false);
    kj_snprintf(name, sizeof name, "kj.strip.%s.%d.%d.%d%s", words[what], lo->lanes, s.turns,
                s.size, form->down ? ".down" : "");
    LLVMValueRef f = LLVMGetNamedFunction(lo->module, name), by = turn;
    if (!f)
        f = make_function(lo, signature, name, &s, form->down, what);
    if (form->down)
        by = LLVMBuildSub(lo->b, kj_i64(lo, 1 - s.turns), turn, "");
    by = LLVMBuildMul(lo->b, by, kj_i64(lo, s.size), "");
    LLVMBuildCall2(lo->b, signature, f, (LLVMValueRef[]){rows, by, room, bits}, n, "");
}

void kj_strip_load(kj_lower *lo, const kj_strip_shape *form, LLVMValueRef rows, LLVMValueRef turn,
                   LLVMValueRef room)
{
    call(lo, LOADS, form, rows, turn, room, NULL);
}

void kj_strip_store(kj_lower *lo, const kj_strip_shape *form, LLVMValueRef rows, LLVMValueRef turn,
                    LLVMValueRef room, LLVMValueRef mask)
{
    if (!mask) {
        call(lo, STORES, form, rows, turn, room, NULL);
        return;
    }
    LLVMBasicBlockRef all = kj_new_block(lo, "all"), some = kj_new_block(lo, "some"),
                      done = kj_new_block(lo, "stored");
    LLVMTypeRef word = LLVMIntTypeInContext(lo->ctx, (unsigned)lo->lanes);
    LLVMValueRef full = LLVMBuildICmp(lo->b, LLVMIntEQ, LLVMBuildBitCast(lo->b, mask, word, ""),
                                      LLVMConstAllOnes(word), "");
    LLVMBuildCondBr(lo->b, full, all, some);
    LLVMPositionBuilderAtEnd(lo->b, all);
    call(lo, STORES, form, rows, turn, room, NULL);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, some);
    call(lo, STORES_SOME, form, rows, turn, room, kj_mask_bits(lo, mask, lo->lanes));
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
}
