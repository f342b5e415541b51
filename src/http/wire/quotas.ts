// Quotas of owners: as shown, and their parameters.

import type { Static } from 'typebox';
import { LIMITS } from '../../domain/limits.ts';
import type { Quotas, QuotaUse } from '../../domain/quota.ts';
import { id, nullable } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';

interface Bound {
  readonly minimum: number;
  readonly maximum: number;
  readonly description: string;
  readonly examples: number[];
}

const limit = ({ description, ...bound }: Bound) =>
  nullable(Type.Integer({ ...bound, description: `${description} Null: any number.` }));

const FIELDS = {
  processes: limit({
    minimum: 1,
    maximum: LIMITS.maxQuotaProcesses,
    description: 'Processes of user code at each node, idle ones included. Further runs wait.',
    examples: [8],
  }),
  cpu_seconds_per_minute: limit({
    minimum: 1,
    maximum: LIMITS.maxQuotaCpuSeconds,
    description: 'CPU seconds of user code within a minute at each node: 60 is one core. Beyond it, runs wait.',
    examples: [60],
  }),
  requests_per_second: limit({
    minimum: 1,
    maximum: LIMITS.maxQuotaRequests,
    description: 'API requests and events together in a second, at each node. Beyond it, they are refused with 429.',
    examples: [100],
  }),
  stored_bytes: limit({
    minimum: 1,
    maximum: LIMITS.maxQuotaBytes,
    description:
      'Bytes of events, results and logs of runs, code, and data stores. Beyond it, what would be stored is refused with 429, and runs wait.',
    examples: [1_000_000_000],
  }),
};

export const QUOTAS_SET = {
  processes: Type.Optional(FIELDS.processes),
  cpu_seconds_per_minute: Type.Optional(FIELDS.cpu_seconds_per_minute),
  requests_per_second: Type.Optional(FIELDS.requests_per_second),
  stored_bytes: Type.Optional(FIELDS.stored_bytes),
};

const count = (description: string, example: number) => Type.Number({ description, examples: [example] });

export const QUOTAS = Type.Object(
  {
    owner_id: id('u_'),
    limits: Type.Object(FIELDS, { description: 'The quotas.' }),
    use: Type.Object(
      {
        processes: count('Processes now.', 3),
        cpu_seconds_per_minute: count('CPU seconds within the last minute.', 4.2),
        requests_per_second: nullable(
          count('Requests within the last second. Null: not counted, since there is no quota.', 17),
        ),
        stored_bytes: nullable(
          count('Bytes as last measured, and those that came to this node since. Null: not measured yet.', 52_000_000),
        ),
        stored_bytes_at_ms: nullable(
          Type.Integer({
            description: 'When they were measured, in milliseconds since the Unix epoch. Null: not yet.',
            examples: [1_782_000_000_000],
          }),
        ),
      },
      { description: 'At the node that answers, but for the stored bytes.' },
    ),
  },
  { title: 'Quotas' },
);

export function quotasToWire(
  ownerId: string,
  { limits, use }: { limits: Quotas; use: QuotaUse },
): Static<typeof QUOTAS> {
  return {
    owner_id: ownerId,
    limits: quotasSet(limits),
    use: {
      processes: use.processes,
      cpu_seconds_per_minute: use.cpuSecondsPerMinute,
      requests_per_second: use.requestsPerSecond,
      stored_bytes: use.storedBytes,
      stored_bytes_at_ms: use.storedBytesAtMs,
    },
  };
}

/** Returns the quotas alone, without what is used of them. */
export function quotasSet(limits: Quotas): Static<typeof QUOTAS>['limits'] {
  return {
    processes: limits.processes,
    cpu_seconds_per_minute: limits.cpuSecondsPerMinute,
    requests_per_second: limits.requestsPerSecond,
    stored_bytes: limits.storedBytes,
  };
}

export function quotasFromWire(given: {
  processes?: number | null;
  cpu_seconds_per_minute?: number | null;
  requests_per_second?: number | null;
  stored_bytes?: number | null;
}): Partial<Quotas> {
  const input = {
    processes: given.processes,
    cpuSecondsPerMinute: given.cpu_seconds_per_minute,
    requestsPerSecond: given.requests_per_second,
    storedBytes: given.stored_bytes,
  };
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}
