// A vendor whose webhooks sources register in `activate` and remove in `deactivate`, and what such a source looks like. It
// holds back the answers that a test wants to see pending.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../wait.ts';

export interface Registry extends AsyncDisposable {
  readonly url: string;
  /** What was asked of it, and is answered, as `<label> <what>`, in the order in which it was answered. */
  readonly answered: readonly string[];
  /** Labels of the webhooks that are registered, one for each. */
  registered(): string[];
  /** The next request of that kind waits, as `<label> <what>`. */
  hold(call: string): void;
  /** Waits until that one does. */
  held(call: string): Promise<void>;
  /** Requests of that kind are answered 500 from now on. */
  refuse(call: string): void;
  /** Answers it, if whoever asked is still there. */
  letGo(call: string): void;
}

export async function startRegistry(): Promise<Registry> {
  const answered: string[] = [];
  const hooks = new Map<string, string>();
  const toHold = new Set<string>();
  const toRefuse = new Set<string>();
  /** Answers each. */
  const holding = new Map<string, () => void>();
  let made = 0;
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://registry');
    const [, label = '', what = ''] = pathname.split('/');
    const call = `${label} ${what}`;
    function answer(): void {
      // A caller that is gone by now has registered nothing, and removed nothing.
      if (response.destroyed) return;
      answered.push(call);
      if (toRefuse.has(call)) return void response.writeHead(500).end();
      if (what === 'activate') hooks.set(`h${++made}`, label);
      const isKnown = what !== 'deactivate' || hooks.delete(searchParams.get('hook') ?? '');
      response.writeHead(isKnown ? 200 : 404).end(`h${made}`);
    }
    if (toHold.delete(call)) holding.set(call, answer);
    else answer();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answered,
    registered: () => [...hooks.values()].sort(),
    refuse: (call) => void toRefuse.add(call),
    hold: (call) => void toHold.add(call),
    held: async (call) => {
      await until(`${call} to be held`, () => holding.has(call));
    },
    letGo: (call) => {
      holding.get(call)?.();
      holding.delete(call);
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Registers itself under its label, and emits its version with every tick of its timer. */
export const REGISTERING = `export default {
  props: {
    timer: { type: '$.interface.timer', default: { intervalSeconds: 1 } },
    db: '$.service.db', to: 'string', label: 'string', version: { type: 'string', default: 'a' },
  },
  methods: {
    async tell(what) {
      const response = await fetch(this.to + '/' + this.label + '/' + what);
      if (response.status !== 200) throw new Error(what + ' was refused');
      return response.text();
    },
  },
  hooks: {
    async deploy() { await this.tell('deploy'); },
    async activate() { this.db.set('hook', await this.tell('activate')); },
    async deactivate() {
      const hook = this.db.get('hook');
      if (hook === undefined) return;
      await this.tell('deactivate?hook=' + hook);
      this.db.set('hook', undefined);
    },
  },
  async run() {
    await this.tell('tick');
    this.$emit(this.version);
  },
};`;
