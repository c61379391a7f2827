// Bytes copied and set.
#include <cstring>
__global__ void k(char* p) { memcpy(p, p + 8, 4); memset(p, 0, 3); std::memcpy(p, p + 1, 1); }
