import { Modal } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { T } from '../english.ts';
import { useFocusBack } from '../parts/focus.ts';
import { Icon } from '../parts/icon.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { useFound } from './found.ts';

const LIST = 'palette-list';

/** Goes to anything, by typing a part of its name. */
export function Palette({ close }: { close: () => void }) {
  const router = useRouter();
  const list = useRef<HTMLDivElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const found = useFound(text);
  const here = Math.min(at, found.length - 1);
  const go = (href: string): void => {
    close();
    router.history.push(href);
  };
  useFocusBack();
  const hear = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = found[here];
    if (by !== undefined) setAt((here + by + found.length) % Math.max(1, found.length));
    else if (event.key === 'Enter' && chosen) go(chosen.href);
    else return;
    event.preventDefault();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chosen one is brought into view
  useEffect(() => {
    // It returns a promise in some browsers, which is no function to clean up with.
    void list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [here]);
  return (
    <Modal
      opened
      onClose={close}
      withCloseButton={false}
      padding={0}
      size="lg"
      title={T.palette.title}
      yOffset="12vh"
      classNames={{ header: 'hidden-visually', body: 'palette' }}
    >
      <input
        className="palette-field"
        role="combobox"
        aria-expanded="true"
        aria-controls={LIST}
        aria-activedescendant={here >= 0 ? `palette-${here}` : undefined}
        aria-label={T.palette.title}
        placeholder={T.palette.search}
        data-autofocus
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={hear}
      />
      <div ref={list} id={LIST} role="listbox" aria-label={T.palette.title} className="palette-list">
        {found.map(({ key, text: said, kind, icon, href }, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
          <div
            key={key}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === here}
            onClick={() => go(href)}
            onMouseMove={() => setAt(index)}
          >
            <Icon name={icon} size={16} />
            <Foreign className="grow cut">{said}</Foreign>
            <span className="soft nowrap">{kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="card-body soft">{T.palette.none}</p>}
    </Modal>
  );
}
