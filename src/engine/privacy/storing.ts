// What is stored of workflows whose rules hold before storing: the store as everything writes to it. Of such a workflow, events of
// its own triggers and of runs by hand, what its runs leave, and its errors are redacted before they reach the store. An event is on
// disk before its run begins, so the code gets it redacted, too.

import { concat, utf8 } from '../../domain/bytes.ts';
import { ERRORS, type NewEmission } from '../../domain/emission.ts';
import type { Redactor } from '../../domain/privacy/redactor.ts';
import type { RunEnd } from '../../domain/run/run-end.ts';
import type { Store } from '../../store/contract/store.ts';
import type { OwnerRules, RedactionRulesOf } from './redactions.ts';
import { shownDetail, shownError } from './shown-records.ts';

export function storingStore(store: Store, rules: Pick<RedactionRulesOf, 'recent'>): Store {
  return {
    ...store,
    append: async (emission, admission, options) => {
      const own = await rules.recent(emission.ownerId);
      return store.append(own ? stored(emission, own) : emission, admission, options);
    },
  };
}

/** Returns the end of a run as it is written. */
export function storedEnd(end: RunEnd, own: OwnerRules): RunEnd {
  const emissions = end.emissions.map((emission) => stored(emission, own));
  const hides = own.isBeforeStoring(end.runnableId) ? own.of([end.runnableId]) : null;
  if (!hides) return { ...end, emissions };
  const { summary, detail } = end;
  return {
    ...end,
    emissions,
    summary: summary === null ? null : hides.text(summary),
    detail: shownDetail(detail, hides),
  };
}

function stored(emission: NewEmission, own: OwnerRules): NewEmission {
  const { emitterId, onlyListenerId, name, originalStart: start, originalLength: length } = emission;
  const id = name === ERRORS ? emitterId : (onlyListenerId ?? own.workflowOf(emitterId));
  const hides = id !== null && own.isBeforeStoring(id) ? own.of([id]) : null;
  if (!hides) return emission;
  if (name !== ERRORS || start === null || length === null) return { ...emission, body: hides.json(emission.body) };
  const { body, original } = shownError(emission.body, { start, length }, hides);
  const end = (original?.start ?? start) + (original?.length ?? length);
  return {
    ...emission,
    body: concat([body.subarray(0, end), MARKED, body.subarray(end + MARKED_AT.byteLength)]),
    originalLength: original?.length ?? length,
    ...(emission.fault && { fault: storedFault(emission.fault, hides) }),
  };
}

/** What begins behind the original event, and the same with the mark by which a replay is refused. */
const MARKED_AT = utf8(',"original_context":{');
const MARKED = utf8(',"original_context":{"redacted":true,');

function storedFault(fault: NonNullable<NewEmission['fault']>, hides: Redactor): NonNullable<NewEmission['fault']> {
  const { fingerprint, msg } = fault;
  return {
    ...fault,
    fingerprint: { ...fingerprint, template: hides.text(fingerprint.template), frame: hides.text(fingerprint.frame) },
    msg: hides.text(msg),
  };
}
