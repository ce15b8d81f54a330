/* The words of words.def, where a text is read. */
#ifndef KJ_LANG_WORDS_H
#define KJ_LANG_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* May no name be called so? */
bool kj_is_reserved_word(const char *word);
/* The words that begin items of a file; NULL behind the last. "use" is one, and the last. */
const char *kj_item_word(int i);
/* Does the text begin with such a word? */
bool kj_begins_with_item_word(const char *text);

#endif
