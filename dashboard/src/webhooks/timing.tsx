import type { Attempt } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { durationText } from '../parts/text/duration.ts';

/** Where the time of an attempt went. Nothing where it went into one thing: how long it took is said above. */
export function Timing({ timing, tookMs }: { timing: NonNullable<Attempt['timing']>; tookMs: number }) {
  const dns = timing.dns_ms ?? 0;
  const connect = timing.connect_ms ?? 0;
  const answer = timing.first_byte_ms ?? 0;
  const parts = { dns, connect, answer, rest: Math.max(0, tookMs - dns - connect - answer) };
  const shown = (Object.keys(parts) as (keyof typeof parts)[]).filter((name) => parts[name] > 0);
  if (dns + connect + answer === 0) return null;
  return (
    <>
      <div className="timing" aria-hidden="true">
        {shown.map((name) => (
          <i key={name} className={name} style={{ flexGrow: parts[name] }} />
        ))}
      </div>
      <p className="soft">
        {shown.map((name, at) => (
          <span key={name} className="nowrap">
            {at > 0 && ' · '}
            <i className={`dot ${name}`} aria-hidden="true" />
            {`${T.webhooks.timing[name]} ${durationText(parts[name])}`}
          </span>
        ))}
      </p>
    </>
  );
}
