// The folder for mails without a mail server or recipient: one complete `.eml` file each, so that no mail is lost before SMTP
// is configured. A file appears whole or not at all, and is on disk before the delivery counts as made.

import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { throwNaming } from '../named-path.ts';
import type { Random } from '../ports.ts';
import { asMessage, type Letter } from './letter.ts';
import { nodemailer } from './nodemailer.ts';
import { OWNER_HEADER } from './outbox-letters.ts';

export interface Outbox {
  /** Writes the letter and returns its file name. The same letter again overwrites its file. Rejects with the system's error. */
  write(letter: Letter): Promise<string>;
}

export function createOutbox({ outboxDir, random }: { outboxDir: string; random: Random }): Outbox {
  async function write(letter: Letter): Promise<string> {
    const composer = nodemailer().createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
    const made = asMessage(letter);
    const headers = { ...made.headers, [OWNER_HEADER]: letter.ownerId };
    const { message } = await composer.sendMail({ ...made, headers });
    const name = fileNameOf(letter);
    await mkdir(outboxDir, { recursive: true, mode: 0o700 });
    const temporary = join(outboxDir, `.${name}.${Buffer.from(random.bytes(6)).toString('hex')}.tmp`);
    try {
      await writeDurably(temporary, message as Buffer).catch(throwNaming(join(outboxDir, name)));
      await rename(temporary, join(outboxDir, name));
      await syncFolder(outboxDir);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    return name;
  }

  return { write };
}

/**
 * Returns the name of a mail's file: by the time of the mail, not of the attempt, so that a repeat finds its file. Some file
 * systems refuse colons.
 */
function fileNameOf({ date, emitId }: Letter): string {
  return `${date.toISOString().replaceAll(':', '-')}-${emitId.replace(/[^\w-]/g, '_')}.eml`;
}

async function writeDurably(path: string, content: Buffer): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  await file.writeFile(content);
  await file.sync();
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r');
  await folder.sync();
}
