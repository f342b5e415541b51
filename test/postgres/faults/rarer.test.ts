// Half a minute of both cores each: `npm run test:postgres:all` has them, `npm test` has one fault of each kind.

import { describe } from 'node:test';
import { inShort } from '../../prove/postgres/scenarios.ts';
import { proves } from './proves.ts';

describe('a Postgres that fails otherwise under three nodes', () => {
  proves('loses nothing when it is restarted', inShort['database restarted']);
  proves('loses nothing when its log has no room', inShort['disk full with the log']);
  proves('loses nothing when its tables are locked', inShort.locked);
  proves('loses nothing when a standby takes over', inShort['primary lost']);
});

describe('three nodes on one Postgres, otherwise', () => {
  proves('lose nothing when roles are killed', inShort['roles apart']);
  proves('lose nothing when a version replaces another', inShort.upgraded);
});
