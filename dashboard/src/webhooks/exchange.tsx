import type { Attempt } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { Scrollable } from '../parts/scrollable.tsx';
import { seen } from '../parts/text/foreign.tsx';

type Sent = NonNullable<Attempt['request']>['headers'][number];

/** What went to the receiver in an attempt, and what came back. */
export function Exchange({ attempt }: { attempt: Attempt }) {
  const { request, response_headers: received, response_body: body } = attempt;
  const answered = Object.entries(received).map(([name, value]) => ({ name, value }));
  return (
    <>
      {request && (
        <>
          <h3 className="raw-title">{T.webhooks.request}</h3>
          <p className="exchange-line mono">
            {request.method} {request.url}
          </p>
          <Headers title={T.webhooks.requestHeaders} headers={request.headers} />
        </>
      )}
      {(answered.length > 0 || body !== '') && (
        <>
          <h3 className="raw-title">{T.webhooks.response}</h3>
          {answered.length > 0 && <Headers title={T.webhooks.responseHeaders} headers={answered} />}
          {body && (
            <Scrollable className="raw mono is-answer" label={T.webhooks.response}>
              {seen(body)}
            </Scrollable>
          )}
        </>
      )}
    </>
  );
}

function Headers({ title, headers }: { title: string; headers: readonly Sent[] }) {
  return (
    <details className="headers">
      <summary>
        {title} <span className="soft">{headers.length}</span>
      </summary>
      <dl className="mono">
        {headers.map(({ name, value }) => (
          <div key={name} className="header">
            <dt>{seen(name)}</dt>
            <dd className={value === null ? 'soft' : undefined}>{value === null ? T.webhooks.notKept : seen(value)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
