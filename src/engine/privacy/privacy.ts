// Redaction, put together: the stores that show and that write, what code and mails get, and the setting of rules.

import { ERRORS } from '../../domain/emission.ts';
import { ledBy } from '../../domain/privacy/led-by.ts';
import type { Redactions } from '../../domain/privacy/rules.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { ClaimedRun } from '../../domain/run/run.ts';
import type { RunEnd } from '../../domain/run/run-end.ts';
import type { Clock } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import { createOutgoing } from './outgoing.ts';
import { type RedactionChange, RedactionRulesOf } from './redactions.ts';
import { shownEmission } from './shown-records.ts';
import { shownStore } from './shown-store.ts';
import { storedEnd, storingStore } from './storing.ts';

interface PrivacyDeps {
  readonly clock: Clock;
  readonly publicUrl: () => string;
}

export function createPrivacy(store: Store, { clock, publicUrl }: PrivacyDeps) {
  const rules = new RedactionRulesOf({ store, clock });

  /**
   * Returns the event for a run. The global error workflow notifies people, so it gets an error as they may see it. Listeners
   * get what was stored.
   */
  async function eventFor({ emission, via, runnable }: ClaimedRun): Promise<Uint8Array> {
    if (via !== 'global' || emission.name !== ERRORS) return emission.body;
    const own = await rules.recent(emission.ownerId);
    return shownEmission(emission, own?.of([emission.emitterId, runnable.id, ...ledBy(emission)]) ?? null).body;
  }

  async function endFor({ emission }: ClaimedRun, end: RunEnd): Promise<RunEnd> {
    const own = await rules.recent(emission.ownerId);
    return own ? storedEnd(end, own) : end;
  }

  /** Returns what redacts text about these resources, which leaves this server. */
  async function textFor(ownerId: string, ids: readonly (string | null)[]): Promise<(given: string) => string> {
    const hides = (await rules.recent(ownerId))?.of(ids);
    return (given) => hides?.text(given) ?? given;
  }

  async function getRedactions(ownerId: string): Promise<Redactions> {
    return store.redactionsOf(ownerId);
  }

  async function setRedaction(ownerId: string, scopeId: string, change: RedactionChange): Promise<void> {
    if (await rules.set(ownerId, scopeId, change)) return;
    throw new Refusal('not_found', `there is no workflow ${scopeId}`);
  }

  return {
    shown: shownStore(store, rules),
    storing: storingStore(store, rules),
    eventFor,
    endFor,
    textFor,
    ...createOutgoing({ rules, publicUrl, clock }),
    actions: { getRedactions, setRedaction },
  };
}
