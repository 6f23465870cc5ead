// Marks loops that are compiled twice where the tool chain can choose at run time: for any x86-64, and for AVX2.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define TRUEUP_HOT __attribute__((target_clones("avx2", "default"), noinline))
#else
#define TRUEUP_HOT
#endif
