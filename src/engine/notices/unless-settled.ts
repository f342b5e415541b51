// Withholds mails and notices that wait, for example since the mail server was away, while a person resolves the errors that they
// tell of. Judged for each attempt: a group that has been opened again is told.

import type { ClaimedDelivery } from '../../domain/delivery/delivery.ts';
import { groupsToldBy } from '../../domain/notices/notice.ts';
import type { Clock } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import type { Attempter } from '../deliveries/deliveries.ts';
import { unsent } from './channel-attempts.ts';

export interface SettledDeps {
  readonly store: Pick<Store, 'areSettled'>;
  readonly clock: Clock;
}

const WITHHELD = 'Withheld: its group of errors was resolved before it could be sent.';

/** Returns `send` for all deliveries but those that tell of groups which a person has resolved. */
export function unlessSettled({ store, clock }: SettledDeps, send: Attempter): Attempter {
  return async (delivery, signal) => {
    if (!(await isSettled(delivery))) return send(delivery, signal);
    return { ...unsent(clock.nowMs(), { detail: WITHHELD, permanent: false }), outcome: 'withheld' };
  };

  async function isSettled({ emission, trigger, attempt, tries }: ClaimedDelivery): Promise<boolean> {
    const groups = groupsToldBy(emission);
    // What was resent by hand is wanted, also when it is tried again.
    if (groups.length === 0 || trigger === 'resend' || attempt - 1 > tries) return false;
    // Rather twice than never.
    return store.areSettled(emission.ownerId, groups).catch(() => false);
  }
}
