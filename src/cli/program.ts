// The whole command line. What a command needs of the server's own modules is loaded when it runs: `errand --help` and the
// commands that only talk to a server start without them.

import { Command } from 'commander';
import { VERSION } from '../domain/version.ts';
import { addAccounts } from './accounts/accounts.ts';
import type { AdministrationDeps } from './administration.ts';
import { addAudit } from './audit.ts';
import { addChannels } from './commands/channels.ts';
import { addCompletion } from './commands/completion.ts';
import { addDataStores } from './commands/data-stores.ts';
import { addDeliveries, addMail } from './commands/deliveries.ts';
import { addDoctor, type MailChecks, type TryDatabase } from './commands/doctor.ts';
import { addErrors } from './commands/errors/errors.ts';
import { addEvents } from './commands/events.ts';
import { addHeartbeats } from './commands/heartbeats.ts';
import { addInit } from './commands/init.ts';
import { addLogin } from './commands/login.ts';
import { addMcp } from './commands/mcp.ts';
import { addOperations } from './commands/operations.ts';
import { addPrivacy, type Redact } from './commands/privacy.ts';
import { addRuns } from './commands/runs.ts';
import { addSources } from './commands/sources.ts';
import { addStart } from './commands/start.ts';
import { addSubscriptions } from './commands/subscriptions.ts';
import { addTest } from './commands/test-fixtures.ts';
import { addTrigger } from './commands/trigger.ts';
import { addVariables } from './commands/variables.ts';
import { addWebhooks } from './commands/webhooks.ts';
import { addWorkflows } from './commands/workflows.ts';
import { addComponents, type ComponentsDeps } from './components.ts';
import { addConfig } from './config.ts';
import { addDeploy, type DeployDeps } from './deploy.ts';
import { addDev } from './dev/dev.ts';
import { addExplainUrl, type ExplainDeps } from './explain-url.ts';
import { addImport } from './import/import.ts';
import { addKeys } from './keys.ts';
import { addListen } from './listen/listen.ts';
import { addOwners } from './owners.ts';
import { groupCommands } from './shell/help-groups.ts';
import { addMoreExamples } from './shell/more-examples.ts';
import { createConnect, type FindLocal, type Target, type WhyHidden } from './shell/remote.ts';
import { withSuggestion } from './shell/suggest.ts';
import { addStore, type StoreDeps } from './store.ts';

export interface ProgramDeps extends AdministrationDeps {
  readonly print: (value: unknown) => void;
  /** Resolves when more can be written. */
  readonly write: (text: string) => Promise<void>;
  readonly env: NodeJS.ProcessEnv;
  readonly start: () => Promise<void>;
  readonly findLocal: FindLocal;
  readonly whyHidden: WhyHidden;
  /** Called with each server before it is asked. */
  readonly onTarget?: (target: Target) => void;
  readonly store: StoreDeps['commands'];
  readonly checking: ComponentsDeps['checking'];
  readonly deploying: DeployDeps;
  readonly explain: ExplainDeps;
  readonly redact: Redact;
  /** Of who calls: the files of a project are made with it. */
  readonly usersUmask: number;
  readonly mails: MailChecks;
  readonly tryDatabase: TryDatabase;
}

export function createProgram(deps: ProgramDeps): Command {
  const program = new Command('errand');
  program
    .description('Self-hosted workflows that catch every error and tell a person about it')
    .version(VERSION)
    // Its exit code says what was wrong: see shell/exit.ts.
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(withSuggestion(text, program)) })
    // Beside the longest names of options, 80 columns leave less than the 40 below which nothing would be wrapped.
    .configureHelp({ minWidthToWrap: 20 })
    .showHelpAfterError('(--help tells what there is)');
  const connect = createConnect(deps);
  addStart(program, deps.env, deps.start);
  addDev(program, { env: deps.env, connect, list: (dir) => deps.deploying.list(dir) });
  addErrors(program, connect);
  addRuns(program, connect);
  addEvents(program, connect);
  addWorkflows(program, connect);
  addVariables(program, connect);
  addSources(program, connect);
  addWebhooks(program, connect);
  addSubscriptions(program, connect);
  addDeliveries(program, connect);
  addOperations(program, connect);
  addChannels(program, connect);
  addHeartbeats(program, connect);
  addAccounts(program, connect);
  addDataStores(program, connect);
  addMail(program, connect);
  addPrivacy(program, connect, deps.redact);
  addTrigger(program, connect);
  addListen(program, connect);
  addLogin(program, connect);
  addOwners(program, deps);
  addKeys(program, deps);
  addAudit(program, deps);
  addStore(program, { commands: deps.store });
  addDeploy(program, deps.deploying);
  addImport(program, connect);
  addComponents(program, deps);
  addConfig(program, connect, deps.env);
  addExplainUrl(program, connect, deps.explain);
  addCompletion(program, connect);
  addDoctor(program, { env: deps.env, connect, mails: deps.mails, tryDatabase: deps.tryDatabase });
  addInit(program, deps.usersUmask);
  addTest(program);
  addMcp(program, { connect, bundle: (file) => deps.deploying.bundle(file) });
  addMoreExamples(program);
  groupCommands(program);
  return program;
}
