// The identity of a workflow file in the store. Its key is its path in the folder; the key and the owner alone must
// find its workflow again: after a restart, at another machine, in a store that was moved.
//
// So ids are derived. The workflow's id is a hash of owner and key: of several nodes that find a new file at once,
// one creates the workflow, and the primary key refuses the others. A deployment's id is a hash of the previous
// deployment and of the deployed code, so that of several nodes that see a change, one makes the deployment. A hash in the
// first line of the first step's code identifies what was deployed; no other part needs it.
//
// (Rejected: a column or table for the key. It would have to be migrated, exported and moved, and a hash does as well.
// A lock between nodes: processes that die do not release it.)
//
// Ids begin with a time, by which lists are sorted. A workflow's is its owner's, so workflows of files come last in lists;
// a deployment's is a millisecond after the newest one's, so that the list of deployments keeps its order.

import { createHash } from 'node:crypto';
import { type FileMark, markIn, withMark, withoutMark } from '../../domain/files/file-mark.ts';
import { PREFIX, prefixOf, resourceId } from '../../domain/ids.ts';
import type { Deployment } from '../../domain/resource.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const TIME_DIGITS = 7;

/** Derives the id from the owner and the file's path alone: the same at every node and after every restart. */
export function workflowIdOf(ownerId: string, key: string): string {
  return resourceId(PREFIX.workflow, msOfResource(ownerId), hash(ownerId, key));
}

/** Derives the id of the source that an owner deployed from a file of this path. */
export function sourceIdOf(ownerId: string, path: string): string {
  return resourceId(PREFIX.source, msOfResource(ownerId), hash(ownerId, path));
}

/** Returns whether an id may be one of `workflowIdOf`. */
export function mayBeFiles(id: string, ownerId: string): boolean {
  return msOfResource(id) === msOfResource(ownerId);
}

/** Returns the id of the deployment that follows `newest` with this mark. */
export function nextDeploymentId(newest: Deployment, mark: FileMark): string {
  const random = hash(newest.id, mark.key, mark.state, mark.digest);
  return resourceId(PREFIX.deployment, msOfResource(newest.id) + 1, random);
}

/** Returns SHA-256 in hex; the boundaries between parts count. */
export function digestOf(parts: readonly string[]): string {
  return hash(...parts).toString('hex');
}

/** Returns null when the last deployment was not made from a file. */
export function markOf(deployment: Deployment): FileMark | null {
  return markIn(deployment.steps[0]?.code ?? '');
}

/** Replaces the mark of the code. */
export function remarked(code: string, mark: FileMark): string {
  return withMark(mark, withoutMark(code));
}

function hash(...parts: readonly string[]): Buffer {
  const hashing = createHash('sha256');
  for (const part of parts) hashing.update(`${Buffer.byteLength(part)}:`).update(part);
  return hashing.digest();
}

function msOfResource(id: string): number {
  const time = id.slice(prefixOf(id).length).slice(0, TIME_DIGITS);
  return [...time].reduce((ms, digit) => ms * DIGITS.length + DIGITS.indexOf(digit), 0);
}
