#include <stdio.h>
#include "units.h"

#define LIMIT 100
#define SQUARE(x) ((x) * (x))

struct shape {
    const char *name;
    double sides[4];
    double (*area)(const struct shape *self);
};

typedef struct {
    struct shape base;
    double radius;
} circle_t;

typedef unsigned long count_t, *count_ptr;
typedef int (*compare_fn)(const void *, const void *);

enum kind { ROUND, SQUARED = 4 };

union bits {
    unsigned whole;
    unsigned char bytes[4];
};

static int counter = 0;
extern const char *names[];
int first, second;

double area(const struct shape *self);

static inline double square(double x)
{
    double result = x * x;
    return result;
}

char *label(const struct shape *self)
{
    printf("%s", self->name);
    return NULL;
}

const char **all_names(void)
{
    return names;
}

double circle_area(const circle_t *circle)
{
    counter++;
    return square(circle->radius) * 3.14;
}

#ifdef WITH_MAIN
int main(void)
{
    return (int)area(NULL);
}
#endif
