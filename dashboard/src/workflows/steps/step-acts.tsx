import { Button } from '@mantine/core';
import { words } from './english.ts';

export interface StepActs {
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly move: (by: -1 | 1) => void;
  readonly rename: () => void;
  readonly remove: () => void;
}

interface MoveButtonProps {
  readonly to: 'up' | 'down';
  readonly name: string;
  readonly disabled: boolean;
  readonly onClick: () => void;
}

function MoveButton({ to, name, ...button }: MoveButtonProps) {
  const label = words[to](name);
  return (
    <Button size="compact-xs" variant="default" data-focus={to} aria-label={label} title={label} {...button}>
      {to === 'up' ? '↑' : '↓'}
    </Button>
  );
}

export function StepButtons({
  name,
  acts: { isFirst, isLast, move, rename, remove },
}: {
  name: string;
  acts: StepActs;
}) {
  const isOnly = isFirst && isLast;
  return (
    <div className="buttons step-acts">
      {!isOnly && (
        <>
          <MoveButton to="up" name={name} disabled={isFirst} onClick={() => move(-1)} />
          <MoveButton to="down" name={name} disabled={isLast} onClick={() => move(1)} />
        </>
      )}
      <Button size="compact-xs" variant="default" aria-label={words.renameOf(name)} onClick={rename}>
        {words.rename}
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={words.removeOf(name)}
        title={isOnly ? words.onlyOne : undefined}
        disabled={isOnly}
        onClick={remove}
      >
        {words.remove}
      </Button>
    </div>
  );
}
