/* Kills the process that it is preloaded into, before or after one of the commits of the state database.
 *
 * SQLite writes a log of frames: 24 bytes of header, whose second word is not zero where the frame is the last of a commit,
 * and then the page. What is written here has happened; a process that is killed does nothing after it. */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char LOG[] = "/haft.db-wal";
static const size_t HEADER = 24;

static long at, commits;
static int after, page_is_left;

/* What the process starts is left alone. */
__attribute__((constructor)) static void begin(void) {
    const char *when = getenv("KILLED_AT_COMMIT");
    char side[16] = "";
    if (when != NULL && sscanf(when, "%ld %15s", &at, side) == 2) {
        after = strcmp(side, "after") == 0;
    }
    unsetenv("LD_PRELOAD");
    unsetenv("KILLED_AT_COMMIT");
}

static int is_log(int file) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path);
    ssize_t end = (ssize_t)sizeof LOG - 1;
    return length > end && memcmp(path + length - end, LOG, (size_t)end) == 0;
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) {
        pause();
    }
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t place) {
    static ssize_t (*next)(int, const void *, size_t, off64_t);
    if (next == NULL) {
        next = (ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    }
    if (at == 0 || !is_log(file)) {
        return next(file, bytes, size, place);
    }
    static const unsigned char no_commit[4];
    if (size == HEADER && memcmp((const char *)bytes + 4, no_commit, 4) != 0) {
        commits += 1;
        if (commits == at && !after) {
            die();
        }
        page_is_left = 1;
        return next(file, bytes, size, place);
    }
    ssize_t written = next(file, bytes, size, place);
    if (page_is_left != 0) {
        page_is_left = 0;
        if (commits == at) {
            die();
        }
    }
    return written;
}
