// A part of helper_functions.h.
#pragma once
#include "helper_functions.h"
