// As in NVIDIA's sample threadFenceReduction: a grid of at most 64 blocks in a loop, a count that the last
// block resets by hand, and a bool in shared memory.
#include "partials.cuh"

constexpr int threads = 1024;

__device__ unsigned int retirementCount = 0;

template <class T, class Op>
__device__ T reduceBlock(T mySum, Op op) {
    __shared__ T sdata[32];
    for (int offset = 16; offset > 0; offset /= 2) mySum = op(mySum, __shfl_down_sync(0xffffffff, mySum, offset));
    if (threadIdx.x % 32 == 0) sdata[threadIdx.x / 32] = mySum;
    __syncthreads();
    if (threadIdx.x < 32) {
        mySum = sdata[threadIdx.x];
        for (int offset = 16; offset > 0; offset /= 2) mySum = op(mySum, __shfl_down_sync(0xffffffff, mySum, offset));
    }
    return mySum;
}

template <class T, class Op>
__global__ void reduceSinglePass(const T* g_idata, T* g_odata, unsigned int n, T* partial, Op op) {
    constexpr unsigned int width = 16 / sizeof(T);
    struct alignas(16) Vector {
        T v[width];
    };
    const Vector* vectors = reinterpret_cast<const Vector*>(g_idata);
    T sum = op.identity();
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / width; i += blockDim.x * gridDim.x) {
        const Vector four = vectors[i];
        for (unsigned int k = 0; k < width; k++) sum = op(sum, four.v[k]);
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x < n % width) sum = op(sum, g_idata[n / width * width + threadIdx.x]);
    sum = reduceBlock(sum, op);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;

    __shared__ bool amLast;
    __threadfence();  // wait until all outstanding memory instructions in this thread are finished
    if (threadIdx.x == 0) {
        unsigned int ticket = atomicInc(&retirementCount, gridDim.x);
        amLast = (ticket == gridDim.x - 1);
    }
    __syncthreads();
    if (amLast) {
        __threadfence();
        sum = op.identity();
        for (unsigned int i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum = op(sum, partial[i]);
        sum = reduceBlock(sum, op);
        if (threadIdx.x == 0) {
            *g_odata = sum;
            retirementCount = 0;  // reset the count, so that the next run succeeds
        }
    }
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, T* partials, Op op) {
    const int blocks = n / (4 * threads) + 1;
    reduceSinglePass<<<blocks < 64 ? blocks : 64, threads>>>(in, out, n, partials, op);
    check(cudaGetLastError());
}
