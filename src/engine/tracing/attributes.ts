// Attributes of spans. None of them is an event, a secret, or what an answer said.

import type { Emission } from '../../domain/emission.ts';
import type { Span } from '../../ports.ts';

export function emissionAttributes(
  emission: Pick<Emission, 'ownerId' | 'emitId' | 'emitterId' | 'name' | 'traceId' | 'test' | 'replay'>,
): Span['attributes'] {
  const { ownerId, emitId, emitterId, name, traceId, test, replay } = emission;
  return {
    'errand.owner.id': ownerId,
    'errand.emission.id': emitId,
    'errand.emitter.id': emitterId,
    'errand.trace.id': traceId,
    ...(name === '' ? {} : { 'errand.event.name': name }),
    ...(test ? { 'errand.test': true } : {}),
    ...(replay ? { 'errand.replay': true } : {}),
  };
}
