// Search for a text as it is written: no character of it is a wildcard.

/**
 * Returns a function that tells whether a text contains `wanted`, whatever the case of its letters. Upper and lower case are
 * compared letter by letter (`i` of a regular expression, without `u`). Comparing `toLowerCase()` of both was rejected: it
 * changes the length of some texts, and the last sigma of a word, so that a text would not contain what it was cut from.
 */
export function containing(wanted: string): (text: string) => boolean {
  const pattern = new RegExp(RegExp.escape(wanted), 'i');
  return (text) => pattern.test(text);
}
