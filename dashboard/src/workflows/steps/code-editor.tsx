// CodeMirror in a shadow root: there it sets its styles as style sheets of the root, which the content policy allows; in the
// page it would put style elements into the head, which the policy refuses.

import { autocompletion } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript, localCompletionSource } from '@codemirror/lang-javascript';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { Annotation, EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import { completing, type Place } from './completion.ts';
import { words } from './english.ts';

export interface CodeFault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

interface EditorProps {
  readonly label: string;
  /** As it is saved. */
  readonly code: string;
  /** What was typed and is not saved; undefined: nothing. */
  readonly typed: string | undefined;
  /** Another number than before: `typed` is not what was typed here. */
  readonly written: number;
  readonly isReadOnly: boolean;
  readonly faults: readonly CodeFault[];
  /** What this step is given. */
  readonly place: () => Place | Promise<Place>;
  readonly change: (code: string) => void;
  readonly save: () => void;
}

const STYLE = {
  '&': { fontSize: '12.5px', backgroundColor: 'transparent', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': { fontFamily: 'var(--mono)', lineHeight: '1.65', caretColor: 'var(--text)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', minHeight: '52px', maxHeight: '60vh', overflow: 'auto' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--soft)', border: 'none', paddingLeft: '6px' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'var(--hover)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', border: '1px solid var(--line)', color: 'var(--text)' },
} as const;

/** The colours are variables of the page: they change with its theme, and the editor stays as it is. */
const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: tags.comment, color: 'var(--soft)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.className], color: 'var(--code-type)' },
  { tag: [tags.propertyName, tags.definition(tags.variableName)], color: 'var(--accent-text)' },
]);

/** Of a change that no person made. */
const FROM_SAVED = Annotation.define<boolean>();

export function CodeEditor(props: EditorProps) {
  const { label, code, typed, written, isReadOnly, faults } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const current = useRef(props);
  current.current = props;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once; the rest is told to it below
  useEffect(() => {
    const parent = host.current;
    if (!parent) return;
    const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' });
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: typed ?? code,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          lintGutter(),
          autocompletion({ override: [completing(() => current.current.place()), localCompletionSource] }),
          javascript({ typescript: true }),
          syntaxHighlighting(HIGHLIGHT),
          EditorView.theme(STYLE),
          // It scrolls its code: what scrolls must be reached by keyboard, which `contenteditable` alone does not say.
          EditorView.contentAttributes.of(() => ({
            'aria-label': current.current.label,
            ...(isReadOnly ? {} : { 'aria-description': words.leave }),
            tabindex: '0',
          })),
          EditorState.readOnly.of(isReadOnly),
          keymap.of([
            {
              key: 'Mod-s',
              run: ({ state }) => {
                const { code: saved, typed: known = linesOf(saved), change } = current.current;
                const now = state.doc.toString();
                // The page may not know the last letters yet, and would save without them.
                if (now !== known) flushSync(() => change(now));
                current.current.save();
                return true;
              },
            },
            ...defaultKeymap,
            ...historyKeymap,
            indentWithTab,
          ]),
          EditorView.updateListener.of((update) => {
            const isOwn = update.transactions.some((one) => one.docChanged && !one.annotation(FROM_SAVED));
            if (isOwn) current.current.change(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => {
      view.current = null;
      made.destroy();
    };
  }, []);

  // What is saved replaces the text when nothing is typed: after "discard", or when another version is active. The text that was
  // typed is the editor's own, and never put back into it: the page gets each letter a moment later, when there may be more.
  const isTyped = typed !== undefined;
  useLayoutEffect(() => {
    const made = view.current;
    if (made && !isTyped) replace(made, code);
  }, [code, isTyped]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it was changed elsewhere, as by renaming a step
  useLayoutEffect(() => {
    const made = view.current;
    if (made && typed !== undefined) replace(made, typed);
  }, [written]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor asks for its label when it is told anything
  useEffect(() => view.current?.dispatch({}), [label]);

  useEffect(() => {
    const made = view.current;
    if (made)
      made.dispatch(
        setDiagnostics(
          made.state,
          faults.map((fault) => diagnosticOf(made.state, fault)),
        ),
      );
  }, [faults]);

  return <div ref={host} className="code-editor" />;
}

/** Returns code with its lines separated as the editor does it. */
function linesOf(code: string): string {
  return code.replace(/\r\n?/g, '\n');
}

/** Replaces what differs alone, so that the cursor stays in its line. */
function replace(view: EditorView, saved: string): void {
  const before = view.state.doc.toString();
  const code = linesOf(saved);
  if (before === code) return;
  const least = Math.min(before.length, code.length);
  let start = 0;
  while (start < least && before[start] === code[start]) start++;
  let end = 0;
  while (end < least - start && before[before.length - 1 - end] === code[code.length - 1 - end]) end++;
  view.dispatch({
    changes: { from: start, to: before.length - end, insert: code.slice(start, code.length - end) },
    annotations: FROM_SAVED.of(true),
  });
}

function diagnosticOf({ doc }: EditorState, { line, column, message }: CodeFault): Diagnostic {
  const at = doc.line(Math.min(Math.max(1, line), doc.lines));
  const from = Math.min(at.from + Math.max(0, column - 1), at.to);
  return { from, to: Math.max(from, at.to), severity: 'error', message };
}
