// Loads nodemailer with the first mail: a start does not pay for it. Not by an import: Node keeps one that failed, as where the
// process had no descriptor left, and no later mail would be sent.

import { createRequire } from 'node:module';

type Nodemailer = Pick<typeof import('nodemailer'), 'createTransport'>;

const require = createRequire(import.meta.url);
// What is not installed stops the start, as an import would, and not the first mail.
const PATH = require.resolve('nodemailer');

/** Throws when no file can be opened; the next call tries again. */
export function nodemailer(): Nodemailer {
  return require(PATH) as Nodemailer;
}
