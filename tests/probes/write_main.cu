// A program of one's own: allocation, copies, launch, and a type of one's own.
#include "kata.hpp"

#include <cstdlib>
#include <iostream>
#include <vector>
typedef struct { int width, height; float* elements; } Matrix;
__global__ void k(Matrix a, Matrix b) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < a.height && column < a.width) b.elements[row * b.width + column] = a.elements[row * a.width + column];
}
int run(int n) {
    std::vector<float> host(n * n, 1'000.5f);
    Matrix a{n, n, nullptr}, b = a;
    size_t size = n * n * sizeof(float);
    cudaMalloc(&a.elements, size);
    cudaMalloc(&b.elements, size);
    cudaMemcpy(a.elements, host.data(), size, cudaMemcpyHostToDevice);
    dim3 threads(16, 16);
    dim3 blocks((n + 15) / 16, (n + 15) / 16);
    k<<<blocks, threads>>>(a, b);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) std::cerr << cudaGetErrorString(error) << std::endl;
    cudaDeviceSynchronize();
    cudaMemcpy(host.data(), b.elements, size, cudaMemcpyDeviceToHost);
    cudaFree(a.elements);
    std::cout << host[0] << std::endl << (n << 2) << '\'' << '"' << "k<<<1, 2>>>()" << R"("k<<<)" << "\n";
    return 0;
}
