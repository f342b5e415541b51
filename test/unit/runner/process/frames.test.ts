import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeFrame, FrameReader, FrameWriter } from '../../../../src/runner/child/frames.ts';

function reader(maxBytes = 1e6): { frames: [unknown, string][]; reader: FrameReader } {
  const frames: [unknown, string][] = [];
  return {
    frames,
    reader: new FrameReader(maxBytes, (messages, blobs) => frames.push([messages, blobs.toString('latin1')])),
  };
}

test('frames arrive whole however they are cut', () => {
  const bytes = Buffer.concat([
    encodeFrame([{ a: 'ü☃' }, { b: [1] }], [Buffer.from('blob'), Buffer.from('more')]),
    encodeFrame([], []),
    encodeFrame([{ c: null }], [Buffer.from([0xff])]),
  ]);
  const expected = [
    [[{ a: 'ü☃' }, { b: [1] }], 'blobmore'],
    [[], ''],
    [[{ c: null }], '\xff'],
  ];
  for (const size of [1, 2, 3, 7, 8, 9, 20, bytes.length]) {
    const { frames, reader: cut } = reader();
    for (let at = 0; at < bytes.length; at += size) cut.push(bytes.subarray(at, at + size));
    assert.deepEqual(frames, expected, `${size} bytes at a time`);
  }
});

test('a toJSON that all objects or arrays have is not asked', () => {
  const messages = [{ t: 'end', logs: [[1, 'info', 'ü', null]], bulk: [], summary: undefined, fault: { msg: '' } }];
  const plain = encodeFrame(messages, []);
  for (const shared of [Object.prototype, Array.prototype]) {
    const toJSON = () => assert.fail('toJSON was called');
    Object.defineProperty(shared, 'toJSON', { value: toJSON, configurable: true, enumerable: true });
    try {
      assert.deepEqual(encodeFrame(messages, []).toString('hex'), plain.toString('hex'));
    } finally {
      delete (shared as { toJSON?: unknown }).toJSON;
    }
  }
});

test('a frame beyond the bound is refused early', () => {
  const frame = encodeFrame([{ text: 'x'.repeat(100) }], []);
  assert.throws(() => reader(50).reader.push(frame.subarray(0, 8)), RangeError);
  assert.doesNotThrow(() => reader(200).reader.push(frame));
});

const BOUNDS = { maxBytes: 1e6, maxJsonBytes: 5e5, maxValues: 1000 };
const bounded = () => new FrameReader(BOUNDS, () => {});
/** A frame as a forger writes it. */
function forged(json: string, blobs = 0): Buffer {
  const frame = Buffer.alloc(8 + json.length + blobs);
  frame.writeUInt32LE(json.length + blobs, 0);
  frame.writeUInt32LE(json.length, 4);
  frame.write(json, 8);
  return frame;
}

test('JSON beyond its bound is refused early', () => {
  assert.throws(() => bounded().push(forged(`"${'x'.repeat(6e5)}"`).subarray(0, 8)), /bytes of JSON is over/);
  assert.doesNotThrow(() => bounded().push(forged(`["${'x'.repeat(4e5)}"]`, 4e5)));
});

test('values beyond their bound are not parsed', () => {
  for (const part of ['[],', '{},', '0,', '"",', '"\\"",', '{"a":[],"b":1},']) {
    const many = `[${part.repeat(66_000 / part.length)}`;
    // It has no end: the parser would have said so.
    assert.throws(() => bounded().push(forged(many)), /more than 1000 values/, part);
  }
  const texts = JSON.stringify([`[],{},"\\`.repeat(20_000)]);
  assert.doesNotThrow(() => bounded().push(forged(texts)), 'what is in texts is no value');
  assert.throws(() => bounded().push(forged(`["${'\\'.repeat(40_000)}`)), SyntaxError);
});

test('what is no frame is refused', () => {
  const lying = Buffer.alloc(12);
  lying.writeUInt32LE(4, 0);
  lying.writeUInt32LE(5, 4);
  assert.throws(() => reader().reader.push(lying), RangeError);
  const broken = encodeFrame([{ a: 1 }], []);
  broken.write('}', 8);
  assert.throws(() => reader().reader.push(broken), SyntaxError);
});

test('messages of a turn share one frame', () => {
  const written: Buffer[] = [];
  let flush = (): void => assert.fail('nothing to flush');
  const writer = new FrameWriter(
    (frame) => written.push(frame),
    (then) => {
      flush = then;
    },
  );
  writer.push({ n: 1 });
  writer.push({ n: 2 }, Buffer.from('two'));
  assert.equal(written.length, 0);
  flush();
  writer.flush();
  assert.deepEqual(written, [encodeFrame([{ n: 1 }, { n: 2 }], [Buffer.from('two')])]);
});

test('heavy messages do not wait for each other', () => {
  const written: Buffer[] = [];
  const writer = new FrameWriter(
    (frame) => written.push(frame),
    () => {},
  );
  writer.push({ n: 1 }, null, 2 * 1024 * 1024);
  writer.push({ n: 2 }, Buffer.alloc(2 * 1024 * 1024));
  assert.equal(written.length, 2);
});
