import { escapeHtml } from './html.ts';

/** Returns the guide to the first workflow with curl: deploy it, call it, break it, read its error and replay it. */
export function gettingStarted(publicUrl: string): string {
  const steps = [
    {
      says: 'Take your API key. A new store makes one at its first start, prints it once, and keeps it in <code>data/api-key</code>.',
      code: `export URL=${publicUrl}\nexport KEY="$(cat data/api-key)"`,
    },
    {
      says: 'Make a workflow with an HTTP trigger. Its one step fails when the order has no total.',
      code: `curl -sS "$URL/v1/workflows" \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{
    "name": "Orders",
    "triggers": [{"type": "http"}],
    "steps": [{
      "namespace": "charge",
      "code": "export default async ({ steps }) => steps.trigger.event.body.total.toFixed(2);"
    }]
  }'`,
    },
    {
      says: 'Call it at the <code>endpoint_url</code> of the answer, once well and once badly. Both are accepted: the answer means that the event is on disk.',
      code: `curl -sS "$ENDPOINT_URL" -H 'Content-Type: application/json' -d '{"order": 1, "total": 12.5}'
curl -sS "$ENDPOINT_URL" -H 'Content-Type: application/json' -d '{"order": 2}'`,
    },
    {
      says: 'Read what went wrong, with the event that did it, byte for byte.',
      code: `curl -sS "$URL/v1/workflows/$WORKFLOW_ID/\\$errors/event_summaries?expand=event" \\
  -H "Authorization: Bearer $KEY"`,
    },
    {
      says: 'Have every error of it delivered to an endpoint of yours: a webhook, and a subscription to <code>$errors</code>.',
      code: `curl -sS -X POST "$URL/v1/webhooks?url=https://example.com/hooks/errand" \\
  -H "Authorization: Bearer $KEY"
curl -sS -X POST "$URL/v1/subscriptions?emitter_id=$WORKFLOW_ID&listener_id=$WEBHOOK_ID&event_name=\\$errors" \\
  -H "Authorization: Bearer $KEY"`,
    },
    {
      says: 'Correct the code with <code>PUT /v1/workflows/{id}</code>, then run the failed event again.',
      code: `curl -sS -X POST "$URL/v1/workflows/$WORKFLOW_ID/\\$errors/$RECORD_ID/replay" \\
  -H "Authorization: Bearer $KEY"`,
    },
  ];
  const items = steps.map(
    ({ says, code }) => `<li><p>${says}</p><pre tabindex="0"><code>${escapeHtml(code)}</code></pre></li>`,
  );
  return `<h2 id="start">Getting started</h2><ol>${items.join('\n')}</ol>`;
}
