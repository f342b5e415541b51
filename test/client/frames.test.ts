// The format of server-sent events, read in parts of any size.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFrameReader, type Frame } from '../../src/client/event-frames.ts';

const read = (parts: readonly string[], lastId?: string): Frame[] => {
  const reader = createFrameReader(lastId);
  return parts.flatMap((part) => reader.take(part));
};

test('the fields of an event are read as the standard says', () => {
  const text = [
    '\uFEFF: a comment\n\n',
    'id: 1\nevent: paid\ndata: {"a":\ndata:1}\n\n',
    'data\n\n',
    'id: 2\n\n',
    'data:  x\nunknown: y\nid: 3\0\n\n',
    'id\ndata: last\n\n',
    'event: never\ndata: without its end',
  ].join('');
  assert.deepEqual(read([text]), [
    { lastId: '1', name: 'paid', data: '{"a":\n1}' },
    { lastId: '1', name: '', data: '' },
    { lastId: '2', name: '', data: ' x' },
    { lastId: '', name: '', data: 'last' },
  ]);
});

test('an id without an event is where the stream goes on', () => {
  const reader = createFrameReader('4-0');
  assert.equal(reader.lastId, '4-0');
  assert.deepEqual(reader.take('retry: 1500\nid: 5-0\n'), []);
  assert.deepEqual([reader.lastId, reader.retryMs], ['4-0', 1500]);
  reader.take('\nid: 6-0\ndata: half');
  assert.equal(reader.lastId, '5-0');
  reader.take('\nretry: soon\n\n');
  assert.deepEqual([reader.lastId, reader.retryMs], ['6-0', 1500]);
});

test('events are the same in whatever parts they come', () => {
  const frame = fc.record({
    id: fc.stringMatching(/^\d{1,3}$/),
    data: fc.stringMatching(/^[a-z {}":é😀]{0,12}$/u),
    end: fc.constantFrom('\n', '\r\n', '\r'),
  });
  const property = fc.property(fc.array(frame), fc.array(fc.nat(20)), (frames, cuts) => {
    const text = frames.map(({ id, data, end }) => `id: ${id}${end}data: ${data}${end}${end}`).join('');
    const parts: string[] = [];
    let rest = text;
    for (const cut of cuts) {
      parts.push(rest.slice(0, cut));
      rest = rest.slice(cut);
    }
    // A carriage return at the very end waits for what follows.
    const events = read([...parts, rest, ':\n']);
    assert.deepEqual(
      events.map(({ lastId, data }) => [lastId, data]),
      frames.map(({ id, data }) => [id, data]),
    );
  });
  fc.assert(property);
});
