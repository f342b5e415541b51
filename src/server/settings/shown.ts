// Settings as they are shown: `GET /v1/settings`, and `errand config`.

import type { ShownSetting } from '../../http/deps.ts';
import { maskedCredentials, type Setting } from './readers.ts';

type Shown = Omit<Setting, 'read'> & Partial<Pick<Setting, 'read'>>;

/** Returns the settings with their values in `env`, which have been read before. A secret is never in it. */
export function shownSettings(
  settings: readonly Shown[],
  env: Readonly<Record<string, string | undefined>>,
): ShownSetting[] {
  return settings.map(({ name, fallback, about, read, isSecret = false }) => {
    const given = env[name] ?? '';
    const text = given === '' ? fallback : given;
    return {
      ...{ name, about, isSecret, isSet: given !== '', fallback: fallback === '' ? null : fallback },
      value: isSecret || text === '' ? null : maskedCredentials(shownText(text, read)),
    };
  });
}

/** Returns what a text came to: a path is shown whole, since the folder where the server began may be any. */
function shownText(text: string, read: Setting['read'] | undefined): string {
  const value = read?.(text);
  return typeof value === 'string' ? value : text;
}
