// Dialogs that ask for the name of a step, and whether one is to be removed. They say what refers to it.

import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { whyNoName } from '../../../../src/domain/steps/step-name.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { CheckField } from '../../parts/fields.tsx';
import { type ShownStep, unusedName } from './draft-steps.ts';
import { words } from './english.ts';
import { changeable, type Place, placesOf } from './referring.ts';

interface DialogProps {
  readonly shown: readonly ShownStep[];
  readonly close: () => void;
}

interface NameProps {
  readonly name: string;
  readonly others: readonly ShownStep[];
  readonly set: (name: string) => void;
}

/** Says why a name is refused, as the server does, while it is typed. */
function NameField({ name, others, set }: NameProps) {
  const why = whyNot(name, others);
  return (
    <TextInput
      label={words.name}
      description={words.nameHint}
      error={why !== null && words.nameFault(why)}
      autoComplete="off"
      spellCheck={false}
      autoCapitalize="none"
      value={name}
      onFocus={({ currentTarget }) => currentTarget.select()}
      onChange={({ currentTarget }) => set(currentTarget.value)}
    />
  );
}

function whyNot(name: string, others: readonly ShownStep[]): string | null {
  return whyNoName(name, new Set(others.map((step) => step.name)));
}

/** Asks for the name of a new step: one is proposed. */
export function AddStep({ shown, close, add }: DialogProps & { readonly add: (name: string) => void }) {
  const [name, setName] = useState(() => unusedName(shown));
  return (
    <FormDialog
      title={words.add}
      submit={words.add}
      close={close}
      isReady={whyNot(name, shown) === null}
      run={async () => add(name)}
    >
      <NameField name={name} others={shown} set={setName} />
    </FormDialog>
  );
}

interface RenameProps extends DialogProps {
  readonly step: ShownStep;
  /** `changed`: steps whose code is to name it by its new name. */
  readonly rename: (name: string, changed: readonly ShownStep[]) => void;
}

export function RenameStep({ step, shown, close, rename }: RenameProps) {
  const [name, setName] = useState(step.name);
  const [isChanging, setChanging] = useState(true);
  const others = shown.filter((one) => one !== step);
  const places = placesOf(step, shown);
  const sure = places.filter(({ isSure }) => isSure);
  const byHand = places.filter(({ isSure }) => !isSure);
  // Such values cannot be read, and so not be given to a step of another name.
  if (step.deployed?.configured_props !== undefined) {
    return (
      <FormDialog title={words.renameOf(step.name)} submit={words.rename} isReady={false} close={close} run={nothing}>
        <p>{words.hasProps}</p>
      </FormDialog>
    );
  }
  return (
    <FormDialog
      title={words.renameOf(step.name)}
      submit={words.rename}
      close={close}
      isReady={name !== step.name && whyNot(name, others) === null}
      run={async () => rename(name, isChanging ? changeable(step, shown) : [])}
    >
      <NameField name={name} others={others} set={setName} />
      {step.deployed && <p className="soft">{words.renameText}</p>}
      {sure.length > 0 && (
        <>
          <CheckField label={words.changeThem(sure.length)} value={isChanging} set={setChanging} />
          <Places of={sure} />
        </>
      )}
      {byHand.length > 0 && (
        <>
          <p className="warn">{words.othersRefer}</p>
          <Places of={byHand} />
        </>
      )}
      {places.length === 0 && <p className="soft">{words.noReference}</p>}
      <p className="soft">{words.notFound}</p>
    </FormDialog>
  );
}

async function nothing(): Promise<void> {}

interface RemoveProps extends DialogProps {
  readonly step: ShownStep;
  readonly remove: () => void;
}

export function RemoveStep({ step, shown, close, remove }: RemoveProps) {
  const places = placesOf(step, shown);
  return (
    <FormDialog title={words.removeOf(step.name)} submit={words.remove} isBad close={close} run={async () => remove()}>
      <p>{words.removeText}</p>
      {places.length === 0 ? (
        <p className="soft">{words.noReference}</p>
      ) : (
        <>
          <p className="warn">{words.breaks(step.name, places.length)}</p>
          <Places of={places} />
        </>
      )}
      <p className="soft">{words.notFound}</p>
    </FormDialog>
  );
}

function Places({ of }: { of: readonly Place[] }) {
  return (
    <ul className="places">
      {of.map(({ key, where, text }) => (
        <li key={key}>
          <span>{where}</span>
          <code className="break">{text}</code>
        </li>
      ))}
    </ul>
  );
}
