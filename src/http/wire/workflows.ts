// Workflows and their deployments as shown, and their parameters.

import type { Static } from 'typebox';
import type { Urls } from '../../domain/endpoint.ts';
import { LIMITS } from '../../domain/limits.ts';
import { originOf } from '../../domain/origin.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { StepInput, WholeWorkflow, WorkflowInput } from '../../domain/requests.ts';
import type { Deployment, Step, Workflow } from '../../domain/resource.ts';
import { STEP_NAME, whyNameTaken } from '../../domain/steps/step-name.ts';
import { CREATED_AT, id, text, toSeconds, UPDATED_AT } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { RUN_HEALTH } from './log/run-health.ts';
import { SETTINGS, SETTINGS_INPUT, settingsInput, settingsToWire } from './settings.ts';
import { TRIGGER, TRIGGERS_INPUT, triggerInput, triggerToWire } from './triggers.ts';

const CODE = 'export default async ({ steps, $ }) => {\n  return steps.trigger.event.body;\n};\n';

const STEP_PROPS = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'Values of the props of a component, by name. Values of secret props are never shown; left out of an update, they stay.',
  'x-secret': true,
  examples: [{}],
});

const STEP_INPUT = Type.Object(
  {
    namespace: text({
      description: 'The step’s name, unique in the workflow.',
      ...STEP_NAME,
      example: 'charge',
    }),
    code: Type.Optional(
      text({
        description:
          'An ES module in JavaScript or TypeScript; its default export is a component or a function `({steps, $}) => …`. The code of a step that was deployed by `component_path`, sent back as it was returned, stays as it was deployed, with the files around it.',
        minLength: 1,
        maxLength: LIMITS.codeBytes,
        example: CODE,
      }),
    ),
    component_path: Type.Optional(
      text({
        description: 'Instead of code: a file in the server’s folder of components (`ERRAND_COMPONENTS_DIR`).',
        minLength: 1,
        maxLength: LIMITS.urlChars,
        example: 'shop/actions/refund.mjs',
      }),
    ),
    configured_props: Type.Optional(STEP_PROPS),
  },
  { additionalProperties: false },
);

const NAME = text({
  description: 'Name of the workflow.',
  minLength: 1,
  maxLength: LIMITS.nameChars,
  example: 'Orders',
});
const STEPS = Type.Array(STEP_INPUT, {
  description: 'Its steps, in the order in which they run.',
  minItems: 1,
  maxItems: LIMITS.stepsPerWorkflow,
});

export const WORKFLOW_CREATE = {
  name: NAME,
  steps: STEPS,
  triggers: Type.Optional(TRIGGERS_INPUT),
  settings: Type.Optional(SETTINGS_INPUT),
  active: Type.Optional(
    Type.Boolean({ description: 'False: it gets no events yet. True when not given.', examples: [true] }),
  ),
};

export const WORKFLOW_UPDATE = {
  name: Type.Optional(NAME),
  active: Type.Optional(Type.Boolean({ description: 'False: it gets no more events.', examples: [true] })),
  steps: Type.Optional(STEPS),
  triggers: Type.Optional(TRIGGERS_INPUT),
  settings: Type.Optional(SETTINGS_INPUT),
};

const FIELDS = {
  id: id('p_'),
  name: text({ description: 'Name of the workflow.', example: 'Orders' }),
  active: Type.Boolean({ description: 'False: it gets no events.', examples: [true] }),
  owner_id: id('u_'),
  deployment_id: id('d_', 'The active deployment: the version of its code that new events run with.'),
  editor_url: text({
    description: 'Its page in the dashboard.',
    example: 'http://127.0.0.1:4400/@u_0Vj3aBc9dEfGhIjK/orders-p_0Vj3aBc9dEfGhIjK/edit',
  }),
  settings: SETTINGS,
  created_at: CREATED_AT,
  updated_at: UPDATED_AT,
};

/** With `expand=health`, its health, too. */
export const WORKFLOW = Type.Object({ ...FIELDS, health: Type.Optional(RUN_HEALTH) }, { title: 'Workflow' });

const STEP = {
  id: id('c_'),
  namespace: text({ description: 'Name of the step.', example: 'charge' }),
  component_path: Type.Optional(
    text({ description: 'When it was deployed by path.', example: 'shop/actions/refund.mjs' }),
  ),
  configured_props: Type.Optional(STEP_PROPS),
};

export const WORKFLOW_WHOLE = Type.Object(
  {
    ...FIELDS,
    steps: Type.Array(
      Type.Object({
        ...STEP,
        code: Type.Optional(text({ description: 'Its code, when one workflow is read.', example: CODE })),
      }),
      { description: 'Its steps, in the order in which they run.' },
    ),
    triggers: Type.Array(TRIGGER, {
      description: 'Its own triggers; what it hears by subscription is not among them.',
    }),
  },
  { title: 'WorkflowWhole', description: 'The workflow.' },
);

export const WORKFLOW_CHECKED = Type.Object(
  { valid: Type.Boolean({ description: 'True: it could be created.', examples: [true] }) },
  { title: 'WorkflowChecked' },
);

export const DEPLOYMENT = Type.Object(
  {
    id: id('d_'),
    owner_id: id('u_'),
    workflow_id: id('p_'),
    active: Type.Boolean({ description: 'True: new events run with it.', examples: [true] }),
    steps: Type.Array(Type.Object(STEP), { description: 'The steps of this version.' }),
    created_at: CREATED_AT,
  },
  { title: 'Deployment' },
);

type WorkflowParameters = {
  readonly name?: string;
  readonly active?: boolean;
  readonly steps?: readonly Static<typeof STEP_INPUT>[];
  readonly triggers?: Static<typeof TRIGGERS_INPUT>;
  readonly settings?: Static<typeof SETTINGS_INPUT>;
};

export function workflowInput(asked: WorkflowParameters): WorkflowInput {
  const { name, active, steps, triggers, settings } = asked;
  const inputs = steps?.map(stepInput);
  if (inputs) checkSteps(inputs);
  return {
    ...(name === undefined ? {} : { name }),
    ...(active === undefined ? {} : { active }),
    ...(inputs ? { steps: inputs } : {}),
    ...(triggers ? { triggers: triggers.map((trigger, i) => triggerInput(trigger, `triggers[${i}]`)) } : {}),
    ...(settings ? { settings: settingsInput(settings) } : {}),
  };
}

function stepInput(
  { namespace, code, component_path: componentPath, configured_props: configuredProps }: Static<typeof STEP_INPUT>,
  i: number,
): StepInput {
  if ((code === undefined) === (componentPath === undefined)) {
    const parameter = `steps[${i}].code`;
    const message =
      code === undefined
        ? 'is missing: a step is made of code or component_path'
        : 'is one too many beside component_path';
    throw new Refusal('malformed', `${parameter} ${message}`, { errors: [{ parameter, message }] });
  }
  return {
    namespace,
    code: code ?? '',
    ...(componentPath === undefined ? {} : { componentPath }),
    ...(configuredProps === undefined ? {} : { configuredProps }),
  };
}

function checkSteps(steps: readonly StepInput[]): void {
  const seen = new Set<string>();
  steps.forEach(({ namespace, code }, i) => {
    const message = whyNameTaken(namespace, seen);
    if (message !== null) {
      const parameter = `steps[${i}].namespace`;
      throw new Refusal('impossible', `${parameter} ${message}`, { errors: [{ parameter, message }] });
    }
    seen.add(namespace);
    const bytes = Buffer.byteLength(code);
    if (bytes > LIMITS.codeBytes) {
      throw new Refusal('too_large', `steps[${i}].code has ${bytes} bytes, but at most ${LIMITS.codeBytes} are taken`);
    }
  });
}

export function workflowToWire(workflow: Workflow, publicUrl: string): Static<typeof WORKFLOW> {
  return {
    id: workflow.id,
    name: workflow.name,
    active: workflow.active,
    owner_id: workflow.ownerId,
    deployment_id: workflow.deploymentId,
    editor_url: `${publicUrl}/@${workflow.ownerId}/${slugPrefix(workflow.name)}${workflow.id}/edit`,
    settings: settingsToWire(workflow.settings),
    created_at: toSeconds(workflow.createdAtMs),
    updated_at: toSeconds(workflow.updatedAtMs),
  };
}

function slugPrefix(name: string): string {
  const slug = slugOf(name);
  return slug === '' ? '' : `${slug}-`;
}

/** Returns lower-case words joined by hyphens; empty when the name has neither Latin letters nor digits. */
export function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return (words ?? []).join('-').slice(0, 64).replace(/-$/, '');
}

export function workflowWholeToWire(
  whole: WholeWorkflow,
  { publicUrl, endpointUrl }: Pick<Urls, 'publicUrl' | 'endpointUrl'>,
  withCode: boolean,
): Static<typeof WORKFLOW_WHOLE> {
  const steps = whole.deployment.steps.map((step) => ({
    ...stepToWire(step),
    ...(withCode ? { code: step.code } : {}),
  }));
  const triggers = whole.triggers.map((trigger) => triggerToWire(trigger, endpointUrl));
  return { ...workflowToWire(whole.workflow, publicUrl()), steps, triggers };
}

interface ShownStep {
  readonly id: string;
  readonly namespace: string;
  readonly component_path?: string;
  readonly configured_props?: Record<string, unknown>;
}

function stepToWire({ id, namespace, code, props }: Step): ShownStep {
  const origin = originOf(code);
  const step = { id, namespace, ...(origin?.kind === 'component_path' ? { component_path: origin.name } : {}) };
  if (!props) return step;
  const shown = Object.entries(props.configured).filter(([prop]) => !props.secret.includes(prop));
  return { ...step, configured_props: Object.fromEntries(shown) };
}

export function deploymentToWire(deployment: Deployment, activeId: string): Static<typeof DEPLOYMENT> {
  return {
    id: deployment.id,
    owner_id: deployment.ownerId,
    workflow_id: deployment.runnableId,
    active: deployment.id === activeId,
    steps: deployment.steps.map(stepToWire),
    created_at: toSeconds(deployment.createdAtMs),
  };
}
