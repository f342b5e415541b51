import type { Webhook } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { Card, Fact } from '../parts/card.tsx';
import { durationText } from '../parts/text/duration.ts';
import { Foreign } from '../parts/text/foreign.tsx';
import { Ago, At } from '../parts/time.tsx';

const words = T.webhooks.facts;

/** How a webhook is doing, and how it is delivered to. */
export function WebhookFacts({ webhook }: { webhook: Webhook }) {
  const { id, health, timeout_ms: timeoutMs, retry, rate_limit: rate, max_in_flight: inFlight, ordered } = webhook;
  const { failing_since_ms: failingMs, exhausted_in_row: exhausted, paused_until_ms: pausedMs } = health;
  const headers = Object.keys(webhook.headers);
  return (
    <Card title={words.title}>
      <dl className="facts card-body">
        <Fact name={words.id}>
          <code>{id}</code>
        </Fact>
        {failingMs !== null && (
          <Fact name={words.failing}>
            <Ago ms={failingMs} />
          </Fact>
        )}
        {exhausted > 0 && <Fact name={words.exhausted}>{exhausted.toLocaleString()}</Fact>}
        {pausedMs !== null && (
          <Fact name={words.paused}>
            <At ms={pausedMs} />
          </Fact>
        )}
        <Fact name={words.timeout}>{durationText(timeoutMs ?? TIMEOUT_MS)}</Fact>
        <Fact name={words.retries}>{words.ofRetries(retry?.delays_ms.length ?? RETRIES)}</Fact>
        <Fact name={words.inFlight}>{ordered ? words.ordered : (inFlight ?? IN_FLIGHT).toLocaleString()}</Fact>
        {rate && <Fact name={words.rate}>{words.ofRate(rate.limit, durationText(rate.interval_ms))}</Fact>}
        <Fact name={words.signature}>{webhook.signature.map((one) => words.signatures[one]).join(', ')}</Fact>
        {headers.length > 0 && (
          <Fact name={words.headers}>
            <Foreign>{headers.join(', ')}</Foreign>
          </Fact>
        )}
        <Fact name={words.created}>
          <Ago ms={webhook.created_at * 1000} />
        </Fact>
      </dl>
    </Card>
  );
}

/** What null stands for, as the interface says. */
const TIMEOUT_MS = 15_000;
const RETRIES = 10;
const IN_FLIGHT = 8;
