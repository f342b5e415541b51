import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ProblemError } from '../../../src/client/client.ts';
import { type ReadRedaction, redactionQuery, setRedaction } from '../api/redaction.ts';
import { T } from '../english.ts';
import { Card, Fact } from '../parts/card.tsx';
import { Command } from '../parts/copy.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { CheckField } from '../parts/fields.tsx';
import { Unready } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { toast } from '../parts/toast.tsx';

const words = T.redaction;
/** The status of what was changed meanwhile. */
const CHANGED = 412;

interface RedactionProps {
  /** Whose rules; null: those of the owner, which hold everywhere. */
  readonly workflowId: string | null;
  readonly canChange: boolean;
}

/** What is hidden wherever people read events, messages and logs. */
export function Redaction({ workflowId, canChange }: RedactionProps) {
  const asked = useQuery(redactionQuery(workflowId));
  const { data: rules } = asked;
  const [isChanging, setChanging] = useState(false);
  return (
    <Card
      title={words.title}
      head={
        canChange &&
        rules && (
          <>
            <span className="grow" />
            <Button
              size="compact-sm"
              variant="default"
              aria-label={words.changeRules}
              onClick={() => setChanging(true)}
            >
              {words.change}
            </Button>
          </>
        )
      }
    >
      {!rules && <Unready of={asked} rows={2} />}
      {rules && (
        <div className="card-body stack-16">
          {workflowId !== null && (
            <p className="soft">
              {words.beside} <Link to="/settings">{T.settings.title}</Link>
            </p>
          )}
          <Rules rules={rules} isOfWorkflow={workflowId !== null} />
        </div>
      )}
      {isChanging && rules && <Change workflowId={workflowId} before={rules} close={() => setChanging(false)} />}
    </Card>
  );
}

function Rules({ rules, isOfWorkflow }: { rules: ReadRedaction; isOfWorkflow: boolean }) {
  const { keys, patterns, before_storing: isBefore } = rules;
  return (
    <dl className="facts">
      <Fact name={words.keysFact}>{keys.length === 0 ? words.none : <Codes all={keys} />}</Fact>
      <Fact name={words.patternsFact}>{patterns.length === 0 ? words.none : <Codes all={patterns} />}</Fact>
      {isOfWorkflow && <Fact name={words.storedFact}>{isBefore ? words.stored : words.notStored}</Fact>}
    </dl>
  );
}

function Codes({ all }: { all: readonly string[] }) {
  return all.map((one) => (
    <div key={one}>
      <code>
        <Foreign>{one}</Foreign>
      </code>
    </div>
  ));
}

interface ChangeProps {
  readonly workflowId: string | null;
  readonly before: ReadRedaction;
  readonly close: () => void;
}

function Change({ workflowId, before: read, close }: ChangeProps) {
  const client = useQueryClient();
  // As they were when the dialog was opened: what was changed since is not overwritten.
  const [before] = useState(read);
  const [keys, setKeys] = useState(before.keys.join('\n'));
  const [patterns, setPatterns] = useState(before.patterns.join('\n'));
  const [isBefore, setBefore] = useState(before.before_storing);
  const save = async (): Promise<void> => {
    const names = linesOf(keys).map((name) => name.trim());
    const rules = { keys: names.filter((name) => name !== ''), patterns: linesOf(patterns), before_storing: isBefore };
    try {
      await setRedaction(workflowId, rules, before.etag);
    } catch (error) {
      if (!(error instanceof ProblemError && error.status === CHANGED)) throw error;
      void client.invalidateQueries({ queryKey: ['redaction'] });
      throw new Error(words.overtaken);
    }
    // What is shown of events may be in the memory of any page.
    void client.invalidateQueries();
    toast(words.saved);
  };
  return (
    <FormDialog title={words.changeRules} submit={T.sources.save} close={close} run={save}>
      <p className="soft">{words.text}</p>
      <LinesField label={words.keys} hint={words.keysHint} value={keys} set={setKeys} />
      <LinesField label={words.patterns} hint={words.patternsHint} value={patterns} set={setPatterns} />
      {workflowId !== null && (
        <CheckField label={words.beforeStoring} hint={words.beforeStoringHint} value={isBefore} set={setBefore} />
      )}
      <div>
        <p className="soft">{words.preview}</p>
        <Command text={words.command(workflowId)} />
      </div>
    </FormDialog>
  );
}

/** A pattern may begin or end with a space. */
function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

interface LinesFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly set: (value: string) => void;
}

function LinesField({ label, hint, value, set }: LinesFieldProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <span className="check-hint">{hint}</span>
      <textarea
        className="editor-text is-short"
        spellCheck={false}
        value={value}
        onChange={({ currentTarget }) => set(currentTarget.value)}
      />
    </label>
  );
}
