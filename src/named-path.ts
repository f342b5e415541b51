// The path of a file in errors of the system: Node names it where a file is opened, and not where an open one is written, as
// on a full disk.

/** Throws an error of the system with the path in its message, unless it names one, and every other error as it is. */
export function throwNaming(path: string): (error: unknown) => never {
  return (error) => {
    const failed = error as NodeJS.ErrnoException;
    if (failed instanceof Error && typeof failed.syscall === 'string' && failed.path === undefined) {
      failed.message += ` '${path}'`;
      failed.path = path;
    }
    throw error;
  };
}

/** Calls, and throws as `throwNaming` does. */
export function naming<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    return throwNaming(path)(error);
  }
}
