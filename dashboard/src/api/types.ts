// Types that the client of the interface has no name for.

import type { ErrorEvent, ErrorGroup, WorkflowWhole } from '../../../src/client/client.ts';

export type GroupState = ErrorGroup['state'];

export type Fault = ErrorEvent['error'];

/** As it is listed, or whole: a listing has neither steps nor triggers. */
export type Workflow = Omit<WorkflowWhole, 'steps' | 'triggers'> & {
  readonly steps?: readonly WorkflowStep[];
  readonly triggers?: WorkflowWhole['triggers'];
};

export type WorkflowStep = WorkflowWhole['steps'][number];
