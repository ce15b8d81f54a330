/* A step of particles in free fall, of half a second. */
#include "omp.h"

static const float dt = 0.5F;

typedef struct particle {
    float x, y, z, vx, vy, vz, mass, age;
} particle;

void omp_records_structs(void *const *buffer, int64_t n)
{
    particle *restrict p = buffer[0];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        p[i].vy -= 9.81F * dt;
        p[i].x += dt * p[i].vx;
        p[i].y += dt * p[i].vy;
        p[i].z += dt * p[i].vz;
    }
}

void omp_records_copies(void *const *buffer, int64_t n)
{
    particle *restrict p = buffer[0];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        particle q = p[i];
        q.vy -= 9.81F * dt;
        q.x += dt * q.vx;
        q.y += dt * q.vy;
        q.z += dt * q.vz;
        q.age += dt;
        p[i] = q;
    }
}

void omp_records_arrays(void *const *buffer, int64_t n)
{
    float *restrict x = buffer[0], *restrict y = buffer[1], *restrict z = buffer[2];
    const float *restrict vx = buffer[3], *restrict vz = buffer[5];
    float *restrict vy = buffer[4];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        vy[i] -= 9.81F * dt;
        x[i] += dt * vx[i];
        y[i] += dt * vy[i];
        z[i] += dt * vz[i];
    }
}
