/** Returns JSON on lines of its own, character by character: large numbers and the order of names stay as they came. */
export function indented(json: string): string {
  let [text, level, isString] = ['', 0, false];
  for (let at = 0; at < json.length; at++) {
    const character = json.charAt(at);
    if (isString) {
      text += character;
      if (character === '\\') text += json.charAt(++at);
      else if (character === '"') isString = false;
    } else if (character === '"') {
      isString = true;
      text += character;
    } else if (character === '{' || character === '[') {
      const close = character === '{' ? '}' : ']';
      const next = /^\s*/.exec(json.slice(at + 1, at + 64))?.[0].length ?? 0;
      if (json.charAt(at + 1 + next) === close) {
        text += character + close;
        at += 1 + next;
      } else text += `${character}\n${'  '.repeat(++level)}`;
    } else if (character === '}' || character === ']') text += `\n${'  '.repeat(--level)}${character}`;
    else if (character === ',') text += `,\n${'  '.repeat(level)}`;
    else if (character === ':') text += ': ';
    else if (!/\s/.test(character)) text += character;
  }
  return text;
}
