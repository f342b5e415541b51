import { describe } from 'node:test';
import { inShort } from '../../prove/postgres/scenarios.ts';
import { proves } from './proves.ts';

describe('a Postgres that fails under three nodes', () => {
  proves('loses nothing when it is restarted', inShort['database restarted']);
  proves('loses nothing when its disk is full', inShort['disk full']);
  proves('loses nothing when its log has no room', inShort['disk full with the log']);
  proves('loses nothing when its tables are locked', inShort.locked);
});
