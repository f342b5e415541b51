/**
 * Returns an answer without the text beside each time, for tests that list all other members: that each text is there, and
 * says the same as its number, test/http/interface/times.test.ts tells of every answer.
 */
export function withoutIso<T>(answer: T): T {
  if (Array.isArray(answer)) return answer.map(withoutIso) as T;
  if (typeof answer !== 'object' || answer === null) return answer;
  const members = Object.entries(answer).filter(([name]) => !name.endsWith('_iso'));
  return Object.fromEntries(members.map(([name, value]) => [name, withoutIso(value)])) as T;
}
