// A receiver of webhooks that takes only what is signed with the webhook's secret, and each event once.
//   WEBHOOK_SECRET=whsec_… node examples/receiver.ts

import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? '');
const seen = new Set<string>();

const server = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const headers = request.headers as Record<string, string>;
  try {
    // The bytes as they came are what is signed: JSON that was parsed and written again verifies nowhere.
    const event = webhook.verify(Buffer.concat(parts), headers);
    response.writeHead(204).end();
    const id = headers['webhook-id'] ?? '';
    // A delivery may come again, after a lost answer, say. Its id stays the same.
    if (!seen.has(id)) console.log(`genuine: ${headers['errand-event-name']} ${JSON.stringify(event)}`);
    seen.add(id);
  } catch {
    response.writeHead(401).end();
  }
});

server.listen(Number(process.env.PORT ?? 8787), '127.0.0.1', () => console.log('the receiver listens'));
