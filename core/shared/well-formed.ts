/** Text without half characters (lone surrogates), which UTF-8 cannot carry and DynamoDB cannot keep. Pure. */

const isRecord = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * Whether all texts in a value are well-formed, including the names of members. The value may be nested to
 * any depth.
 */
export const isWellFormed = (value: unknown): boolean => {
  const open = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one === 'string' && !one.isWellFormed()) return false;
    if (Array.isArray(one)) for (const item of one) open.push(item);
    else if (isRecord(one)) for (const entry of Object.entries(one)) open.push(...entry);
  }
  return true;
};

const mended = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(mended);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.toWellFormed(), mended(member)]),
  );
};

/**
 * Replaces each half character by U+FFFD, as a program does that reads bytes that are not UTF-8. Answers the
 * same value when there is none.
 */
export const wellFormed = (value: unknown): unknown => (isWellFormed(value) ? value : mended(value));
