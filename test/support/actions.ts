// Components of the public API's kind, and workflows made of them.

import type { Answer, Json } from './client.ts';
import type { Errand } from './errand.ts';

/** An app whose methods need an account. */
export const SHOP = `const shop = {
  type: 'app', app: 'shop',
  propDefinitions: {
    city: {
      type: 'string', label: 'City',
      async options({ page, country }) { return page > 0 ? [] : [{ label: await this.where(country), value: 'osl' }]; },
    },
  },
  methods: { where(country) { return this.$auth.token + ' in ' + country; } },
};
`;

/** An action with these members. */
export function action(members: string): string {
  return `${SHOP}export default defineComponent({ key: 'shop-act', type: 'action', version: '0.0.1', ${members} });`;
}

/** The answer to a workflow of one step that may be refused. */
export function tryStep(errand: Errand, code: string, configured_props?: Json): Promise<Answer> {
  const step = { namespace: 'act', code, ...(configured_props === undefined ? {} : { configured_props }) };
  return errand.client.request('POST', '/v1/workflows', { name: 'test', steps: [step], triggers: [{ type: 'http' }] });
}

export async function createStep(errand: Errand, code: string, configured_props?: Json): Promise<Json> {
  const answer = await tryStep(errand, code, configured_props);
  if (answer.status !== 200) throw new Error(`the workflow was refused with ${answer.status}: ${answer.text}`);
  return answer.json.data;
}

/** What the step returns for an event. */
export async function runStep(errand: Errand, workflow: Json, runs = 1): Promise<Json> {
  await errand.send(workflow, {});
  const [newest] = await errand.runs(workflow.id, runs);
  const { data } = await errand.client.get(`/v1/runs/${newest.id}`);
  if (data.state !== 'succeeded') throw new Error(`the run ${data.state}: ${JSON.stringify(data.error)}`);
  return data.steps[0].return_value;
}
