// For header_own.cu: nothing to translate.
#ifndef PLAIN
#define PLAIN 1
#endif
