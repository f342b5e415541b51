// All that `npm run mutate` breaks.

import { DOMAIN_MUTATIONS } from './areas/domain.ts';
import { ENGINE_MUTATIONS } from './areas/engine.ts';
import { HTTP_MUTATIONS } from './areas/http.ts';
import { INBOX_MUTATIONS } from './areas/inbox.ts';
import { INTERFACE_MUTATIONS } from './areas/interface.ts';
import { OWNER_MUTATIONS } from './areas/owners.ts';
import { READ_MUTATIONS } from './areas/reads.ts';
import { RUNNER_MUTATIONS } from './areas/runner.ts';
import { STORE_MUTATIONS } from './areas/store.ts';
import { WEBHOOK_MUTATIONS } from './areas/webhook.ts';
import type { Mutation } from './mutation.ts';

export const MUTATIONS: readonly Mutation[] = [
  ...DOMAIN_MUTATIONS,
  ...STORE_MUTATIONS,
  ...ENGINE_MUTATIONS,
  ...RUNNER_MUTATIONS,
  ...WEBHOOK_MUTATIONS,
  ...HTTP_MUTATIONS,
  ...INBOX_MUTATIONS,
  ...INTERFACE_MUTATIONS,
  ...READ_MUTATIONS,
  ...OWNER_MUTATIONS,
];
