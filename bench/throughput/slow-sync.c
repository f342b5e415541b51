/* Preloaded into a server: each sync takes SLOW_SYNC_US microseconds more, as on a slower disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void slow(void) {
  const char *us = getenv("SLOW_SYNC_US");
  if (us) usleep((useconds_t)atoi(us));
}

int fsync(int fd) {
  slow();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}

int fdatasync(int fd) {
  slow();
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
