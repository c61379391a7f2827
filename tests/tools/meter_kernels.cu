#include "meter_kernels.hpp"
