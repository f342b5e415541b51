// Whose events an error tells of. What tells of an error has the event that led to it, which another workflow may have emitted: its
// rules hold there, too.

import { EMAIL, type Emission, ERRORS, NOTICE } from '../emission.ts';
import { PREFIX } from '../ids.ts';

type Led = Pick<Emission, 'name' | 'emitterId' | 'digestKey' | 'lineage'>;

/** Returns, of an error and of a mail or notice about errors, the workflows, sources and webhooks that led to it; of all else, none. */
export function ledBy({ name, emitterId, digestKey, lineage }: Led): readonly string[] {
  if (name === ERRORS || name === NOTICE) return lineage;
  // Those of the global error workflow, and of the owner that a group has recovered. Other mails are what code wants to be sent.
  const isAboutErrors = name === EMAIL && (digestKey !== null || emitterId.startsWith(PREFIX.owner));
  return isAboutErrors ? lineage : [];
}
