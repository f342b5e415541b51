import { escapeHtml } from './html.ts';

/** Returns the guide to the first workflow with curl: deploy it, call it, break it, read its error and replay it. */
export function gettingStarted(publicUrl: string): string {
  const steps = [
    {
      says: 'Get your API key. The first start prints it once, and writes it to <code>data/api-key</code>.',
      code: `export URL=${publicUrl}\nexport KEY="$(cat data/api-key)"`,
    },
    {
      says: 'Create a workflow with an HTTP trigger. Its only step fails when the order has no total.',
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
      says: 'Take two values from the answer: <code>data.id</code> and <code>data.triggers[0].endpoint_url</code>. Send two orders, a valid and an invalid one. Both get 200, which means that the event is on disk.',
      code: `export WORKFLOW_ID=p_… ENDPOINT_URL=…
curl -sS "$ENDPOINT_URL" -H 'Content-Type: application/json' -d '{"order": 1, "total": 12.5}'
curl -sS "$ENDPOINT_URL" -H 'Content-Type: application/json' -d '{"order": 2}'`,
    },
    {
      says: 'List the errors, each with the event that caused it, byte for byte.',
      code: `curl -sS "$URL/v1/workflows/$WORKFLOW_ID/\\$errors/event_summaries?expand=event" \\
  -H "Authorization: Bearer $KEY"`,
    },
    {
      says: 'Have each error delivered to an endpoint of yours: create a webhook, and subscribe it to <code>$errors</code>. <code>WEBHOOK_ID</code> is <code>data.id</code> of the first answer.',
      code: `curl -sS -X POST "$URL/v1/webhooks?url=https://example.com/hooks/errand" \\
  -H "Authorization: Bearer $KEY"
curl -sS -X POST "$URL/v1/subscriptions?emitter_id=$WORKFLOW_ID&listener_id=$WEBHOOK_ID&event_name=\\$errors" \\
  -H "Authorization: Bearer $KEY"`,
    },
    {
      says: 'Fix the code with <code>PUT /v1/workflows/{id}</code>, and run the failed event again. <code>RECORD_ID</code> is the <code>id</code> of the error in the list.',
      code: `curl -sS -X POST "$URL/v1/workflows/$WORKFLOW_ID/\\$errors/$RECORD_ID/replay" \\
  -H "Authorization: Bearer $KEY"`,
    },
  ];
  const items = steps.map(
    ({ says, code }) => `<li><p>${says}</p><pre tabindex="0"><code>${escapeHtml(code)}</code></pre></li>`,
  );
  return `<h2 id="start">Getting started</h2><ol>${items.join('\n')}</ol>`;
}
