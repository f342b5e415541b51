// Where the code of a step refers to other steps: `steps.price`, `steps["price"]`, `const { price } = steps`. The parser of the
// editor finds them: a text or a comment that looks like one is none.

import { typescriptLanguage } from '@codemirror/lang-javascript';

type SyntaxNode = ReturnType<typeof typescriptLanguage.parser.parse>['topNode'];

export interface Reference {
  /** Of the step that is referred to. */
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** It is also the name of a variable, which stays: `{ price }` becomes `{ cost: price }`. */
  readonly isVariable: boolean;
  /** From 1. */
  readonly line: number;
  /** The line as it is written, without spaces around it. */
  readonly text: string;
  /** Another name can be put there. Otherwise the code has errors, or what is called `steps` may be something else. */
  readonly isSure: boolean;
}

const MAX_KNOWN = 128;
const known = new Map<string, readonly Reference[]>();

/** Returns the places in the order in which they stand. The last ones are kept: the same code is looked at again and again. */
export function referencesIn(code: string): readonly Reference[] {
  const before = known.get(code);
  if (before) return before;
  if (known.size === MAX_KNOWN) known.clear();
  const found = find(code);
  known.set(code, found);
  return found;
}

/** Returns the code with another name at each place where that is sure. */
export function withOtherName(code: string, name: string, other: string): string {
  const places = referencesIn(code).filter((one) => one.isSure && one.name === name);
  return places.reduceRight(
    (text, { from, to, isVariable }) =>
      `${text.slice(0, from)}${other}${isVariable ? `: ${name}` : ''}${text.slice(to)}`,
    code,
  );
}

interface Found extends Pick<Reference, 'name' | 'from' | 'to' | 'isVariable'> {
  readonly isSteps: boolean;
}

function find(code: string): Reference[] {
  const found: Found[] = [];
  let isSure = true;
  typescriptLanguage.parser.parse(code).iterate({
    enter: ({ node, type }) => {
      if (type.isError || isOther(node, code)) isSure = false;
      if (type.name === 'MemberExpression') found.push(...memberOf(node, code));
      if (type.name === 'ObjectPattern') found.push(...namesOf(node, code));
    },
  });
  return found
    .sort((a, b) => a.from - b.from)
    .map(({ isSteps, ...one }) => {
      const start = code.lastIndexOf('\n', one.from - 1) + 1;
      const end = code.indexOf('\n', one.from);
      const text = code.slice(start, end < 0 ? undefined : end).trim();
      return { ...one, line: code.slice(0, one.from).split('\n').length, text, isSure: isSure && isSteps };
    });
}

/** Returns whether something else is called `steps` here: not what a step is given, which it takes out of an object. */
function isOther(node: SyntaxNode, code: string): boolean {
  const parent = node.parent?.name;
  const isNamed = node.name === 'VariableDefinition' && textOf(node, code) === 'steps';
  return isNamed && parent !== 'PatternProperty';
}

function textOf({ from, to }: SyntaxNode, code: string): string {
  return code.slice(from, to);
}

/** Returns whether it is `steps` (true), a member of that name (false), or neither (null). */
function stepsIn(node: SyntaxNode | null, code: string): boolean | null {
  switch (node?.name) {
    case 'VariableName':
      return textOf(node, code) === 'steps' ? true : null;
    case 'ParenthesizedExpression':
      return stepsIn(node.firstChild?.nextSibling ?? null, code);
    case 'PostfixExpression':
    case 'BinaryExpression':
      return stepsIn(node.firstChild, code);
    case 'MemberExpression':
      return node.lastChild?.name === 'PropertyName' && textOf(node.lastChild, code) === 'steps' ? false : null;
    default:
      return null;
  }
}

function memberOf(node: SyntaxNode, code: string): Found[] {
  const isSteps = stepsIn(node.firstChild, code);
  if (isSteps === null) return [];
  const property = node.getChild('PropertyName') ?? node.getChild('String');
  return property === null ? [] : [{ ...nameAt(property, code), isVariable: false, isSteps }];
}

/** Returns a name, without the quotes around it. */
function nameAt(node: SyntaxNode, code: string): Pick<Found, 'name' | 'from' | 'to'> {
  const quotes = node.name === 'String' ? 1 : 0;
  const [from, to] = [node.from + quotes, node.to - quotes];
  return { name: code.slice(from, to), from, to };
}

/** Returns the names that are taken out of `steps`. */
function namesOf(pattern: SyntaxNode, code: string): Found[] {
  const isSteps = patternOfSteps(pattern, code);
  if (isSteps === null) return [];
  return pattern.getChildren('PatternProperty').flatMap(({ firstChild }): Found[] => {
    if (firstChild === null || !['PropertyName', 'VariableDefinition', 'String'].includes(firstChild.name)) return [];
    return [{ ...nameAt(firstChild, code), isVariable: firstChild.name === 'VariableDefinition', isSteps }];
  });
}

function patternOfSteps({ parent, nextSibling }: SyntaxNode, code: string): boolean | null {
  if (parent?.name === 'PatternProperty') {
    const { firstChild } = parent;
    const isNamed = firstChild?.name === 'PropertyName' && textOf(firstChild, code) === 'steps';
    // Of a parameter, it is what the step is given; of anything else, it may be something else.
    return isNamed ? parent.parent?.parent?.name === 'ParamList' : null;
  }
  if (parent?.name !== 'VariableDeclaration' && parent?.name !== 'AssignmentExpression') return null;
  return stepsIn(nextSibling?.nextSibling ?? null, code);
}
