/* An opcode such as setp.lt.and.f32 fitted to the rows of ptx_ops.def.
 *
 * A pattern is the mnemonic and then one part a dot: words separated by |, one of which must be
 * there, or, where the part ends in ?, may be. Types, roundings, picks, spaces and flags that are
 * met are kept in the form; other words are hints that change nothing here. */
#include <string.h>

#include "ptx_exec.h"
#include "ptx_impl.h"

static const struct {
    const char *name;
    uint8_t bytes;
    char class;
} types[] = {
#define PTX_TYPE(name, bytes, class) {#name, bytes, #class[0]},
#include "ptx_types.def"
#undef PTX_TYPE
};

typedef enum kind { ROUND, SPACE, FLAG, PICK } kind;

static const struct {
    const char *name;
    uint8_t kind, value;
} words[] = {
#define PTX_ROUND(name) {#name, ROUND, PTX_##name},
#define PTX_SPACE(name, text) {text, SPACE, PTX_##name},
#define PTX_FLAG(name) {#name, FLAG, PTX_HAS_##name},
#define PTX_PICK(name) {#name, PICK, PTX_##name},
#include "ptx_words.def"
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const ptx_op ops[] = {
#define OP(pattern, operands, choose) {pattern, operands, choose, PTX_PLAIN},
#define OP_CONTROL(pattern, operands, choose, control) {pattern, operands, choose, control},
#include "ptx_ops.def"
};

int ptx_type_bytes(ptx_type type)
{
    return types[type].bytes;
}

char ptx_type_class(ptx_type type)
{
    return types[type].class;
}

static bool same(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

static void keep_word(ptx_form *form, const char *text, size_t length)
{
    for (size_t i = 0; i < COUNT(types); i++) {
        if (same(types[i].name, text, length)) {
            form->type[form->ntypes++] = (uint8_t)i;
            return;
        }
    }
    for (size_t i = 0; i < COUNT(words); i++) {
        if (!same(words[i].name, text, length))
            continue;
        switch ((kind)words[i].kind) {
        case ROUND: form->round = words[i].value; break;
        case SPACE: form->space = form->space ? form->space : words[i].value; break;
        case FLAG: form->flags |= 1u << words[i].value; break;
        case PICK: form->pick[form->npicks++] = words[i].value; break;
        }
        return;
    }
    if (length == 2 && text[0] == 'v')
        form->vec = (uint8_t)(text[1] - '0');
}

/* Whether `text` is one of the words of a part of a pattern. */
static bool among(const char *part, const char *part_end, const char *text, size_t length)
{
    while (part < part_end) {
        const char *bar = part;
        while (bar < part_end && *bar != '|')
            bar++;
        if ((size_t)(bar - part) == length && memcmp(part, text, length) == 0)
            return true;
        part = bar + 1;
    }
    return false;
}

static bool fits(const char *pattern, const char *opcode, ptx_form *form)
{
    *form = (ptx_form){0};
    while (*pattern) {
        const char *end = pattern + strcspn(pattern, ".");
        bool optional = end[-1] == '?';
        size_t length = strcspn(opcode, ".");
        if (among(pattern, end - optional, opcode, length)) {
            if (form->ntypes == COUNT(form->type) || form->npicks == COUNT(form->pick))
                return false;
            keep_word(form, opcode, length);
            opcode += length + (opcode[length] == '.');
        } else if (!optional) {
            return false;
        }
        pattern = end + (*end == '.');
    }
    return *opcode == '\0';
}

const ptx_op *ptx_match(const char *opcode, ptx_form *form)
{
    size_t length = strcspn(opcode, ".");
    for (size_t i = 0; i < COUNT(ops); i++) {
        const char *pattern = ops[i].pattern;
        size_t mnemonic = strcspn(pattern, ".");
        if (mnemonic != length || memcmp(pattern, opcode, length) != 0)
            continue;
        const char *rest = opcode + length + (opcode[length] == '.');
        if (fits(pattern + mnemonic + (pattern[mnemonic] == '.'), rest, form) &&
            ops[i].choose(form))
            return &ops[i];
    }
    return NULL;
}
