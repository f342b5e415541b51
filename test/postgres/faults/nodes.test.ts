import { describe } from 'node:test';
import { inShort } from '../../prove/postgres/scenarios.ts';
import { proves } from './proves.ts';

describe('three nodes on one Postgres', () => {
  proves('lose nothing when one is killed', inShort.killed);
  proves('lose nothing when one stands still', inShort.paused);
});
