/** Whether a program may be built from a package, by the package's licence. Pure. */

const ALLOWED = new Set([
  'MIT',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'Unicode-3.0',
  'Unlicense',
  'Zlib',
  '0BSD',
]);

/** One of the alternatives of an SPDX expression must be allowed, with all of its parts. */
export const isAllowedLicence = (expression: string | null): boolean =>
  alternatives(expression ?? '').some(
    (parts) => parts.length > 0 && parts.every((part) => ALLOWED.has(part)),
  );

/** `(A OR B) AND C` as `[[A, C], [B, C]]`. A slash is the old way to write OR. */
const alternatives = (expression: string): string[][] => {
  const words = expression.replaceAll('/', ' OR ').match(/\(|\)|[^\s()]+/g) ?? [];
  let at = 0;
  const one = (): string[][] => {
    const word = words[at++] ?? '';
    if (word !== '(') return [[word]];
    const inner = either();
    at += 1;
    return inner;
  };
  const all = (): string[][] => {
    let found = one();
    for (;;) {
      // An exception only allows more.
      if (words[at] === 'WITH') at += 2;
      else if (words[at] === 'AND') {
        at += 1;
        const more = one();
        found = found.flatMap((left) => more.map((right) => [...left, ...right]));
      } else return found;
    }
  };
  const either = (): string[][] => {
    const found = all();
    while (words[at] === 'OR') {
      at += 1;
      found.push(...all());
    }
    return found;
  };
  return either();
};
