// CUDA's own float4 and double2, one plane a thread in blocks of 256, and a plain kernel for rows of any other length:
// usual where a kernel is vectorised afterwards.
#include "stencil.cuh"

template <class T>
struct Vector;
template <>
struct Vector<float> {
    using type = float4;
};
template <>
struct Vector<double> {
    using type = double2;
};

template <class T>
__global__ void sweep_scalar(const T* in, T* out, int n, Coefficients<T> c) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    if (x >= n || y >= n) return;
    const int i = (z * n + y) * n + x;
    if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) {
        out[i] = in[i];
        return;
    }
    out[i] = c.c0 * in[i] + c.c1 * in[i - 1] + c.c2 * in[i + 1] + c.c3 * in[i - n] + c.c4 * in[i + n] +
             c.c5 * in[i - n * n] + c.c6 * in[i + n * n];
}

template <class T>
__global__ void sweep_vector(const T* in, T* out, int n, Coefficients<T> c) {
    using V = typename Vector<T>::type;
    constexpr int W = sizeof(V) / sizeof(T);
    const int x = (blockIdx.x * blockDim.x + threadIdx.x) * W, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z;
    if (x >= n || y >= n) return;
    const int i = (z * n + y) * n + x;
    const V* row = reinterpret_cast<const V*>(in + i);
    V mine = row[0];
    if (y > 0 && z > 0 && y < n - 1 && z < n - 1) {
        const V up = row[-n / W], down = row[n / W], back = row[-n * n / W], front = row[n * n / W];
        const T *a = reinterpret_cast<const T*>(&up), *b = reinterpret_cast<const T*>(&down),
                *d = reinterpret_cast<const T*>(&back), *e = reinterpret_cast<const T*>(&front);
        T m[W + 2], r[W];
        m[0] = in[i - 1];
        m[W + 1] = in[i + W];
        for (int k = 0; k < W; k++) m[k + 1] = reinterpret_cast<const T*>(&mine)[k];
        for (int k = 0; k < W; k++) {
            r[k] = c.c0 * m[k + 1] + c.c1 * m[k] + c.c2 * m[k + 2] + c.c3 * a[k] + c.c4 * b[k] + c.c5 * d[k] +
                   c.c6 * e[k];
            if (x + k == 0 || x + k == n - 1) r[k] = m[k + 1];
        }
        for (int k = 0; k < W; k++) reinterpret_cast<T*>(&mine)[k] = r[k];
    }
    *reinterpret_cast<V*>(out + i) = mine;
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    if (n == 0) return;
    constexpr int W = sizeof(typename Vector<T>::type) / sizeof(T);
    const dim3 block(32, 8);
    if (n % W == 0)
        sweep_vector<<<dim3((n / W + 31) / 32, (n + 7) / 8, n), block>>>(in, out, n, c);
    else
        sweep_scalar<<<dim3((n + 31) / 32, (n + 7) / 8, n), block>>>(in, out, n, c);
    check(cudaGetLastError());
}
