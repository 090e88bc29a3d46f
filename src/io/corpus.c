/* A corpus of documents: the files of a folder, or the lines of a JSON lines file, one at a time to a hook. */
#include "io/corpus.h"
#include "io/input.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEEPEST = 16, PIECE = 1 << 18 };

/* --- documents and labels --- */

void clv_corpus_begin(clv_corpus_builder *b, clv_context *ctx, clv_document_hook hook, void *user) {
    *b = (clv_corpus_builder){.ctx = ctx, .hook = hook, .user = user, .names = {.ctx = ctx}, .ids = {.ctx = ctx}};
}

/* As UTF-8: what is not is taken for Latin-1. */
static void put_id(clv_text *ids, const char *id) {
    size_t size = strlen(id);
    if (clv_utf8_valid(id, size) < size) {
        clv_text_append_latin1(ids, id, size);
    } else {
        clv_text_append(ids, id, size);
    }
    clv_text_append(ids, "", 1);
}

clv_status clv_corpus_put(clv_corpus_builder *b, const clv_document *document) {
    if (document->label) {
        clv_text_append(&b->names, "=", 1);
        clv_text_append(&b->names, document->label, strlen(document->label));
        b->labeled++;
    }
    clv_text_append(&b->names, "", 1);
    CLV_TRY(b->names.status);
    put_id(&b->ids, document->id);
    CLV_TRY(b->ids.status);
    b->documents++;
    return b->hook ? b->hook(document, b->user) : CLV_OK;
}

void clv_corpus_discard(clv_corpus_builder *b) {
    CLV_FREE_ALL(b->ctx, b->names.data, b->ids.data);
}

void clv_corpus_free(clv_corpus *corpus) {
    if (!corpus) {
        return;
    }
    clv_free_texts(corpus->ctx, corpus->names, corpus->classes);
    CLV_FREE_ALL(corpus->ctx, corpus->labels, corpus->ids, corpus);
}

/* Names as UTF-8: what is not is taken for Latin-1. */
static clv_status decode_names(clv_context *ctx, const clv_classes *names) {
    for (int64_t c = 0; c < names->count; c++) {
        clv_text decoded = {.ctx = ctx};
        size_t size = strlen(names->text[c]);
        if (clv_utf8_valid(names->text[c], size) < size) {
            clv_text_append_latin1(&decoded, names->text[c], size);
            CLV_TRY(decoded.status);
            clv_free(ctx, names->text[c]);
            names->text[c] = decoded.data;
        }
    }
    return CLV_OK;
}

static clv_status code_labels(const clv_corpus_builder *b, clv_corpus *corpus, clv_token *fields, int32_t *coded) {
    int64_t count = 0;
    const char *at = b->names.data;
    clv_classes names;
    for (int64_t d = 0; d < b->documents; d++) {
        size_t size = strlen(at);
        corpus->labels[d] = size ? 0 : -1;
        if (size) {
            fields[count++] = (clv_token){at + 1, size - 1, false};
        }
        at += size + 1;
    }
    CLV_TRY(clv_code_texts(b->ctx, "the documents", fields, count, coded));
    CLV_TRY(clv_name_classes(b->ctx, fields, coded, count, &names));
    for (int64_t d = 0; d < b->documents; d++) {
        corpus->labels[d] = corpus->labels[d] >= 0 ? *coded++ : -1;
    }
    corpus->names = names.text;
    corpus->classes = names.count;
    return decode_names(b->ctx, &names);
}

static clv_status add_labels(const clv_corpus_builder *b, clv_corpus *corpus) {
    clv_token *fields = CLV_NEW(b->ctx, clv_token, b->labeled);
    int32_t *coded = CLV_NEW(b->ctx, int32_t, b->labeled);
    corpus->labels = CLV_NEW(b->ctx, int32_t, b->documents);
    clv_status status = fields && coded && corpus->labels ? code_labels(b, corpus, fields, coded) : CLV_ENOMEM;
    clv_free(b->ctx, fields);
    clv_free(b->ctx, coded);
    return status;
}

/* The ids, in one block after the pointers to them, and whether they tell documents apart. */
static clv_status add_ids(const clv_corpus_builder *b, clv_corpus *corpus) {
    int64_t again, bytes = b->documents * (int64_t)sizeof(char *) + (int64_t)b->ids.size;
    clv_token *fields = CLV_NEW(b->ctx, clv_token, b->documents);
    corpus->ids = clv_alloc(b->ctx, bytes, 1);
    clv_status status = fields && corpus->ids ? CLV_OK : CLV_ENOMEM;
    if (status == CLV_OK) {
        char *at = memcpy((void *)(corpus->ids + b->documents), b->ids.data, b->ids.size);
        for (int64_t d = 0; d < b->documents; d++) {
            corpus->ids[d] = at;
            fields[d] = (clv_token){at, strlen(at), false};
            at += fields[d].size + 1;
        }
        status = clv_find_repeated(b->ctx, "the documents", fields, b->documents, &again);
    }
    if (status == CLV_OK && again >= 0) {
        corpus->repeated = corpus->ids[again];
    }
    clv_free(b->ctx, fields);
    return status;
}

clv_status clv_corpus_finish(clv_corpus_builder *b, clv_corpus **out) {
    clv_corpus *corpus = CLV_NEW0(b->ctx, clv_corpus, 1);
    if (!corpus) {
        return CLV_ENOMEM;
    }
    corpus->ctx = b->ctx;
    corpus->documents = b->documents;
    clv_status status = b->labeled ? add_labels(b, corpus) : CLV_OK;
    if (status == CLV_OK && b->documents > 0) {
        status = add_ids(b, corpus);
    }
    if (status < 0) {
        clv_corpus_free(corpus);
        return status;
    }
    *out = corpus;
    return CLV_OK;
}

/* --- a folder --- */

typedef struct folder {
    clv_corpus_builder *to;
    char path[PATH_MAX]; /* of the folder or file at hand */
    size_t root;         /* the length of the corpus's own path */
    char label[PATH_MAX];
} folder;

static clv_status read_document(folder *f) {
    clv_source in;
    clv_bytes bytes;
    CLV_TRY(clv_input_read(f->to->ctx, f->path, &in, &bytes));
    clv_document document = {.text = (const char *)bytes.data,
                             .size = bytes.size,
                             .label = *f->label ? f->label : NULL,
                             .place = f->path,
                             .id = f->path + f->root + 1};
    clv_status status = clv_corpus_put(f->to, &document);
    return clv_input_end(&in, status);
}

static int is_shown(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static clv_status read_folder(folder *f, int depth);

/* The file or folder `name` in the folder at f->path; the path is the folder's again afterwards. */
static clv_status read_entry(folder *f, const char *name, int depth) {
    struct stat info;
    size_t length = strlen(f->path);
    if (length + strlen(name) + 2 > sizeof f->path) {
        return clv_fail(f->to->ctx, CLV_EDATA, "%s/%s: the path is too long", f->path, name);
    }
    snprintf(f->path + length, sizeof f->path - length, "/%s", name);
    clv_status status = CLV_OK;
    if (stat(f->path, &info) != 0) {
        status = clv_fail(f->to->ctx, CLV_ENOINPUT, "cannot read %s: %s", f->path, clv_errno_text(errno));
    } else if (S_ISDIR(info.st_mode)) {
        memcpy(f->label, f->path + f->root + 1, strlen(f->path + f->root + 1) + 1);
        status = read_folder(f, depth + 1);
        f->label[length > f->root ? length - f->root - 1 : 0] = '\0';
    } else if (S_ISREG(info.st_mode)) {
        status = read_document(f);
    }
    f->path[length] = '\0';
    return status;
}

static clv_status read_folder(folder *f, int depth) {
    struct dirent **entries;
    if (depth > DEEPEST) {
        return clv_fail(f->to->ctx, CLV_EDATA, "%s: folders lie more than %d deep", f->path, (int)DEEPEST);
    }
    int count = scandir(f->path, &entries, is_shown, by_name);
    if (count < 0) {
        return clv_fail(f->to->ctx, CLV_ENOINPUT, "cannot read %s: %s", f->path, clv_errno_text(errno));
    }
    clv_status status = CLV_OK;
    for (int i = 0; i < count; i++) {
        if (status == CLV_OK) {
            status = read_entry(f, entries[i]->d_name, depth);
        }
        free(entries[i]);
    }
    free((void *)entries);
    return status;
}

static clv_status read_files(clv_corpus_builder *to, const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    folder f = {.to = to, .root = length};
    if (length >= sizeof f.path) {
        return clv_fail(to->ctx, CLV_EUSAGE, "%s: the path is too long", path);
    }
    memcpy(f.path, path, length);
    return read_folder(&f, 0);
}

/* --- JSON lines --- */

static clv_status push_all(clv_jsonl *lines, const clv_source *in, uint8_t *piece) {
    int64_t got = 1;
    while (got > 0) {
        CLV_TRY(clv_input_some(in, piece, PIECE, &got));
        CLV_TRY(clv_jsonl_push(lines, piece, (size_t)got));
    }
    return clv_jsonl_end(lines);
}

static clv_status read_lines(clv_corpus_builder *to, const char *path) {
    clv_source in;
    clv_jsonl lines;
    CLV_TRY(clv_input_open(to->ctx, path, &in));
    clv_jsonl_begin(&lines, to, in.name);
    in.content = CLV_NEW(to->ctx, uint8_t, PIECE);
    clv_status status = in.content ? push_all(&lines, &in, in.content) : CLV_ENOMEM;
    clv_jsonl_close(&lines);
    return clv_input_end(&in, status);
}

static clv_status read_any(clv_corpus_builder *to, const char *path) {
    struct stat info;
    if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        return read_files(to, path);
    }
    if (strcmp(path, "-") != 0 && !clv_has_extension(path, "jsonl")) {
        if (stat(path, &info) != 0) {
            return clv_fail(to->ctx, CLV_ENOINPUT, "cannot read %s: %s", path, clv_errno_text(errno));
        }
        return clv_fail(to->ctx, CLV_EUSAGE,
                        "%s: a corpus is a folder of files, or its name must end in .jsonl or .jsonl.gz (or be -, for "
                        "JSON lines from standard input)",
                        path);
    }
    return read_lines(to, path);
}

clv_status clv_read_corpus(clv_context *ctx, const char *path, clv_document_hook hook, void *user, clv_corpus **out) {
    *out = NULL;
    CLV_NEED(ctx, path);
    clv_corpus_builder b;
    clv_corpus_begin(&b, ctx, hook, user);
    clv_status status = read_any(&b, path);
    if (status == CLV_OK) {
        status = clv_corpus_finish(&b, out);
    }
    clv_corpus_discard(&b);
    return status;
}
