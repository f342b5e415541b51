import test from 'node:test';
import { typeAll } from './reader.ts';

test('what the README says to type works', () => typeAll('README.md'));
