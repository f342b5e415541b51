// The server's log: one JSON object a line, on the standard error.

import { type DestinationStream, pino, stdSerializers } from 'pino';
import type { Log } from '../ports.ts';

/**
 * What is told of an error beside its message and stack. Others are left out: those of a database may hold the values of a
 * statement (`detail`, and `where`, if the database is set so), which are events and secrets.
 */
const TOLD = ['code', 'errno', 'syscall', 'address', 'port', 'severity', 'table', 'column', 'constraint', 'routine'];

/** Creates the log. `destination`: for a test; the standard error when it is not given. */
export function createLog(level: string, destination: DestinationStream = pino.destination(2)): Log {
  const logger = pino(
    {
      level,
      base: { service: 'errand' },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorFields },
    },
    destination,
  );
  return {
    debug: (fields, name) => logger.debug(fields, name),
    info: (fields, name) => logger.info(fields, name),
    warn: (fields, name) => logger.warn(fields, name),
    error: (fields, name) => logger.error(fields, name),
  };
}

/** Returns what is logged of a thrown value; the message and the stack have those of its causes. */
function errorFields(thrown: unknown): object {
  if (!(thrown instanceof Error)) {
    const message = typeof thrown === 'string' ? thrown : Object.prototype.toString.call(thrown);
    return { type: typeof thrown, message };
  }
  const { type, message, stack, aggregateErrors } = stdSerializers.err(thrown);
  const told = TOLD.flatMap((name) => {
    const value = (thrown as unknown as Record<string, unknown>)[name];
    return typeof value === 'string' || typeof value === 'number' ? [[name, value] as const] : [];
  });
  const parts = aggregateErrors === undefined ? {} : { errors: (thrown as AggregateError).errors.map(errorFields) };
  return { type, message, stack, ...Object.fromEntries(told), ...parts };
}
