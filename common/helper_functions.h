// Included by kernels from NVIDIA's samples, which need nothing of it in a step.
#pragma once
