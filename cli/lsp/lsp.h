/* kjit lsp: a language server (LSP 3.17) over standard input and output. Who does what, in the order of a message's way:
 * transport.c bytes <-> messages; server.c messages -> handlers, and when what is analysed; documents.c the open texts,
 * changes.c what a client changes in them, paths.c URIs and files, position.c lines and characters <-> bytes; diagnose.c
 * the compiler's messages, quick.c those of an item, action.c their fixes; tokens.c words of a text and names.c what they name, for files with
 * errors too, resolve.c the same over files and members, members.c what stands behind dots; the rest a file a feature. It stands on kjit.h and jansson.
 *
 * Who returns a json_t gives it away; NULL is null, after `fail` was filled an error. Where memory runs out, jansson
 * and what is here give NULL or leave out, and the server goes on. */
#ifndef LSP_H
#define LSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "../cli.h"

/* ---- tokens.c ---- */

typedef enum token_kind { T_NAME, T_NUMBER, T_STRING, T_SIGN, T_LINE } token_kind;

/* A word of the text. Of a value in an f-string the words are there, what is around them is strings. */
typedef struct token {
    uint32_t begin, end;
    uint32_t open; /* the bracket it is in: its token, or NO_TOKEN */
    uint32_t name; /* of T_NAME: the same for the same spelling */
    int32_t decl;  /* of T_NAME: what it names, in names.decls; or -1 */
    uint8_t kind;
    char sign; /* of T_SIGN: the character, where it is one alone; else 0 */
    bool item; /* a declaration of the file begins with it */
} token;

#define NO_TOKEN UINT32_MAX

typedef struct tokens {
    token *at;
    uint32_t n, room;
} tokens;

/* False: memory has run out. */
bool scan_tokens(const char *text, size_t size, tokens *out);

/* ---- names.c ---- */

typedef enum decl_kind {
    D_USE,
    D_CONST,
    D_FN,
    D_KERNEL,
    D_RUN_FN,
    D_RECORD,
    D_TYPE,
    D_ENUM,
    D_TEST, /* by its title, which is no name */
    D_RUN,  /* the run block, which has no name: the word run stands for it */
    D_PARAM,
    D_GENERIC,
    D_LET,
    D_VAR,
    D_RUN_PARAM,
    D_LOOP,
    D_WITH,
    D_FIELD,
    D_MEMBER, /* of an enum */
} decl_kind;

typedef struct decl {
    decl_kind kind;
    uint32_t name;             /* as of tokens */
    uint32_t at;               /* its token */
    uint32_t begin, end;       /* all of it, bytes: to the closing brace */
    uint32_t head_end;         /* bytes: where its braces begin, or the end */
    uint32_t scope, scope_end; /* bytes: where its name is known */
    int32_t parent;            /* of parameters, fields and members: of what; else -1 */
    int32_t child, next;       /* its first of these, and the next of its parent's; -1: none */
    int32_t hidden;            /* what the name meant before it, while the file is read */
} decl;

/* What the names of a text stand for. */
typedef struct names {
    tokens tokens;
    decl *decls;
    int32_t ndecls, room;
    int32_t *global; /* for each name, by token.name: the file's declaration, or -1 */
    int32_t *field;  /* the record's field of that name: -1 none, -2 several */
    uint32_t *table; /* of `slots`: the first token of each spelling, by its hash, or NO_TOKEN */
    size_t slots;
    uint32_t nnames;
} names;

names *read_names(const char *text, size_t size); /* NULL: memory has run out */
void free_names(names *n);
/* The number of a spelling, or NO_TOKEN: `text` is what the names are of. */
uint32_t find_spelling(const names *n, const char *text, const char *word, size_t size);
/* The name that a byte is in or right behind: its token, or NO_TOKEN. */
uint32_t name_at(const names *n, size_t offset);
/* The test whose title the byte is in: its declaration, or -1. */
int32_t test_at(const names *n, size_t offset);
/* The last token that begins before the byte, or NO_TOKEN. */
uint32_t token_before(const names *n, size_t offset);
bool is_sign(const names *n, uint32_t i, char sign);
bool is_item_kind(decl_kind kind);
bool is_reserved(const char *word, size_t size);

/* ---- documents.c ---- */

/* Of a long text, what it was when all of it was analysed last. */
typedef struct analysed {
    char *text; /* NULL: nothing is known */
    size_t size;
    uint32_t nlines;
    names *names; /* NULL until someone asks */
    json_t *told;
} analysed;

typedef struct document {
    struct document *next;
    char *uri, *path; /* the path is the URI where that is no file's */
    char *text;       /* with a NUL behind it */
    size_t size;
    json_int_t version;
    bool versioned;
    bool dirty, quick;     /* what is told is not of this text; or of a part of it, by quick.c */
    double since, changed; /* of one that is dirty: since when, and when it changed last, s */
    bool whole;            /* what is told is of this text */
    analysed before;
    uint32_t *lines; /* where each begins, as LSP counts them */
    uint32_t nlines;
    struct {
        uint32_t line, character;
        size_t offset;
    } last;       /* the position that was asked for last */
    names *names; /* NULL until someone asks */
    json_t *
        told; /* the last messages, an array of the library's objects, each with its "diagnostic" */
    json_t *uses; /* paths of the files that it used then, as keys of an object */
} document;

typedef struct server server;

document *open_document(server *s, const char *uri); /* the open one, or NULL */
/* An open document, or the file on the disk, which stays until the end of the request; NULL: there is none. */
document *file_document(server *s, const char *path);
void release_files(server *s);
/* Takes the text, which is the document's from then on. False: memory has run out. */
bool set_text(document *d, char *text, size_t size);
const names *document_names(document *d); /* NULL: memory has run out */
document *add_document(server *s, const char *uri, const char *text, size_t size);
void remove_document(server *s, document *d);
void mark_dirty(server *s, document *d); /* and those that use it */
double now_in_seconds(void);
void free_documents(server *s);

/* ---- paths.c ---- */

char *path_of_uri(
    const char *uri); /* for free(); NULL: it is none of a file, or memory has run out */
char *uri_of_path(const char *path);
/* "folder of from"/path, without . and .. ; for free() */
char *path_beside(const char *from, const char *path);
/* The file that `use "path"` in a file means: an open document, or one of the disk; or NULL. */
document *used_document(server *s, const char *from, const char *path);

/* ---- position.c ---- */

json_t *position_json(const server *s, document *d, size_t offset);
json_t *range_json(const server *s, document *d, size_t begin, size_t end);
/* The byte of {line, character}, cut to what there is; false: it is no position. */
bool offset_of(const server *s, const document *d, const json_t *position, size_t *out);
/* The byte of a line and a column of the compiler's messages: from 1, in characters. */
size_t offset_of_column(const document *d, json_int_t line, json_int_t column);

/* ---- server.c ---- */

enum failure_code {
    PARSE_ERROR = -32700,
    INVALID_REQUEST = -32600,
    METHOD_NOT_FOUND = -32601,
    INVALID_PARAMS = -32602,
    INTERNAL_ERROR = -32603,
    NOT_INITIALIZED = -32002,
    REQUEST_CANCELLED = -32800,
    REQUEST_FAILED = -32803,
};

typedef struct failure {
    int code; /* 0: none */
    char message[512];
} failure;

void fail_with(failure *f, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* What has come in and was not looked at. */
typedef struct transport {
    char *bytes;
    size_t begin, end, room;
    bool ended;
} transport;

enum { MOST_QUEUED = 256 };

struct server {
    const options *o;
    kjit_context *ctx;
    transport in;
    json_t *queue[MOST_QUEUED];
    int nqueued;
    enum { BEFORE, RUNNING, SHUT, ENDED } state;
    bool shut;     /* shutdown was asked for */
    bool utf8;     /* characters are bytes, not units of UTF-16 */
    bool broken;   /* nobody reads what is said */
    json_t *roots; /* paths of the client's folders */
    document *documents, *files;
};

/* The document and the byte that params.textDocument and params.position tell; NULL after `fail` was filled. */
document *asked_document(server *s, const json_t *params, failure *f);
document *asked_place(server *s, const json_t *params, size_t *offset, failure *f);
/* The name that stands there; NO_TOKEN: none does, or `fail` was filled. */
uint32_t asked_name(server *s, const json_t *params, document **d, failure *f);

/* ---- transport.c ---- */

typedef enum arrival { ARRIVED, NOTHING_YET, DAMAGED, INPUT_ENDED } arrival;

/* The next message's text, which stays until the next call. It waits so many ms for one; -1: for ever. */
arrival receive(transport *t, int wait, const char **text, size_t *size);
void send_message(server *s, json_t *message); /* takes it */
void notify(server *s, const char *method, json_t *params);

/* ---- diagnose.c, quick.c ---- */

enum { LONG_TEXT = 400000 /* bytes: what is analysed within some 0.06 s */ };

void diagnose(server *s, document *d);
/* The module of a text in the document's place, to free; NULL: the context's last failure says why. */
kjit_module *compile_text(server *s, document *d, const char *text, size_t size);
/* What the compiler says of a text in the place of the document's, whose lines are as many: as document.told. NULL:
 * nothing, for a reason that is the context's last failure. */
json_t *messages_of_text(server *s, document *d, const char *text, size_t size);
void publish(server *s, const document *d, json_t *diagnostics); /* takes them */
/* Of a long text in which one item changed: what is told of that item now, and of the others before. False: it is not so. */
bool diagnose_quickly(server *s, document *d);
void forget_diagnostics(server *s, const document *d);

/* ---- resolve.c ---- */

/* A declaration of a file. */
typedef struct target {
    document *doc; /* NULL: none */
    int32_t decl;
} target;

target resolve(server *s, document *d, uint32_t at);
/* What a call's bracket belongs to: the token of its name, or NO_TOKEN. */
uint32_t callee_of(const names *n, uint32_t open);
/* The file that a use declares, or NULL; one of the library's is none, but its name is `library`, for free(). */
document *used_by(server *s, document *d, const decl *use, char **library);
/* The name in front of the dot before a token, with what is in front of that: "sort.keys"; for free(), or NULL. */
char *dotted_name(document *d, uint32_t at);
char *token_text(const document *d, const token *t); /* for free() */

/* The bracket that token i closes, or what stands too far in front of it. */
uint32_t opening_of(const names *n, uint32_t i, char sign);

/* ---- members.c ---- */

/* The names that may stand behind the dot at that token, an array of strings; NULL: what is before it is not known. */
json_t *known_members(server *s, document *d, uint32_t dot);
/* Those of all values that a run block, or a kernel, may have there, but for fields of the file; may have one twice. */
json_t *all_members(server *s, document *d, bool in_run);
/* The last item that begins there or before, or -1. */
int32_t item_before(const names *n, size_t offset);

/* ---- types.c ---- */

/* The type of a variable of a kernel, where it is known; for free(), or NULL. */
char *known_type(server *s, document *d, const decl *c);

/* ---- Features: what a method's params give ---- */

typedef json_t *handler(server *s, const json_t *params, failure *f);

handler on_open, on_change, on_save, on_close, on_watched;      /* changes.c */
handler on_code_action;                                         /* action.c */
handler on_formatting;                                          /* format.c */
handler on_hover;                                               /* hover.c */
handler on_definition, on_references, on_highlight, on_symbols; /* navigate.c */
handler on_rename, on_prepare_rename;                           /* rename.c */
handler on_completion;                                          /* complete.c */
handler on_signature;                                           /* signature.c */

/* Of a declaration: its first line or its head, for people; for free(). And the comment above it; or NULL. */
char *decl_head(const document *d, const decl *c);
char *decl_comment(const document *d, const decl *c);
/* All names that mean the target, in all files that may have it: each as {"uri":, "range":} at the end of the array.
 * False: memory has run out, or the folders have too many files. */
bool add_references(server *s, target t, bool declaration, json_t *out);

#endif
