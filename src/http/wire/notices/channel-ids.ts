// A list of channels, as a parameter.

import { LIMITS } from '../../../domain/limits.ts';
import { NOTICE_LIMITS } from '../../../domain/notices/limits.ts';
import { text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';

export function channelIds(description: string) {
  return Type.Array(text({ maxLength: LIMITS.nameChars, example: 'ch_0Vj3aBc9dEfGhIjK' }), {
    description,
    maxItems: NOTICE_LIMITS.channelsToldOf,
    uniqueItems: true,
    'x-expected': `an array of ids of channels, at most ${NOTICE_LIMITS.channelsToldOf}, each once`,
    examples: [['ch_0Vj3aBc9dEfGhIjK']],
  });
}
