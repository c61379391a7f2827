// For header_own.cu: nothing to translate.
#pragma once
#define BESIDE 2
