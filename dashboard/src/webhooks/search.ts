// What the address of the list of webhooks holds.

export interface WebhookSearch {
  /** The dialog for a new one is open: it is to hear this workflow or source. */
  readonly hears?: string;
}

export function webhookSearch({ hears }: Record<string, unknown>): WebhookSearch {
  return typeof hears === 'string' && /^(p|dc)_\w{1,32}$/.test(hears) ? { hears } : {};
}
