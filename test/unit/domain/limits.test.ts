// The limits that callers are promised, as the documents say them. Tests of what a limit does take it from LIMITS; its value
// is stated here alone, so that none changes unseen.

import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';

/** In the unit that the name ends with. */
const PROMISED = {
  // lists and streams
  listedPerEmitterAndName: 100,
  pageRecords: 100,
  countedRecords: 10_000,
  // resources
  nameChars: 255,
  descriptionChars: 4096,
  urlChars: 2048,
  eventNameChars: 128,
  stepsPerWorkflow: 64,
  triggersPerWorkflow: 32,
  codeBytes: 1_048_576,
  apiBodyBytes: 8_388_608,
  // data stores and accounts
  recordsPerDataStore: 100_000,
  recordKeyChars: 255,
  recordBytes: 1_048_576,
  keysPerPage: 1000,
  accountFields: 100,
  accountBytes: 65_536,
  // events and errors
  idempotencyKeyChars: 255,
  idempotencyMs: 86_400_000,
  errorHops: 16,
  lineageIds: 64,
  digestWindowMs: 86_400_000,
  // runs
  timeoutMs: 30_000,
  scheduleTimeoutMs: 60_000,
  maxTimeoutMs: 750_000,
  memoryMb: 256,
  maxMemoryMb: 4096,
  concurrency: 8,
  maxConcurrency: 1000,
  queueLimit: 10_000,
  maxQueueLimit: 1_000_000,
  resultBytes: 6_291_456,
  rescues: 3,
  emissionsPerRun: 10_000,
  nestingDepth: 256,
  uniqueIds: 100,
  runAttempts: 20,
  callerMs: 900_000,
  maxWaitMs: 31_622_400_000,
  suspendMs: 86_400_000,
  // deliveries
  connectTimeoutMs: 10_000,
  attemptTimeoutMs: 15_000,
  maxAttemptTimeoutMs: 60_000,
  keptResponseBytes: 4096,
  inFlightPerWebhook: 8,
  maxInFlightPerWebhook: 256,
  retryAfterMs: 86_400_000,
  retryDelaysMs: [
    5000, 60_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000,
  ],
  retryJitter: 0.1,
  headersPerWebhook: 32,
  secretOverlapMs: 86_400_000,
  secretsPerWebhook: 10,
  exhaustedInRow: 3,
  failingMs: 86_400_000,
  disablingMs: 432_000_000,
} as const;

test('limits that callers are promised have their values', () => {
  const names = Object.keys(PROMISED) as (keyof typeof PROMISED)[];
  deepEqual(Object.fromEntries(names.map((name) => [name, LIMITS[name]])), PROMISED);
});
