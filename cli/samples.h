/* Times that were measured again and again, what is known of them, and how they compare with others. */
#ifndef CLI_SAMPLES_H
#define CLI_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include <kjit.h>

/* The items, with room for one more; NULL without memory: then they stay as they are. */
void *with_room(void *items, size_t n, size_t *room, size_t size);

/* Of a kernel, a direction of copies or the whole run block: the milliseconds that each run took, all its launches
 * together. */
typedef struct series {
    char *what;
    double *ms;
    size_t n, room;
    double open; /* of the run that is under way */
} series;

typedef struct samples {
    series *of;
    size_t n, room, runs;
    bool failed; /* memory ended: what came then is not counted */
} samples;

/* What a series is of beside kernels: copies in a direction begin so; all that a run takes, of the host and the device. */
#define COPIES "copy "
#define WHOLE_RUN "the run block"

/* A run's part, which may come several times. */
void add_sample(samples *s, const char *what, double ms);
/* The run has ended: all parts that were ever added have one more sample, 0 where nothing was added. */
void end_sample(samples *s);
/* It has failed: its parts are none. */
void drop_sample(samples *s);
/* Forgets the samples, but not what they are of. */
void clear_samples(samples *s);
void free_samples(samples *s);
const series *find_series(const samples *s, const char *what); /* NULL: none */

/* A median, or a ratio of two; between low and high it is with the confidence that was asked for. */
typedef struct estimate {
    double middle, low, high;
} estimate;

/* These two are what can be asked for. */
#define CONFIDENCE_95 0.95
#define CONFIDENCE_99 0.99

/* The median, by the order of the samples (the sign test's interval). Of none all is 0. */
estimate median_of(const double *ms, size_t n, double confidence);
/* b over a, run by run: the i-th samples were taken one behind the other. The median of the ratios, as above. */
estimate ratio_of_pairs(const double *a, const double *b, size_t n, double confidence);
/* b over a, which were taken at different times: the estimator of Hodges and Lehmann (1963), and the interval of the
 * rank-sum test, of the logarithms. Of many samples the first 1000 count. */
estimate ratio_of(const double *a, size_t na, const double *b, size_t nb, double confidence);

/* "ms,what" a line and sample, in the order of runs. False: errno says why. */
bool save_samples(const char *path, const samples *s);
/* False after a complaint. */
bool load_samples(const char *path, samples *out);

/* ---- measure.c ---- */

typedef struct measured_run {
    const char *const *params;
    int nparams;
    bool json; /* of its failures */
} measured_run;

double now_ms(void);
/* Runs the block once, whose prints are dropped, and adds what that took. */
kjit_status measure_run(kjit_context *ctx, kjit_module *mod, const measured_run *m, samples *times);

#endif
