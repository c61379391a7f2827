// For header_plain_function.cu.
inline void plain(float* out) { out[0] = 1; }
