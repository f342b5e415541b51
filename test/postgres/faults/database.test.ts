import { describe } from 'node:test';
import { inShort } from '../../prove/postgres/scenarios.ts';
import { proves } from './proves.ts';

describe('a Postgres that fails under three nodes', () => {
  proves('loses nothing when its disk is full', inShort['disk full']);
});
