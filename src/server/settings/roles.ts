// The roles of a process.

/** What a process does: answers callers, runs code, delivers. */
export const ROLES = ['api', 'run', 'deliver'] as const;

export type Role = (typeof ROLES)[number];

export function readRoles(value: string): ReadonlySet<Role> {
  const given = value.split(',').map((part) => part.trim());
  const roles = ROLES.filter((role) => given.includes(role));
  if (!given.every((part) => (ROLES as readonly string[]).includes(part))) {
    throw new Error(`some of ${ROLES.join(', ')}, by commas`);
  }
  return new Set(roles);
}
