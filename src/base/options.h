/* Option tables: macros to declare one. An option is declared once, here begins every use of it. */
#ifndef CLV_OPTIONS_H
#define CLV_OPTIONS_H

#include "base/base.h"

#include <stddef.h>

#define CLV_OPT_INT(T, member, name_, letter_, initial_, least_, most_, word_, meta_, help_)                           \
    {                                                                                                                  \
        .name = (name_), .letter = (letter_), .kind = CLV_OPTION_INT, .offset = offsetof(T, member),                   \
        .initial = (initial_), .least = (least_), .most = (most_), .word = (word_), .meta = (meta_), .help = (help_)   \
    }
#define CLV_OPT_REAL(T, member, name_, initial_, least_, most_, word_, meta_, help_)                                   \
    {                                                                                                                  \
        .name = (name_), .kind = CLV_OPTION_REAL, .offset = offsetof(T, member), .initial = (initial_),                \
        .least = (least_), .most = (most_), .word = (word_), .meta = (meta_), .help = (help_)                          \
    }
#define CLV_OPT_FLAG(T, member, name_, off_, initial_, help_)                                                          \
    {                                                                                                                  \
        .name = (name_), .kind = CLV_OPTION_FLAG, .offset = offsetof(T, member), .initial = (initial_), .most = 1,     \
        .off = (off_), .help = (help_)                                                                                 \
    }
#define CLV_OPT_CHOICE(T, member, name_, initial_, choices_, help_)                                                    \
    {                                                                                                                  \
        .name = (name_), .kind = CLV_OPTION_CHOICE, .offset = offsetof(T, member), .initial = (initial_),              \
        .choices = (choices_), .help = (help_)                                                                         \
    }
#define CLV_OPT_BYTES(T, member, name_, word_, help_)                                                                  \
    {                                                                                                                  \
        .name = (name_), .kind = CLV_OPTION_BYTES, .offset = offsetof(T, member), .most = 0x1p62, .word = (word_),     \
        .meta = "BYTES", .help = (help_)                                                                               \
    }
#define CLV_OPT_TEXT(T, member, name_, initial_, meta_, help_)                                                         \
    {                                                                                                                  \
        .name = (name_), .kind = CLV_OPTION_TEXT, .offset = offsetof(T, member), .choices = (initial_),                \
        .meta = (meta_), .help = (help_)                                                                               \
    }

/* Iterations of a restart, unless others are asked for. */
#define CLV_MAX_ITER 1000000

/* The options that a program gave in a struct as large as it was compiled, in one as large as the table says: members
 * that the program does not know have their defaults. */
clv_status clv_options_adopt(clv_context *ctx, const clv_option_table *table, const void *given, void *out);

/* Whether `name` is one of "a|b|c". */
bool clv_is_listed(const char *list, const char *name);
/* "a|b|c" as "a, b or c", for messages. */
void clv_options_list(const char *choices, char *text, size_t size);

#endif
