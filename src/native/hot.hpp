// Marks loops that are compiled three times where the tool chain can choose at run time: for any x86-64, for AVX2 and
// for AVX-512. All round alike, for nothing is contracted.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define TRUEUP_HOT __attribute__((target_clones("avx512f", "avx2", "default"), noinline))
#else
#define TRUEUP_HOT
#endif
