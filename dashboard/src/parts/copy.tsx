import { Button, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { T } from '../english.ts';
import { Icon } from './icon.tsx';
import { toastError } from './toast.tsx';

const SHOWN_MS = 1500;

interface CopyButtonProps {
  /** What is copied, or what makes it. */
  readonly text: string | (() => string);
  readonly label?: string;
  readonly hint?: string;
  /** What it copies, where there are several without a label. */
  readonly of?: string;
}

export function CopyButton({ text, label, hint, of }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      setCopied(true);
      setTimeout(() => setCopied(false), SHOWN_MS);
    } catch (error) {
      toastError(error);
    }
  };
  const said = isCopied ? T.error.copied : (label ?? T.error.copy);
  const icon = <Icon name={isCopied ? 'check' : 'copy'} size={15} />;
  return (
    <Tooltip label={hint ?? said} disabled={hint === undefined && label !== undefined}>
      <Button
        size="compact-sm"
        variant="default"
        onClick={copy}
        leftSection={label && icon}
        aria-label={of && !isCopied ? `${said}: ${of}` : said}
      >
        {label ? said : icon}
      </Button>
    </Tooltip>
  );
}

export function Command({ text }: { text: string }) {
  return (
    <div className="command">
      <code>{text}</code>
      <CopyButton text={text} />
    </div>
  );
}
