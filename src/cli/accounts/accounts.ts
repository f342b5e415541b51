// errand accounts list | show | connect | renew | delete

import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { Account } from '../../client/client.ts';
import { askSecret } from '../shell/ask.ts';
import { withExamples } from '../shell/examples.ts';
import { findId } from '../shell/find.ts';
import { addActing, addDeleting, addListing, type Fields, type Limited } from '../shell/listing.ts';
import { printFields, printJson } from '../shell/output.ts';
import { type Connect, type ServerOptions, serverCommand } from '../shell/remote.ts';
import { timeText } from '../shell/text.ts';
import { choiceOption, countValue, serverValue } from '../shell/values.ts';

const MS = 1000;
const tokenOf = ({ oauth }: Account): string | null => {
  if (oauth === null) return null;
  if (oauth.failure !== null) return 'not renewed';
  return oauth.expires_at === null ? 'renewed when used' : `until ${timeText(oauth.expires_at * MS)}`;
};

const fields = (account: Account): Fields => ({
  account: account.id,
  name: account.name,
  app: account.app,
  fields: account.field_names.join(', '),
  token: tokenOf(account),
  'not renewed': account.oauth?.failure ?? null,
  'token server': account.oauth?.token_url ?? null,
  changed: timeText(account.updated_at * MS),
});

export function addAccounts(program: Command, connect: Connect): void {
  const accounts = program
    .command('accounts')
    .description('manage accounts: what code calls other services with; their tokens and keys are never shown');
  addListing<Account, Limited & { readonly app?: string }>(accounts, connect, {
    description: 'list accounts, newest first',
    none: 'no accounts',
    columns: [
      { title: 'ID', of: ({ id }) => id },
      { title: 'APP', of: ({ app }) => app },
      { title: 'TOKEN', of: tokenOf, style: (text) => (text === 'not renewed' ? 'red' : null) },
      { title: 'NAME', of: ({ name }) => name },
    ],
    list: (errand, { app }) => errand.listAccounts({ app }),
  }).option('--app <app>', 'only accounts of this app, such as slack');
  addActing(accounts, connect, {
    ...{ kind: 'account', name: 'show', description: 'show an account, without what is secret', fields },
    act: async (errand, id) => (await errand.getAccount({ id })).data,
  });
  addConnect(accounts, connect);
  addActing(accounts, connect, {
    ...{ kind: 'account', name: 'renew', description: 'get a new token for an account now', fields },
    act: async (errand, id) => (await errand.renewAccount({ id })).data,
  });
  addDeleting(accounts, connect, {
    ...{ kind: 'account', description: 'delete an account; code that uses it fails from then on', fields },
    act: async (errand, id) => (await errand.deleteAccount({ id })).data,
  });
}

interface ConnectOptions extends ServerOptions {
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientAuth: 'body' | 'basic';
  readonly scope?: string;
  readonly param: readonly (readonly [string, string])[];
  readonly port: number;
  readonly name?: string;
  readonly account?: string;
}

function addConnect(accounts: Command, connect: Connect): void {
  const command = serverCommand(
    accounts,
    'connect <app>',
    'sign in at a service in your browser (OAuth 2), and keep its tokens in an account that the server renews',
  )
    .requiredOption('--authorize-url <url>', 'where the service asks whether it may give access', serverValue)
    .requiredOption('--token-url <url>', 'the token server of the service', serverValue)
    .requiredOption(
      '--client-id <text>',
      'your own client at the service; its secret is asked for, or read from standard input',
    )
    .addOption(
      choiceOption('--client-auth <how>', 'how the client’s id and secret are sent', ['body', 'basic']).default('body'),
    )
    .option('--scope <scopes>', 'what access is asked for, with blanks between')
    .option('--param <pair>', 'a further parameter of the authorize URL; may be repeated', paramValue, [])
    .option(
      '--port <port>',
      'the port in the registered http://127.0.0.1:<port>/callback; default: any',
      countValue(0, 65_535),
      0,
    )
    .option('--name <name>', 'name of the account; default: that of the app')
    .option('--account <id>', 'connect this account again, instead of making a new one');
  withExamples(
    command,
    'errand accounts connect google_sheets --authorize-url https://accounts.google.com/o/oauth2/v2/auth --token-url https://oauth2.googleapis.com/token --client-id 1234.apps.googleusercontent.com --scope https://www.googleapis.com/auth/spreadsheets --param access_type=offline --param prompt=consent',
  );
  command.action(async (app: string, options: ConnectOptions) => {
    const { errand, out, isJson } = await connect(options);
    const { authorizeUrl, tokenUrl, clientId, clientAuth, scope = null, param, port, name } = options;
    const id = options.account === undefined ? null : await findId(errand, 'account', options.account);
    const clientSecret = (await askSecret('Client secret (none: only Enter): ')) || null;
    const asked = { authorizeUrl, tokenUrl, clientId, clientSecret, clientAuth, scope, more: param, port };
    const { signIn } = await import('./sign-in.ts');
    const { accessToken, refreshToken } = await signIn(asked, (url) => {
      out.note(`Open this address in your browser, and allow the access:\n\n${url}\n`);
    });
    const oauth = {
      ...{ token_url: tokenUrl, client_id: clientId, client_secret: clientSecret, client_auth: clientAuth },
      refresh_token: refreshToken,
    };
    const kept = { fields: { oauth_access_token: accessToken }, oauth: refreshToken === null ? null : oauth };
    const { data } = await (id === null
      ? errand.createAccount({ app, ...(name === undefined ? {} : { name }), ...kept })
      : errand.updateAccount({ id, ...(name === undefined ? {} : { name }), ...kept }));
    if (isJson) await printJson(out, data);
    else await printFields(out, fields(data));
    if (refreshToken === null)
      out.note(
        'The service gave no refresh token: this one is not renewed. Some services give one for a scope or parameter.',
      );
  });
}

function paramValue(text: string, before: readonly (readonly [string, string])[]): (readonly [string, string])[] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It is like access_type=offline.');
  return [...before, [text.slice(0, at), text.slice(at + 1)]];
}
