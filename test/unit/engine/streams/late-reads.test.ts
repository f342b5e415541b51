// Reads for streams that take longer than they are waited for, and fail then.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailable } from '../../../../src/store/contract/unavailable.ts';
import { Sink, settled, stage } from './streams-kit.ts';

test('a read that fails late is read again, and is logged unless storage is away', async () => {
  const { log, streams, open, failures } = stage();
  const sink = new Sink();
  await open(sink);
  log.emit(1);
  const broken = new Error('broken');
  for (const reason of [new StoreUnavailable('away'), broken]) {
    const read = Promise.withResolvers<void>();
    log.reading = () => read.promise;
    await streams.tickNews();
    read.reject(reason);
    await settled();
  }
  deepEqual(failures, [{ err: broken }]);
  log.reading = async () => undefined;
  log.emit(2, 'dc_2');
  await streams.tickNews();
  equal(sink.got, 'hello 1 ');
  await streams.stop();
});
