// The address that clients of Sentry are given, a DSN: `http://{key}@host/{project}`. A project is a workflow, and its number is
// the workflow's id, read as a number in base 62: most clients take digits alone there, and no table is needed to find the
// workflow again.

import { isResourceId, PREFIX } from '../ids.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = BigInt(DIGITS.length);
const ID_CHARS = 16;
/** 62^16 has as many. */
const PROJECT_CHARS = 29;

/** Returns the number of the workflow's project; null for an id of another shape. */
export function projectOf(workflowId: string): string | null {
  if (!isResourceId(workflowId, PREFIX.workflow)) return null;
  let number = 0n;
  for (const digit of workflowId.slice(PREFIX.workflow.length)) number = number * BASE + BigInt(DIGITS.indexOf(digit));
  return String(number);
}

/** Returns the workflow's id; null for a number that is none of a project. */
export function workflowOfProject(project: string): string | null {
  if (!/^\d+$/.test(project) || project.length > PROJECT_CHARS) return null;
  let tail = '';
  for (let rest = BigInt(project); rest > 0n; rest /= BASE) tail = DIGITS[Number(rest % BASE)] + tail;
  return tail.length > ID_CHARS ? null : PREFIX.workflow + tail.padStart(ID_CHARS, '0');
}

/** Returns the DSN for a client of Sentry. `publicUrl`: without a trailing slash. */
export function dsnOf(publicUrl: string, key: string, workflowId: string): string | null {
  const project = projectOf(workflowId);
  return project === null ? null : `${publicUrl.replace('://', `://${key}@`)}/${project}`;
}
