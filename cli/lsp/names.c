/* Words -> what they name: one walk over them, which keeps what each name means where it is. It knows as much of the
 * grammar as declarations and blocks need, and no types; so it works on texts with errors. */
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

enum { MOST_BLOCKS = 256 };

/* Words by what they do to names. */
typedef enum word_kind {
    W_NAME,
    W_LET,
    W_VAR,
    W_PARAM,
    W_FOR,
    W_WITH,
    W_AS,
    W_CONST,
    W_RESERVED
} word_kind;

typedef struct walk {
    const char *text;
    names *n;
    uint8_t *kinds;   /* of each name */
    token *at;        /* n->tokens.at */
    int32_t *meaning; /* of each name, here: a declaration or -1 */
    int32_t *active;  /* those of the blocks around, the innermost last */
    int32_t nactive, active_room;
    int32_t waiting; /* active from here on are not known yet: a let's, until its end; -1: none */
    struct {
        int32_t begin; /* of active */
        bool header;   /* its brace has not come yet */
        bool looping;  /* a loop's names wait for it */
        bool with;
    } block[MOST_BLOCKS];
    int nblocks, deeper; /* deeper: blocks beyond MOST_BLOCKS, which are as if one */
    int32_t item;        /* the one that this is in, or -1 */
    bool full;
} walk;

/* ---- Spellings ---- */

/* Where the spelling is in the table, or would be. */
static size_t slot_of(const names *n, const char *text, const char *word, size_t size)
{
    size_t hash = 5381;
    for (size_t k = 0; k < size; k++)
        hash = hash * 33 + (unsigned char)word[k];
    size_t slot = (hash ^ hash >> 15) & (n->slots - 1);
    for (; n->table[slot] != NO_TOKEN; slot = (slot + 1) & (n->slots - 1)) {
        const token *t = &n->tokens.at[n->table[slot]];
        if (t->end - t->begin == size && memcmp(text + t->begin, word, size) == 0)
            break;
    }
    return slot;
}

uint32_t find_spelling(const names *n, const char *text, const char *word, size_t size)
{
    uint32_t first = n->table[slot_of(n, text, word, size)];
    return first == NO_TOKEN ? NO_TOKEN : n->tokens.at[first].name;
}

static word_kind kind_of_word(const char *word, size_t size)
{
    static const struct {
        const char *word;
        word_kind kind;
    } kinds[] = {{"let", W_LET},   {"var", W_VAR}, {"param", W_PARAM}, {"for", W_FOR},
                 {"with", W_WITH}, {"as", W_AS},   {"const", W_CONST}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(word, kinds[i].word, size) == 0 && kinds[i].word[size] == 0)
            return kinds[i].kind;
    return is_reserved(word, size) ? W_RESERVED : W_NAME;
}

/* Gives each spelling a number, and its kind. False: memory has run out. */
static bool number_names(walk *w)
{
    names *n = w->n;
    n->slots = 64;
    while (n->slots < 2 * (size_t)n->tokens.n)
        n->slots *= 2;
    n->table = malloc(n->slots * sizeof *n->table);
    w->kinds = malloc(n->tokens.n + 1);
    if (!n->table || !w->kinds)
        return false;
    memset(n->table, 0xff, n->slots * sizeof *n->table);
    for (uint32_t i = 0; i < n->tokens.n; i++) {
        token *t = &n->tokens.at[i];
        if (t->kind != T_NAME)
            continue;
        size_t size = t->end - t->begin, slot = slot_of(n, w->text, w->text + t->begin, size);
        if (n->table[slot] == NO_TOKEN) {
            n->table[slot] = i;
            w->kinds[n->nnames] = (uint8_t)kind_of_word(w->text + t->begin, size);
            t->name = n->nnames++;
        } else {
            t->name = n->tokens.at[n->table[slot]].name;
        }
    }
    return true;
}

/* ---- Declarations ---- */

bool is_item_kind(decl_kind kind)
{
    return kind <= D_RUN;
}

bool is_sign(const names *n, uint32_t i, char sign)
{
    return i < n->tokens.n && n->tokens.at[i].kind == T_SIGN && n->tokens.at[i].sign == sign;
}

static bool is_name(const names *n, uint32_t i)
{
    return i < n->tokens.n && n->tokens.at[i].kind == T_NAME;
}

static bool is_word(const walk *w, uint32_t i, const char *word)
{
    size_t n = strlen(word);
    return is_name(w->n, i) && w->at[i].end - w->at[i].begin == n &&
           memcmp(w->text + w->at[i].begin, word, n) == 0;
}

/* The declaration of the name at token i; its place is the name's until more is known. NULL: memory has run out. */
static decl *declare(walk *w, decl_kind kind, uint32_t i, int32_t parent)
{
    names *n = w->n;
    if (n->ndecls == n->room) {
        int32_t room = n->room ? n->room * 2 : 64;
        decl *more = realloc(n->decls, (size_t)room * sizeof *more);
        w->full |= !more;
        if (!more)
            return NULL;
        n->decls = more;
        n->room = room;
    }
    int32_t me = n->ndecls++;
    token *t = &w->at[i];
    n->decls[me] = (decl){.kind = kind,
                          .name = t->name,
                          .at = i,
                          .begin = t->begin,
                          .end = t->end,
                          .head_end = t->end,
                          .scope = t->begin,
                          .scope_end = UINT32_MAX,
                          .parent = parent,
                          .child = -1,
                          .next = -1,
                          .hidden = -1};
    t->decl = me;
    return &n->decls[me];
}

/* Behind the parent's other children. */
static void add_child(names *n, int32_t parent, int32_t *last)
{
    int32_t me = n->ndecls - 1;
    if (*last >= 0)
        n->decls[*last].next = me;
    else
        n->decls[parent].child = me;
    *last = me;
}

/* ---- Blocks ---- */

static void activate(walk *w, int32_t d, uint32_t from)
{
    decl *c = &w->n->decls[d];
    c->scope = from;
    c->hidden = w->meaning[c->name];
    w->meaning[c->name] = d;
}

/* A local name is of the innermost block: known at once, or from its statement's end on. */
static void add_active(walk *w, int32_t d, bool at_once)
{
    if (w->nactive == w->active_room) {
        int32_t room = w->active_room ? w->active_room * 2 : 64;
        int32_t *more = realloc(w->active, (size_t)room * sizeof *more);
        w->full |= !more;
        if (!more)
            return;
        w->active = more;
        w->active_room = room;
    }
    if (!at_once && w->waiting < 0)
        w->waiting = w->nactive;
    w->active[w->nactive++] = d;
    if (at_once)
        activate(w, d, w->n->decls[d].begin);
}

/* What waited is known from here on. */
static void end_waiting(walk *w, uint32_t offset)
{
    for (int32_t i = w->waiting; i >= 0 && i < w->nactive; i++) {
        decl *c = &w->n->decls[w->active[i]];
        if (c->kind == D_LET || c->kind == D_VAR || c->kind == D_RUN_PARAM)
            c->end = c->head_end = offset;
        activate(w, w->active[i], offset);
    }
    w->waiting = -1;
}

static void push_block(walk *w, bool header)
{
    if (w->nblocks == MOST_BLOCKS) {
        w->deeper++;
        return;
    }
    memset(&w->block[w->nblocks], 0, sizeof *w->block);
    w->block[w->nblocks].begin = w->nactive;
    w->block[w->nblocks++].header = header;
}

static void pop_block(walk *w, uint32_t offset)
{
    if (w->nblocks == 0)
        return;
    end_waiting(w, offset);
    if (w->deeper > 0) {
        w->deeper--;
        return;
    }
    int32_t begin = w->block[--w->nblocks].begin;
    while (w->nactive > begin) {
        decl *c = &w->n->decls[w->active[--w->nactive]];
        c->scope_end = offset;
        w->meaning[c->name] = c->hidden;
    }
}

static void end_item(walk *w, uint32_t offset)
{
    w->deeper = 0;
    while (w->nblocks > 0)
        pop_block(w, offset);
    w->waiting = -1;
    if (w->item >= 0 && w->n->decls[w->item].end < offset)
        w->n->decls[w->item].end = offset;
    w->item = -1;
}

/* ---- Items ---- */

static decl_kind item_kind(const walk *w, uint32_t i)
{
    static const struct {
        const char *word;
        decl_kind kind;
    } kinds[] = {{"use", D_USE},       {"const", D_CONST},   {"fn", D_FN},
                 {"kernel", D_KERNEL}, {"record", D_RECORD}, {"type", D_TYPE},
                 {"enum", D_ENUM},     {"test", D_TEST},     {"run", D_RUN}};
    size_t k = 0;
    while (k + 1 < sizeof kinds / sizeof *kinds && !is_word(w, i, kinds[k].word))
        k++;
    return kinds[k].kind == D_RUN && is_name(w->n, i + 1) ? D_RUN_FN : kinds[k].kind;
}

/* use "folder/name.knl", use std.name, use ... as name: the token of the name that stands for it. */
static uint32_t use_name(const walk *w, uint32_t i)
{
    uint32_t name = is_sign(w->n, i + 2, '.') ? i + 3 : i + 1, last = name;
    if (is_word(w, name + 1, "as") && is_name(w->n, name + 2))
        last = name + 2;
    return last < w->n->tokens.n ? last : i;
}

/* What the file declares is known everywhere in it. */
static void declare_items(walk *w)
{
    names *n = w->n;
    for (uint32_t i = 0; i < n->tokens.n && !w->full; i++) {
        if (!w->at[i].item)
            continue;
        decl_kind kind = item_kind(w, i);
        uint32_t name = kind == D_USE ? use_name(w, i) : kind == D_RUN ? i : i + 1;
        decl *c = declare(w, kind, name, -1);
        if (!c)
            return;
        c->begin = w->at[i].begin;
        c->scope = 0;
        if (w->at[name].kind == T_NAME && kind != D_RUN && n->global[c->name] < 0)
            n->global[c->name] = n->ndecls - 1;
    }
}

/* A file's name without folders and ending is its name here. */
static void name_use(walk *w, decl *c)
{
    const token *t = &w->at[c->at];
    uint32_t begin = t->begin + 1, end = t->end - 1;
    if (t->kind != T_STRING || end <= begin)
        return;
    for (uint32_t k = begin; k < end; k++)
        if (w->text[k] == '/')
            begin = k + 1;
    if (end - begin > 4 && memcmp(w->text + end - 4, ".knl", 4) == 0)
        end -= 4;
    c->name = find_spelling(w->n, w->text, w->text + begin, end - begin);
    if (c->name == NO_TOKEN)
        c->name = 0; /* nobody says it */
    else if (w->n->global[c->name] < 0)
        w->n->global[c->name] = (int32_t)(c - w->n->decls);
}

static void declare_generics(walk *w, uint32_t i, int32_t item)
{
    for (; i < w->n->tokens.n && !is_sign(w->n, i, '>') && !is_sign(w->n, i, '('); i++)
        if (is_name(w->n, i) && (is_sign(w->n, i - 1, '<') || is_sign(w->n, i - 1, ',')) &&
            declare(w, D_GENERIC, i, item))
            add_active(w, w->n->ndecls - 1, true);
}

/* Of parameters the end: in front of the comma or bracket. */
static uint32_t part_end(const walk *w, uint32_t i, uint32_t open)
{
    uint32_t last = i;
    for (; i < w->n->tokens.n; i++) {
        const token *t = &w->at[i];
        bool ends =
            t->kind == T_LINE || t->item || (t->open == open && is_sign(w->n, i, ',')) ||
            (t->open == w->at[open].open && t->kind == T_SIGN && t->begin > w->at[open].begin);
        if (ends)
            break;
        last = i;
    }
    return w->at[last].end;
}

/* Names in brackets, behind the bracket, commas and line ends: parameters, fields, an enum's names. */
static void declare_parts(walk *w, uint32_t open, int32_t item, decl_kind kind)
{
    int32_t last = -1;
    names *n = w->n;
    for (uint32_t i = open + 1; i < n->tokens.n && !w->at[i].item; i++) {
        if (w->at[i].open == w->at[open].open && w->at[i].kind == T_SIGN)
            break; /* it is closed */
        if (w->at[i].open != open || w->at[i].kind != T_NAME || w->kinds[w->at[i].name] == W_CONST)
            continue;
        uint32_t k = is_word(w, i - 1, "const") ? i - 2 : i - 1;
        const token *before = &w->at[k];
        if (k != open && before->kind != T_LINE && !(before->open == open && is_sign(n, k, ',')))
            continue;
        uint32_t begin = w->at[k + 1].begin, end = part_end(w, i, open);
        decl *c = declare(w, kind, i, item);
        if (!c)
            return;
        c->begin = begin;
        c->end = c->head_end = end;
        add_child(n, item, &last);
        if (kind != D_FIELD)
            add_active(w, n->ndecls - 1, true);
        else
            n->field[c->name] = n->field[c->name] == -1 ? n->ndecls - 1 : -2;
    }
}

/* At an item's word: what is in its head is declared, and a block waits for its brace. */
static void begin_item(walk *w, uint32_t i)
{
    names *n = w->n;
    end_item(w, w->at[i].begin);
    decl_kind kind = item_kind(w, i);
    uint32_t name = kind == D_USE ? use_name(w, i) : kind == D_RUN ? i : i + 1, k = name + 1;
    w->item = w->at[name].decl;
    if (w->item < 0 || kind == D_USE)
        return;
    push_block(w, true);
    if (kind == D_FN || kind == D_KERNEL || kind == D_RUN_FN) {
        if (is_sign(n, k, '<'))
            declare_generics(w, k, w->item);
        while (k < n->tokens.n && !is_sign(n, k, '(') && w->at[k].kind != T_LINE && !w->at[k].item)
            k++;
        if (is_sign(n, k, '('))
            declare_parts(w, k, w->item, D_PARAM);
    } else if (kind == D_RECORD || kind == D_ENUM) {
        while (k < n->tokens.n && !is_sign(n, k, '{') && w->at[k].kind != T_LINE && !w->at[k].item)
            k++;
        if (is_sign(n, k, '{'))
            declare_parts(w, k, w->item, kind == D_ENUM ? D_MEMBER : D_FIELD);
    }
}

/* ---- Statements ---- */

/* let a, b: the names behind the word. */
static void declare_list(walk *w, uint32_t i, decl_kind kind, bool at_once)
{
    uint32_t begin = w->at[i].begin;
    do {
        i++;
        if (!is_name(w->n, i) || w->kinds[w->at[i].name] != W_NAME)
            return;
        decl *c = declare(w, kind, i, -1);
        if (!c)
            return;
        c->begin = begin;
        add_active(w, w->n->ndecls - 1, at_once);
    } while (is_sign(w->n, ++i, ','));
}

static void open_brace(walk *w, uint32_t i)
{
    bool is_header = w->nblocks > 0 && w->block[w->nblocks - 1].header;
    if (!is_header) {
        push_block(w, false);
        return;
    }
    if (w->nblocks == 1 && w->item >= 0)
        w->n->decls[w->item].head_end = w->at[i].begin;
    end_waiting(w, w->at[i].begin);
    w->block[w->nblocks - 1].header = false;
}

/* A head whose brace did not come on its line has none. */
static void end_line(walk *w, uint32_t i)
{
    bool in_head = w->nblocks > 0 && w->block[w->nblocks - 1].header;
    if (in_head && is_sign(w->n, i + 1, '{'))
        return;
    end_waiting(w, w->at[i].begin);
    if (in_head && w->nblocks > 1)
        pop_block(w, w->at[i].begin);
    else if (in_head && w->item >= 0) {
        w->n->decls[w->item].head_end = w->at[i].begin;
        end_item(w, w->at[i].begin);
    }
}

/* Words that declare; false: it is another. */
static bool take_word(walk *w, uint32_t i)
{
    word_kind kind = w->kinds[w->at[i].name];
    switch (kind) {
    case W_LET: declare_list(w, i, D_LET, false); break;
    case W_VAR: declare_list(w, i, D_VAR, false); break;
    case W_PARAM:
        if (w->nblocks > 0)
            declare_list(w, i, D_RUN_PARAM, false);
        break;
    case W_FOR:
        push_block(w, true);
        declare_list(w, i, D_LOOP, false);
        break;
    case W_WITH:
        push_block(w, true);
        w->block[w->nblocks - 1].with = true;
        break;
    case W_AS:
        if (w->nblocks > 0 && w->block[w->nblocks - 1].with)
            declare_list(w, i, D_WITH, true);
        break;
    default: break;
    }
    return kind != W_NAME;
}

/* Members, named arguments and attributes are no names of a block. */
static bool is_plain(const walk *w, uint32_t i)
{
    const names *n = w->n;
    bool first = i < 2 || w->at[i - 2].kind == T_LINE || is_sign(n, i - 2, '{');
    bool bracket = w->at[i].open != NO_TOKEN && !is_sign(n, w->at[i].open, '{');
    if (i > 0 && (is_sign(n, i - 1, '.') || (first && is_sign(n, i - 1, '@'))))
        return false;
    return !(bracket && is_sign(n, i + 1, '=') &&
             (is_sign(n, i - 1, ',') || w->at[i].open == i - 1));
}

static void take_token(walk *w, uint32_t i)
{
    token *t = &w->at[i];
    if (t->item)
        begin_item(w, i);
    else if (t->kind == T_LINE)
        end_line(w, i);
    else if (is_sign(w->n, i, ';'))
        end_waiting(w, t->end);
    else if (is_sign(w->n, i, '{'))
        open_brace(w, i);
    else if (is_sign(w->n, i, '}')) {
        pop_block(w, t->end);
        if (w->nblocks == 0)
            end_item(w, t->end);
    } else if (t->kind == T_NAME && t->decl < 0 && !take_word(w, i) && is_plain(w, i)) {
        t->decl = w->meaning[t->name];
    }
}

/* ---- All of it ---- */

static bool walk_text(walk *w, size_t size)
{
    names *n = w->n;
    size_t bytes = (n->nnames + 1) * sizeof *n->global;
    n->global = malloc(bytes);
    n->field = malloc(bytes);
    w->meaning = malloc(bytes);
    if (!n->global || !n->field || !w->meaning)
        return false;
    memset(n->global, 0xff, bytes);
    memset(n->field, 0xff, bytes);
    declare_items(w);
    for (int32_t i = 0; i < n->ndecls; i++)
        if (n->decls[i].kind == D_USE)
            name_use(w, &n->decls[i]);
    memcpy(w->meaning, n->global, bytes);
    for (uint32_t i = 0; i < n->tokens.n && !w->full; i++)
        take_token(w, i);
    end_item(w, (uint32_t)size);
    for (int32_t i = 0; i < n->ndecls; i++)
        if (n->decls[i].kind == D_USE) /* the name is the last that it has */
            n->decls[i].end = n->decls[i].head_end = w->at[n->decls[i].at].end;
    return !w->full;
}

names *read_names(const char *text, size_t size)
{
    names *n = calloc(1, sizeof *n);
    walk *w = calloc(1, sizeof *w);
    bool ok = n && w && scan_tokens(text, size, &n->tokens);
    if (ok) {
        w->text = text;
        w->n = n;
        w->at = n->tokens.at;
        w->item = w->waiting = -1;
        ok = number_names(w) && walk_text(w, size);
    }
    if (w) {
        free(w->kinds);
        free(w->meaning);
        free(w->active);
        free(w);
    }
    if (!ok) {
        free_names(n);
        return NULL;
    }
    return n;
}

void free_names(names *n)
{
    if (!n)
        return;
    free(n->tokens.at);
    free(n->decls);
    free(n->global);
    free(n->field);
    free(n->table);
    free(n);
}

uint32_t token_before(const names *n, size_t offset)
{
    uint32_t low = 0, high = n->tokens.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (n->tokens.at[middle].begin < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : NO_TOKEN;
}

uint32_t name_at(const names *n, size_t offset)
{
    uint32_t i = token_before(n, offset + 1);
    if (i != NO_TOKEN && is_name(n, i) && offset <= n->tokens.at[i].end)
        return i;
    i = token_before(n, offset);
    return i != NO_TOKEN && is_name(n, i) && offset <= n->tokens.at[i].end ? i : NO_TOKEN;
}

int32_t test_at(const names *n, size_t offset)
{
    uint32_t i = token_before(n, offset + 1);
    if (i == NO_TOKEN || n->tokens.at[i].kind != T_STRING || offset > n->tokens.at[i].end)
        return -1;
    for (int32_t k = 0; k < n->ndecls && is_item_kind(n->decls[k].kind); k++)
        if (n->decls[k].kind == D_TEST && n->decls[k].at == i)
            return k;
    return -1;
}
