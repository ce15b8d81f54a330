/* n keys into a hash table with open addressing of 2 n slots, a power of two, and how often each key has come. */
#include "omp.h"

static inline int64_t first_slot(int32_t key, int64_t mask)
{
    return (int64_t)key * 2654435761 >> 15 & mask;
}

static void insert(int32_t key, int32_t *table, int32_t *counts, int64_t mask)
{
    for (int64_t slot = first_slot(key, mask);; slot = (slot + 1) & mask) {
        int32_t old = __atomic_load_n(&table[slot], __ATOMIC_RELAXED);
        if (old == -1 && __atomic_compare_exchange_n(&table[slot], &old, key, 0, __ATOMIC_RELAXED,
                                                     __ATOMIC_RELAXED))
            old = key;
        if (old == key) {
#pragma omp atomic
            counts[slot]++;
            return;
        }
    }
}

void omp_hash(void *const *buffer, int64_t n)
{
    const int32_t *restrict keys = buffer[0];
    int32_t *table = buffer[1], *counts = buffer[2], *restrict out = buffer[3];
    const int64_t mask = 2 * n - 1;
#pragma omp parallel
    {
#pragma omp for simd schedule(static)
        for (int64_t i = 0; i < 2 * n; i++) {
            table[i] = -1;
            counts[i] = 0;
        }
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++)
            insert(keys[i], table, counts, mask);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++) {
            int64_t slot = first_slot(keys[i], mask);
            while (table[slot] != keys[i])
                slot = (slot + 1) & mask;
            out[i] = counts[slot];
        }
    }
}
