// A kernel with an operator & in a default argument, and a pointer to a function of references.
__global__ void fill(int* out, int value = 3 & 5, void (*f)(int&) = nullptr) {
    if (!f) out[threadIdx.x] = value;
}
void run(int* out) { fill<<<1, 32>>>(out); }
