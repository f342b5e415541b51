// Variables of workflows in a file `.env`, as the server's folder and `errand deploy` read them.

import { parseEnv } from 'node:util';

export const ENV_FILE = '.env';

/** Returns the variables of a file, also of one with the mark that editors of Windows put before it. */
export function variablesOf(text: string): Record<string, string> {
  return { ...parseEnv(text.replace(/^\ufeff/, '')) } as Record<string, string>;
}
