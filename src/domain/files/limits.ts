// Limits of workflow files that are deployed.

export const FILE_LIMITS = {
  /** Of a file's path in its folder, and of the name of the project that it is of. */
  pathChars: 512,
  projectChars: 255,
} as const;
