/* kjit completions: what a shell completes, from the tables of commands and options. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static void list_options(const command *c)
{
    const char *name;
    for (int i = 0; (name = option_at(i, NULL)); i++)
        if (is_option_of(i, c))
            printf("%s ", name);
}

/* How the names of a command's files end. */
static const char *ending(const command *c)
{
    return c->bit & IN_REPLAY ? "kjc" : "knl";
}

static void bash(void)
{
    const command *c;
    puts("_kjit() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} options= files=knl\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    printf("        COMPREPLY=($(compgen -W '");
    for (int i = 0; (c = command_at(i)); i++)
        printf("%s ", c->name);
    puts("help version' -- \"$word\"))\n"
         "        return\n"
         "    fi\n"
         "    case ${COMP_WORDS[1]} in");
    for (int i = 0; (c = command_at(i)); i++) {
        printf("    %s) options='", c->name);
        list_options(c);
        printf("' files=%s ;;\n", ending(c));
    }
    puts("    esac\n"
         "    case $word in\n"
         "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
         "    *) COMPREPLY=($(compgen -f -X \"!*.$files\" -- \"$word\") $(compgen -d -S / -- "
         "\"$word\")) ;;\n"
         "    esac\n"
         "}\n"
         "complete -o nospace -F _kjit kjit");
}

/* Within single quotes; `special` is what else needs a backslash there. */
static void print_quoted(const char *text, const char *quote, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs(quote, stdout);
        else
            printf(strchr(special, *text) ? "\\%c" : "%c", *text);
    }
}

#define ZSH "'\\''", "[]:"
#define FISH "\\'", "\\"

static void zsh(void)
{
    const command *c;
    const char *name, *help;
    puts("#compdef kjit\n"
         "_kjit() {\n"
         "    if (( CURRENT == 2 )); then\n"
         "        local -a commands=(");
    for (int i = 0; (c = command_at(i)); i++) {
        printf("            '%s:", c->name);
        print_quoted(c->summary, ZSH);
        puts("'");
    }
    puts("        )\n"
         "        _describe command commands\n"
         "        return\n"
         "    fi\n"
         "    case $words[2] in");
    for (int i = 0; (c = command_at(i)); i++) {
        printf("    %s) _arguments", c->name);
        for (int k = 0; (name = option_at(k, &help)); k++) {
            if (!is_option_of(k, c))
                continue;
            printf(" '%s[", name);
            print_quoted(help ? help : "", ZSH);
            printf("]'");
        }
        printf(" '*:file:_files -g \"*.%s\"' ;;\n", ending(c));
    }
    puts("    esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _kjit ]; then # it was found by its file's name\n"
         "    _kjit \"$@\"\n"
         "else\n"
         "    compdef _kjit kjit\n"
         "fi");
}

static void fish(void)
{
    const command *c;
    const char *name, *help;
    for (int i = 0; (c = command_at(i)); i++) {
        printf("complete -c kjit -n __fish_use_subcommand -a %s -d '", c->name);
        print_quoted(c->summary, FISH);
        puts("'");
    }
    for (int i = 0; (c = command_at(i)); i++) {
        for (int k = 0; (name = option_at(k, &help)); k++) {
            if (!is_option_of(k, c) || !help)
                continue;
            bool is_long = name[1] == '-';
            printf("complete -c kjit -n '__fish_seen_subcommand_from %s' %s %s -d '", c->name,
                   is_long ? "-l" : "-s", name + 1 + is_long);
            print_quoted(help, FISH);
            puts("'");
        }
    }
}

int command_completions(const options *o)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(o->arguments[0], shells[i].name) == 0) {
            shells[i].print();
            return EXIT_OK;
        }
    }
    complain("there are completions for bash, zsh and fish, not for '%s'", o->arguments[0]);
    return EXIT_USAGE;
}
