/* A library that is no plugin. */
__attribute__((visibility("default"))) int stranger(void);
int stranger(void) {
    return 0;
}
