// Meson's precompiled header of the CPU back end: headers of the standard library, which g++ reads once
// instead of once per part. Each source names those that it needs, for compilers that read them each time.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>
