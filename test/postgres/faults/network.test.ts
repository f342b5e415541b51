import { describe } from 'node:test';
import { inShort } from '../../prove/postgres/scenarios.ts';
import { proves } from './proves.ts';

describe('a network between three nodes and Postgres', () => {
  proves('loses nothing when connections are cut', inShort['connections cut']);
});
