/* The grammar of .knl files: tokens in, the tree of compiler/parse/ast.h out.
 *
 * An action is one call of a constructor (compiler/parse/tree.c). Line ends and missing brackets
 * are dealt with before a token gets here (compiler/parse/newline.c); what a syntax error says is
 * decided in compiler/parse/error.c. */

%code requires {
#include "parse/parse.h"
}

%code provides {
int kj_yylex(KJ_YYSTYPE *value, kj_span *span, kj_parser *p);
}

%code {
#include <string.h>

/* A rule covers its parts from the first that isn't empty. */
static kj_span cover(const kj_span *parts, int n)
{
    if (n == 0)
        return (kj_span){parts[0].end, parts[0].end};
    int first = 1;
    while (first < n && parts[first].begin == parts[first].end)
        first++;
    return (kj_span){parts[first].begin, parts[n].end};
}
#define YYLLOC_DEFAULT(current, parts, n) ((current) = cover(parts, n))

static void kj_yyerror(const kj_span *at, kj_parser *p, const char *message);

/* The parser's stacks begin in its frame, which is small, and grow in the arena. An input that needs
 * more is nested too deeply. */
#define YYINITDEPTH 32
#define YYMAXDEPTH 6000
#define YYSTACK_USE_ALLOCA 0
#define yyoverflow(message, states, states_size, values, values_size, places, places_size, depth) \
    do { \
        if (*(depth) >= YYMAXDEPTH) { \
            kj_yyerror(&yylloc, p, message); \
            break; \
        } \
        *(depth) = *(depth) * 2 < YYMAXDEPTH ? *(depth) * 2 : YYMAXDEPTH; \
        *(states) = longer(p, *(states), states_size, *(depth) * YYSIZEOF(**(states))); \
        *(values) = longer(p, *(values), values_size, *(depth) * YYSIZEOF(**(values))); \
        *(places) = longer(p, *(places), places_size, *(depth) * YYSIZEOF(**(places))); \
    } while (0)

static void *longer(kj_parser *p, const void *stack, ptrdiff_t used, ptrdiff_t size)
{
    return memcpy(kj_arena_alloc(p->arena, (size_t)size), stack, (size_t)used);
}
}

%define api.pure full
%define api.prefix {kj_yy}
%define api.token.prefix {KJ_TK_}
%define api.location.type {kj_span}
%define parse.error custom
%define parse.lac full
%locations
%param {kj_parser *p}
%expect 0
%initial-action { @$ = (kj_span){0, 0}; }

%union {
    uint64_t integer;
    double real;
    bool flag;
    int count;
    kj_op op;
    const char *name;
    kj_string string;
    kj_expr *expr;
    kj_exprs exprs;
    kj_chain chain;
    kj_type_ref *type;
    kj_dotted type_name;
    kj_type_refs types;
    kj_stmt *stmt;
    kj_stmts stmts;
    kj_block block;
    kj_names names;
    kj_attrs attrs;
    kj_params params;
    kj_param_decl *param;
    kj_generics generics;
    kj_signature signature;
    kj_item *item;
}

%token END 0 "end of file"
%token NEWLINE "end of line"
%token <name> NAME "name"
%token <integer> INT "integer"
%token <real> FLOAT "number"
%token <real> IMAGINARY "imaginary number"
%token <string> STRING "string"
%token FORMAT "f-string" FORMAT_END "end of the f-string"
%token FORMAT_OPEN "'{' of an f-string" FORMAT_CLOSE "'}' of an f-string"
%token <string> FORMAT_TEXT "text of an f-string" FORMAT_SPEC "format"

%token USE "use" CONST "const" FN "fn" KERNEL "kernel" RECORD "record" RUN "run" TYPE "type" ENUM "enum"
%token TEST "test"
%token LET "let" VAR "var" REQUIRES "requires" LAUNCH "launch" PARAM "param"
%token IF "if" ELIF "elif" ELSE "else" FOR "for" IN "in" WHILE "while" WITH "with" AS "as"
%token BREAK "break" CONTINUE "continue" RETURN "return"
%token AND "and" OR "or" NOT "not" TRUE "true" FALSE "false"

%token LBRACE "{" RBRACE "}" LPAREN "(" RPAREN ")" LBRACKET "[" RBRACKET "]"
%token COMMA "," COLON ":" SEMICOLON ";" DOT "." AT "@" ARROW "->" ASSIGN "="
%token PLUS "+" MINUS "-" STAR "*" SLASH "/" DSLASH "//" PERCENT "%" POWER "**" TILDE "~"
%token AMP "&" PIPE "|" CARET "^" SHL "<<" SHR ">>"
%token EQ "==" NE "!=" LT "<" LE "<=" GT ">" GE ">="
%token <op> UPDATE "assignment operator"
%token INNER_SEMICOLON "';' in brackets" /* in no rule: an error does not end at it */

%nterm <expr> value expr disjunction conjunction negation comparison arith power postfix primary
%nterm <expr> argument subscript bound
%nterm <exprs> values expr_list args arg_list subscripts pieces
%nterm <string> opt_spec
%nterm <chain> chain
%nterm <op> relation
%nterm <type> type opt_type result
%nterm <types> types
%nterm <count> commas
%nterm <stmt> stmt compound loop with
%nterm <stmts> stmts else_part
%nterm <block> block
%nterm <names> names
%nterm <name> opt_as
%nterm <type_name> type_name
%nterm <flag> let opt_named
%nterm <attrs> attrs
%nterm <exprs> attr_args
%nterm <params> params param_list host_params host_list fields enumerators
%nterm <param> param host_param field enumerator
%nterm <flag> opt_const
%nterm <expr> opt_default
%nterm <generics> generics generic_list
%nterm <signature> signature
%nterm <item> item

%left "|"
%left "^"
%left "&"
%left "<<" ">>"
%left "+" "-"
%left "*" "/" "//" "%" "@"

%%

file:
    %empty
|   file eol
|   file item                   { kj_add_item(p, (kj_attrs){0}, @2, $2); }
|   file attrs item             { kj_add_item(p, $2, cover(&@1, 2), $3); }
|   file error eol              { yyerrok; }
|   file error block
;

eol: NEWLINE | ";" ;

/* ---- Items ---- */

item:
    "use" STRING opt_as eol     { $$ = kj_make_use(p, @$, $2, @2, false, $3, @3); }
|   "use" NAME "." NAME opt_as eol
                                { $$ = kj_make_use_library(p, @$, $2, @2, $4, @4, $5, @5); }
|   "const" NAME opt_type "=" expr eol      { $$ = kj_make_const(p, @$, $2, @2, $3, $5); }
|   "const" NAME ":" type eol   { $$ = kj_make_const(p, @$, $2, @2, $4, NULL); }
|   "fn" NAME signature block   { $$ = kj_make_function(p, @$, KJ_I_FN, $2, @2, $3, $4); }
|   "kernel" NAME signature block     { $$ = kj_make_function(p, @$, KJ_I_KERNEL, $2, @2, $3, $4); }
|   "record" NAME "{" fields "}"             { $$ = kj_make_record(p, @$, $2, @2, $4); }
|   "record" NAME "{" fields field "}"
                                { $$ = kj_make_record(p, @$, $2, @2, kj_param_append($4, $5)); }
|   "record" NAME "{" fields error "}"       { $$ = kj_make_record(p, @$, $2, @2, $4); yyerrok; }
|   "type" NAME "=" type eol    { $$ = kj_make_alias(p, @$, $2, @2, $4); }
|   "enum" NAME opt_type "{" enumerators "}"
                                { $$ = kj_make_enum(p, @$, $2, @2, $3, $5); }
|   "enum" NAME opt_type "{" enumerators enumerator "}"
                                { $$ = kj_make_enum(p, @$, $2, @2, $3, kj_param_append($5, $6)); }
|   "enum" NAME opt_type "{" enumerators error "}"
                                { $$ = kj_make_enum(p, @$, $2, @2, $3, $5); yyerrok; }
|   "run" block                 { $$ = kj_make_run(p, @$, @1, $2); }
|   "run" NAME "(" host_params ")" block    { $$ = kj_make_run_function(p, @$, $2, @2, $4, $6); }
|   "test" STRING block         { $$ = kj_make_test(p, @$, $2, @2, $3); }
|   "test" STRING NAME STRING block         { $$ = kj_make_failing_test(p, @$, $2, @2, $3, @3, $4, @4, $5); }
;

/* A comma or a line end is behind each field. */
fields:
    %empty                      { $$ = (kj_params){0}; }
|   fields eol
|   fields field eol            { $$ = kj_param_append($1, $2); }
|   fields field ","            { $$ = kj_param_append($1, $2); }
|   fields error eol            { yyerrok; }
;

field: NAME ":" type            { $$ = kj_make_param(p, @1, false, $1, $3, NULL); } ;

/* The same of an enum's names. */
enumerators:
    %empty                      { $$ = (kj_params){0}; }
|   enumerators eol
|   enumerators enumerator eol  { $$ = kj_param_append($1, $2); }
|   enumerators enumerator ","  { $$ = kj_param_append($1, $2); }
|   enumerators error eol       { yyerrok; }
;

enumerator: NAME opt_default    { $$ = kj_make_param(p, @1, false, $1, NULL, $2); } ;

signature:
    generics "(" params ")" result          { $$ = (kj_signature){$1.first, $3.first, $5}; }
;

generics:
    %empty                      { $$ = (kj_generics){0}; }
|   "<" generic_list ">"        { $$ = $2; }
;

generic_list:
    NAME                        { $$ = kj_generic_append(p, (kj_generics){0}, @1, $1, NULL, @1); }
|   NAME ":" NAME               { $$ = kj_generic_append(p, (kj_generics){0}, @1, $1, $3, @3); }
|   generic_list "," NAME               { $$ = kj_generic_append(p, $1, @3, $3, NULL, @3); }
|   generic_list "," NAME ":" NAME      { $$ = kj_generic_append(p, $1, @3, $3, $5, @5); }
;

params:
    %empty                      { $$ = (kj_params){0}; }
|   param_list
|   param_list ","
;

param_list:
    param                       { $$ = kj_param_append((kj_params){0}, $1); }
|   param_list "," param        { $$ = kj_param_append($1, $3); }
;

param:
    opt_const NAME ":" type opt_default     { $$ = kj_make_param(p, @2, $1, $2, $4, $5); }
;

/* Of a function of run blocks, where values have types and names need none. */
host_params:
    %empty                      { $$ = (kj_params){0}; }
|   host_list
|   host_list ","
;

host_list:
    host_param                  { $$ = kj_param_append((kj_params){0}, $1); }
|   host_list "," host_param    { $$ = kj_param_append($1, $3); }
;

host_param:
    NAME opt_type opt_default   { $$ = kj_make_host_param(p, @1, $1, $2, $3); }
;

opt_const: %empty { $$ = false; } | "const" { $$ = true; } ;

opt_default: %empty { $$ = NULL; } | "=" expr { $$ = $2; } ;

result: %empty { $$ = NULL; } | "->" type { $$ = $2; } ;

attrs:
    "@" NAME attr_args newlines             { $$ = kj_attr_append(p, (kj_attrs){0}, @2, $2, $3); }
|   attrs "@" NAME attr_args newlines       { $$ = kj_attr_append(p, $1, @3, $3, $4); }
;

attr_args: %empty { $$ = (kj_exprs){0}; } | "(" args ")" { $$ = $2; } ;

newlines: %empty | newlines NEWLINE ;

/* ---- Types ---- */

type:
    type_name                   { $$ = kj_make_type(p, @$, @1, $1, 0, (kj_exprs){0}); }
|   type_name "[" commas "]"    { $$ = kj_make_type(p, @$, @1, $1, $3 + 1, (kj_exprs){0}); }
|   type_name "[" expr_list "]" { $$ = kj_make_type(p, @$, @1, $1, $3.n, $3); }
|   "(" types ")"               { $$ = kj_make_tuple_type(p, @$, $2); }
;

type_name:
    NAME                        { $$ = (kj_dotted){NULL, $1}; }
|   NAME "." NAME               { $$ = (kj_dotted){$1, $3}; }
;

opt_type: %empty { $$ = NULL; } | ":" type { $$ = $2; } ;

commas: %empty { $$ = 0; } | commas "," { $$ = $1 + 1; } ;

types:
    type                        { $$ = kj_type_append((kj_type_refs){0}, $1); }
|   types "," type              { $$ = kj_type_append($1, $3); }
;

/* ---- Statements ---- */

block:
    "{" stmts "}"               { $$ = (kj_block){$2, @3}; }
|   "{" stmts stmt "}"          { $$ = (kj_block){kj_stmt_append($2, $3), @4}; }
;

stmts:
    %empty                      { $$ = (kj_stmts){0}; }
|   stmts eol
|   stmts stmt eol              { $$ = kj_stmt_append($1, $2); yyerrok; }
|   stmts compound              { $$ = kj_stmt_append($1, $2); }
;

stmt:
    let names opt_type "=" value            { $$ = kj_make_let(p, @$, $1, $2, $3, $5); }
|   "param" names opt_type "=" value        { $$ = kj_make_param_stmt(p, @$, $2, $3, $5); }
|   "param" names ":" type      { $$ = kj_make_param_stmt(p, @$, $2, $4, NULL); }
|   values "=" value            { $$ = kj_make_assign(p, @$, $1, $3); }
|   values UPDATE value         { $$ = kj_make_update(p, @$, $1, $2, @2, $3); }
|   values                      { $$ = kj_make_expr_stmt(p, @$, $1); }
|   "break"                     { $$ = kj_make_stmt(p, @$, KJ_S_BREAK, NULL); }
|   "continue"                  { $$ = kj_make_stmt(p, @$, KJ_S_CONTINUE, NULL); }
|   "return"                    { $$ = kj_make_stmt(p, @$, KJ_S_RETURN, NULL); }
|   "return" value              { $$ = kj_make_stmt(p, @$, KJ_S_RETURN, $2); }
|   "requires" expr             { $$ = kj_make_stmt(p, @$, KJ_S_REQUIRES, $2); }
|   "launch" expr               { $$ = kj_make_stmt(p, @$, KJ_S_LAUNCH, $2); }
|   error                       { $$ = NULL; }
;

let: "let" { $$ = false; } | "var" { $$ = true; } ;

compound:
    "if" expr block else_part   { $$ = kj_make_if(p, @$, $2, $3, $4); }
|   loop
|   "with" with                 { $$ = kj_widen(@$, $2); }
|   attrs loop                  { $$ = kj_with_attrs($1, @$, $2); }
|   attrs block                 { $$ = kj_with_attrs($1, @$, kj_make_block(p, @$, $2)); }
|   error block else_part       { $$ = NULL; }
;

else_part:
    %empty                      { $$ = (kj_stmts){0}; }
|   "else" block                { $$ = $2.stmts; }
|   "elif" expr block else_part { $$ = kj_make_elif(p, @$, $2, $3, $4); }
;

/* `with a, b { }` is `with a { with b { } }`. */
with:
    expr opt_as block           { $$ = kj_make_with(p, @$, $1, $2, @2, $3.stmts); }
|   expr opt_as "," with
                            { $$ = kj_make_with(p, @$, $1, $2, @2, kj_stmt_append((kj_stmts){0}, $4)); }
;

opt_as:
    %empty                      { $$ = NULL; }
|   "as" NAME                   { @$ = @2; $$ = $2; }
;

loop:
    "for" names "in" expr block { $$ = kj_make_for(p, @$, $2, $4, $5); }
|   "while" expr block          { $$ = kj_make_while(p, @$, $2, $3); }
;

names:
    NAME                        { $$ = kj_name_append(p, (kj_names){0}, @1, $1); }
|   names "," NAME              { $$ = kj_name_append(p, $1, @3, $3); }
;

/* ---- Expressions, the loosest operator first ---- */

value: values                   { $$ = kj_make_value(p, @$, $1); } ;

values:
    expr                        { $$ = kj_expr_append((kj_exprs){0}, $1); }
|   values "," expr             { $$ = kj_expr_append($1, $3); }
;

expr:
    disjunction
|   disjunction "if" disjunction "else" expr    { $$ = kj_make_cond(p, @$, $3, $1, $5); }
;

disjunction:
    conjunction
|   disjunction "or" conjunction            { $$ = kj_make_logic(p, @$, true, $1, $3); }
;

conjunction:
    negation
|   conjunction "and" negation  { $$ = kj_make_logic(p, @$, false, $1, $3); }
;

negation:
    comparison
|   "not" negation              { $$ = kj_make_unary(p, @$, KJ_OP_NOT, $2); }
;

comparison:
    arith
|   chain                       { $$ = kj_make_comparison(p, @$, $1); }
;

chain:
    arith relation arith        { $$ = kj_chain_start(p, $1, $2, @2, $3); }
|   chain relation arith        { $$ = kj_chain_more(p, $1, $2, $3); }
;

relation:
    "==" { $$ = KJ_OP_EQ; }
|   "!=" { $$ = KJ_OP_NE; }
|   "<"  { $$ = KJ_OP_LT; }
|   "<=" { $$ = KJ_OP_LE; }
|   ">"  { $$ = KJ_OP_GT; }
|   ">=" { $$ = KJ_OP_GE; }
;

arith:
    power
|   arith "|" arith             { $$ = kj_make_binary(p, @$, KJ_OP_OR, @2, $1, $3); }
|   arith "^" arith             { $$ = kj_make_binary(p, @$, KJ_OP_XOR, @2, $1, $3); }
|   arith "&" arith             { $$ = kj_make_binary(p, @$, KJ_OP_AND, @2, $1, $3); }
|   arith "<<" arith            { $$ = kj_make_binary(p, @$, KJ_OP_SHL, @2, $1, $3); }
|   arith ">>" arith            { $$ = kj_make_binary(p, @$, KJ_OP_SHR, @2, $1, $3); }
|   arith "+" arith             { $$ = kj_make_binary(p, @$, KJ_OP_ADD, @2, $1, $3); }
|   arith "-" arith             { $$ = kj_make_binary(p, @$, KJ_OP_SUB, @2, $1, $3); }
|   arith "*" arith             { $$ = kj_make_binary(p, @$, KJ_OP_MUL, @2, $1, $3); }
|   arith "/" arith             { $$ = kj_make_binary(p, @$, KJ_OP_DIV, @2, $1, $3); }
|   arith "//" arith            { $$ = kj_make_binary(p, @$, KJ_OP_FLOORDIV, @2, $1, $3); }
|   arith "@" arith             { $$ = kj_make_binary(p, @$, KJ_OP_MATMUL, @2, $1, $3); }
|   arith "%" arith             { $$ = kj_make_binary(p, @$, KJ_OP_MOD, @2, $1, $3); }
;

/* -a ** -b is -(a ** (-b)). */
power:
    postfix
|   postfix "**" power          { $$ = kj_make_binary(p, @$, KJ_OP_POW, @2, $1, $3); }
|   "-" power                   { $$ = kj_make_unary(p, @$, KJ_OP_NEG, $2); }
|   "~" power                   { $$ = kj_make_unary(p, @$, KJ_OP_INVERT, $2); }
|   "+" power                   { $$ = kj_make_unary(p, @$, KJ_OP_PLUS, $2); }
;

postfix:
    primary
|   postfix "(" args ")"        { $$ = kj_make_call(p, @$, $1, $3); }
|   postfix "[" subscripts "]"  { $$ = kj_make_index(p, @$, $1, $3); }
|   postfix "." NAME            { $$ = kj_make_member(p, @$, $1, $3, @3); }
;

primary:
    NAME                        { $$ = kj_make_name(p, @$, $1); }
|   INT                         { $$ = kj_make_int(p, @$, $1); }
|   FLOAT                       { $$ = kj_make_float(p, @$, $1); }
|   IMAGINARY                   { $$ = kj_make_imaginary(p, @$, $1); }
|   STRING                      { $$ = kj_make_string(p, @$, $1); }
|   FORMAT pieces FORMAT_END    { $$ = kj_make_list(p, @$, KJ_E_FORMAT, $2); }
|   "true"                      { $$ = kj_make_bool(p, @$, true); }
|   "false"                     { $$ = kj_make_bool(p, @$, false); }
|   "(" ")"                     { $$ = kj_make_list(p, @$, KJ_E_TUPLE, (kj_exprs){0}); }
|   "(" expr_list ")"           { $$ = kj_make_value(p, @$, $2); }
|   "(" expr_list "," ")"       { $$ = kj_make_list(p, @$, KJ_E_TUPLE, $2); }
|   "[" "]"                     { $$ = kj_make_list(p, @$, KJ_E_LIST, (kj_exprs){0}); }
|   "[" expr_list "]"           { $$ = kj_make_list(p, @$, KJ_E_LIST, $2); }
|   "[" expr_list "," "]"       { $$ = kj_make_list(p, @$, KJ_E_LIST, $2); }
;

pieces:
    %empty                      { $$ = (kj_exprs){0}; }
|   pieces FORMAT_TEXT          { $$ = kj_expr_append($1, kj_make_string(p, @2, $2)); }
|   pieces FORMAT_OPEN expr opt_named opt_spec FORMAT_CLOSE
                                { $$ = kj_piece_append(p, $1, $3, (kj_span){@2.end, @4.end}, $4, $5); }
;

opt_named:
    %empty                      { $$ = false; }
|   "="                         { $$ = true; }
;

opt_spec:
    %empty                      { $$ = (kj_string){NULL, 0}; }
|   FORMAT_SPEC                 { $$ = $1; }
;

expr_list:
    expr                        { $$ = kj_expr_append((kj_exprs){0}, $1); }
|   expr_list "," expr          { $$ = kj_expr_append($1, $3); }
;

args:
    %empty                      { $$ = (kj_exprs){0}; }
|   arg_list
|   arg_list ","
;

arg_list:
    argument                    { $$ = kj_expr_append((kj_exprs){0}, $1); }
|   arg_list "," argument       { $$ = kj_expr_append($1, $3); }
;

argument:
    expr
|   NAME "=" expr               { $$ = kj_make_keyword($3, $1, @1); }
;

subscripts:
    subscript                   { $$ = kj_expr_append((kj_exprs){0}, $1); }
|   subscripts "," subscript    { $$ = kj_expr_append($1, $3); }
;

subscript:
    expr
|   bound ":" bound             { $$ = kj_make_slice(p, @$, $1, $3, NULL); }
|   bound ":" bound ":" bound   { $$ = kj_make_slice(p, @$, $1, $3, $5); }
;

bound: %empty { $$ = NULL; } | expr ;

%%

const char *kj_token_name(int token)
{
    return yysymbol_name(YYTRANSLATE(token));
}

/* The parser's own complaint is only ever that its stack is full. */
static void kj_yyerror(const kj_span *at, kj_parser *p, const char *message)
{
    (void)message;
    kj_parse_too_deep(p, *at, NULL);
}

static int yyreport_syntax_error(const yypcontext_t *context, kj_parser *p)
{
    enum { MOST = YYNTOKENS };
    yysymbol_kind_t kinds[MOST];
    const char *names[MOST];
    int n = 0, all = yypcontext_expected_tokens(context, kinds, MOST);
    for (int i = 0; i < all; i++) /* a member or a namespace was hardly meant */
        if (all == 1 || kinds[i] != YYSYMBOL_DOT)
            names[n++] = yysymbol_name(kinds[i]);
    const char *unexpected = yysymbol_name(yypcontext_token(context));
    kj_syntax_error(p, *yypcontext_location(context), unexpected, names, n);
    return 0;
}
