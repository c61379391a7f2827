#include "suite/tour.hpp"
namespace kata { int tour(std::span<char*>) { return 0; } }
