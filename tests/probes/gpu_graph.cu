// needs a GPU: the CPU back end has no cudaStreamBeginCapture
#include "kata.hpp"

void f(cudaStream_t stream) { check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal)); }
