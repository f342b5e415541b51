// Every text of the documentation's script, so that it can be translated: a program of its own, which loads none of the
// dashboard's texts.

export const T = {
  copy: 'Copy',
  copied: 'Copied',
  selected: 'Selected: press Ctrl+C',
  search: {
    label: 'Search the documentation',
    hint: 'Search ( / )',
    none: (asked: string) => `Nothing has the words “${asked}”.`,
    count: (count: number) => (count === 1 ? '1 place' : `${count} places`),
    failed: 'The index of the search could not be loaded.',
  },
  tryIt: {
    title: 'Try it',
    open: 'Try it with your session',
    checking: 'Looking for a session …',
    signedOut: 'This browser is signed out. Requests are sent with the session of the dashboard: ',
    signIn: 'sign in',
    as: (owner: string, key: string) => `Sent as ${owner}, with the key “${key}” of the dashboard’s session.`,
    required: 'required',
    body: 'Body',
    send: 'Send',
    stop: 'Stop',
    sending: 'Sent, waiting for the answer …',
    failed: (why: string) => `No answer: ${why}`,
    answered: (status: number, text: string, ms: number) => `${status} ${text} after ${ms} ms`.replace('  ', ' '),
    empty: '(nothing)',
    cut: '\n… the rest is not shown',
    stopped: '\n… stopped',
    sure: (method: string, address: string) => `${method} ${address}`,
    sureWhy: 'This is sent to this server, and changes what is there. Send it?',
    cancel: 'Cancel',
  },
} as const;
