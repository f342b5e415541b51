// How long a workflow's errors are kept: the setting, and as shown.

import type { Static } from 'typebox';
import { ERROR_RETENTION_LIMITS, type ErrorRetention } from '../../../domain/errors/retention.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { nullable } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';

const DAYS = nullable(
  Type.Integer({
    minimum: 1,
    maximum: ERROR_RETENTION_LIMITS.days,
    description: 'So many days, if that is longer than `ERRAND_RETENTION_DAYS`.',
    examples: [365],
  }),
);
const NEWEST = nullable(
  Type.Integer({
    minimum: LIMITS.listedPerEmitterAndName,
    maximum: ERROR_RETENTION_LIMITS.newest,
    description: `The newest, however old they are. Null: ${LIMITS.listedPerEmitterAndName}.`,
    examples: [5000],
  }),
);

const DESCRIPTION = `How long its errors are kept: as long as \`days\` or \`newest\` says so. Null: as everything, \`ERRAND_RETENTION_DAYS\` and the newest ${LIMITS.listedPerEmitterAndName}.`;

export const ERROR_RETENTION = Type.Object(
  { days: DAYS, newest: NEWEST },
  { additionalProperties: false, description: DESCRIPTION },
);

export const ERROR_RETENTION_INPUT = Type.Object(
  { days: Type.Optional(DAYS), newest: Type.Optional(NEWEST) },
  { additionalProperties: false, description: DESCRIPTION },
);

export function errorRetentionInput(input: Static<typeof ERROR_RETENTION_INPUT>): ErrorRetention | null {
  const { days = null, newest = null } = input;
  return days === null && newest === null ? null : { days, newest };
}

export function errorRetentionToWire({ days, newest }: ErrorRetention): Static<typeof ERROR_RETENTION> {
  return { days, newest };
}
