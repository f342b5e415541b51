import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Differences } from '../../../src/client/client.ts';
import { differencesQuery } from '../api/errors.ts';
import { T } from '../english.ts';
import { Card } from '../parts/card.tsx';
import { CodeDiff } from '../parts/code-diff.tsx';
import { Unready } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';

const words = T.differences;

/** What separates the errors of a group from the runs that succeeded. */
export function WhatDiffers({ groupId, emitterId }: { groupId: string; emitterId: string }) {
  const asked = useQuery(differencesQuery(groupId));
  const { data } = asked;
  return (
    <Card
      title={words.title}
      head={
        data && (
          <span className="soft">{words.lookedAt(data.looked_at.failures.count, data.looked_at.successes.count)}</span>
        )
      }
    >
      {!data && <Unready of={asked} />}
      {data && <Found differences={data} groupId={groupId} emitterId={emitterId} />}
    </Card>
  );
}

interface FoundProps {
  readonly differences: Differences;
  readonly groupId: string;
  readonly emitterId: string;
}

function Found({ differences, groupId, emitterId }: FoundProps) {
  const { fields, looked_at: lookedAt, code, shape } = differences;
  const isNothing = fields.length === 0 && !code?.length && !shape?.length;
  return (
    <>
      {isNothing && (
        <p className="card-body soft">{lookedAt.successes.count === 0 ? words.noSuccess : words.nothing}</p>
      )}
      {fields.length > 0 && (
        <ul className="rows">
          {fields.map((field) => (
            <li key={`${field.path} ${field.type} ${field.value}`}>
              <div className="grow break">
                <Sentence text={field.text} />
              </div>
              <Share
                failures={field.failures / Math.max(1, lookedAt.failures.count)}
                successes={field.successes / Math.max(1, lookedAt.successes.count)}
              />
            </li>
          ))}
        </ul>
      )}
      <Runs differences={differences} groupId={groupId} emitterId={emitterId} />
      {shape && shape.length > 0 && <Shape shape={shape} />}
      {code?.map(({ namespace, lines }) => (
        <div key={namespace} className="card-body">
          <h3 className="mono">{words.step(namespace)}</h3>
          {lines === null ? (
            <p className="soft">{words.tooMany}</p>
          ) : (
            <CodeDiff label={words.step(namespace)} lines={lines} />
          )}
        </div>
      ))}
    </>
  );
}

/** The field's name stands between backquotes. */
function Sentence({ text }: { text: string }) {
  const [, name, rest] = /^`([^`]*)`(.*)$/s.exec(text) ?? [];
  if (name === undefined) return <Foreign>{text}</Foreign>;
  return (
    <>
      <code>
        <Foreign>{name}</Foreign>
      </code>
      <Foreign>{rest}</Foreign>
    </>
  );
}

/** In how many of the failures, and of the successes: the text says it, too. */
function Share({ failures, successes }: { failures: number; successes: number }) {
  return (
    <span className="share only-wide" aria-hidden="true">
      <i>
        <i className="bad" style={{ width: `${failures * 100}%` }} />
      </i>
      <i>
        <i className="good" style={{ width: `${successes * 100}%` }} />
      </i>
    </span>
  );
}

function Runs({ differences, groupId, emitterId }: FoundProps) {
  const { last_good: good, first_bad: bad } = differences;
  if (good === null && bad === null) return null;
  const isSame = good?.deployment_id === bad?.deployment_id;
  return (
    <div className="pair-of-runs">
      <dl className="pair">
        <div>
          <dt>
            <i className="dot good" /> {words.lastGood}
          </dt>
          <dd>
            {good === null ? (
              <span className="soft">{words.noneBefore}</span>
            ) : (
              <Link to="/runs/$runId" params={{ runId: good.run_id }} aria-label={`${words.lastGood}: ${words.itsRun}`}>
                {words.itsRun}
              </Link>
            )}
            {good?.deployment_id && <code className="soft cut">{good.deployment_id}</code>}
          </dd>
        </div>
        <div>
          <dt>
            <i className="dot bad" /> {words.firstBad}
          </dt>
          <dd>
            {bad === null ? (
              <span className="soft">{words.notKept}</span>
            ) : (
              <span>
                <Link to="/errors/$groupId/$errorId" params={{ groupId, errorId: bad.error_id }}>
                  {words.itsError}
                </Link>
                {bad.run_id && (
                  <>
                    {' · '}
                    <Link
                      to="/runs/$runId"
                      params={{ runId: bad.run_id }}
                      aria-label={`${words.firstBad}: ${words.itsRun}`}
                    >
                      {words.itsRun}
                    </Link>
                  </>
                )}
              </span>
            )}
            {bad?.deployment_id && <code className="soft cut">{bad.deployment_id}</code>}
          </dd>
        </div>
      </dl>
      {good && bad && (
        <p className="soft">
          {isSame ? words.sameCode : words.otherCode}{' '}
          {!isSame && emitterId.startsWith('p_') && (
            <Link to="/workflows/$workflowId" params={{ workflowId: emitterId }}>
              {words.versions}
            </Link>
          )}
        </p>
      )}
    </div>
  );
}

function Shape({ shape }: { shape: NonNullable<Differences['shape']> }) {
  const said = (types: readonly string[]): string => (types.length === 0 ? words.missing : types.join(', '));
  return (
    <div className="card-body">
      <h3>{words.shape}</h3>
      <ul className="plain">
        {shape.map(({ path, before, after }) => (
          <li key={path} className="break">
            <code>
              <Foreign>{path}</Foreign>
            </code>
            : {said(before)} → <strong>{said(after)}</strong>
          </li>
        ))}
      </ul>
    </div>
  );
}
