/* Words of the language: which are reserved, which begin items. */
#include "lang/words.h"

#include <string.h>

#include "base/c_locale.h"

typedef enum use { RESERVED, FREE } use;

static const struct {
    use use;
    const char *name, *group, *form;
} words[] = {
#define WORD(use, name, group, form, text) {use, name, group, form},
#include "lang/words.def"
#undef WORD
};

enum { NWORDS = sizeof words / sizeof *words };

bool kj_is_reserved_word(const char *word)
{
    for (int i = 0; i < NWORDS; i++)
        if (words[i].use == RESERVED && strcmp(words[i].name, word) == 0)
            return true;
    return false;
}

static bool begins_item(int i)
{
    return strcmp(words[i].group, "declaration") == 0 &&
           strncmp(words[i].form, words[i].name, strlen(words[i].name)) == 0;
}

const char *kj_item_word(int i)
{
    for (int k = 0; k < NWORDS; k++)
        if (begins_item(k) && i-- == 0)
            return words[k].name;
    return NULL;
}

bool kj_begins_with_item_word(const char *text)
{
    const char *word;
    for (int i = 0; (word = kj_item_word(i)); i++)
        if (strncmp(text, word, strlen(word)) == 0 && !kj_is_word(text[strlen(word)]))
            return true;
    return false;
}
