// Texts of the steps of a workflow. They come with its page: the texts of `english.ts` come with the first one.

import type { StepChange } from '../../../../src/domain/steps/step-changes.ts';

export const words = {
  code: 'Code',
  save: 'Deploy',
  saved: 'Deployed.',
  unsaved: 'Not deployed yet',
  discard: 'Discard',
  overtaken: 'Another version was deployed since you began to change it. Yours would replace it.',
  overtakenBy: 'What it changed',
  saveOver: 'Deploy over it',
  codeOf: (name: string) => `Code of the step ${name}`,
  leave: 'Tab indents. To leave the editor, press Escape and then Tab.',
  component: 'This step is a component in the server’s folder:',
  readOnly: 'The key of this session may not change it.',
  ofFile: (path: string) =>
    `This workflow comes from the file ${path}. Change it there: what is deployed here would be replaced by the file.`,
  atLine: (line: number, message: string) => `Line ${line}: ${message}`,
  isNew: 'new',
  wasNamed: (name: string) => `was ${name}`,
  add: 'Add step',
  addAfter: (name: string) => `Add a step after ${name}`,
  added: (name: string, n: number, of: number) => `The step ${name} is added: step ${n} of ${of}.`,
  most: (n: number) => `A workflow has at most ${n} steps.`,
  name: 'Name',
  nameHint: 'Later steps read its result as steps.<name>.$return_value.',
  nameFault: (why: string) => `The name ${why}`,
  up: (name: string) => `Move ${name} up`,
  down: (name: string) => `Move ${name} down`,
  moved: (name: string, n: number, of: number) => `${name} is step ${n} of ${of} now.`,
  rename: 'Rename',
  renameOf: (name: string) => `Rename the step ${name}`,
  renamed: (was: string, name: string) => `The step ${was} is called ${name} now.`,
  renameText:
    'Errors of the step form new groups under its new name. What it keeps in a database of its own ($.service.db) stays with the old one.',
  hasProps:
    'This step has a configuration, with values that are never shown. It is kept by the name of the step, which therefore stays as it is.',
  breaks: (name: string, n: number) =>
    n === 1
      ? `One place refers to steps.${name}, and finds nothing there when the step is gone:`
      : `${n} places refer to steps.${name}, and find nothing there when the step is gone:`,
  othersRefer: 'These have to be changed by hand:',
  changeThem: (n: number) => (n === 1 ? 'Change this place, too' : `Change these ${n} places, too`),
  notFound: 'Only places that name the step are found, not those that go through a variable.',
  place: (step: string, line: number) => `${step}, line ${line}`,
  placeInProps: (step: string) => `${step}, its configuration`,
  remove: 'Remove',
  removeOf: (name: string) => `Remove the step ${name}`,
  removeText: 'It is gone when you deploy. Until then, “Discard” brings it back.',
  removed: (name: string) => `The step ${name} is removed.`,
  noReference: 'No other step refers to it.',
  onlyOne: 'A workflow has at least one step.',
  gone: (name: string) => `It refers to steps.${name}, and no step has this name.`,
  later: (name: string) => `It refers to steps.${name}, which runs after it.`,
  review: 'Review',
  reviewTitle: 'What deploying changes',
  changes: {
    added: (name) => `${name} is added.`,
    removed: (name) => `${name} is removed.`,
    renamed: (name, was) => `${was} is called ${name}.`,
    moved: (name) => `${name} is moved.`,
  } satisfies Record<StepChange['change'], (name: string, was: string | null) => string>,
  changesLabel: 'Steps',
} as const;
