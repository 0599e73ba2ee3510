/** Text without half characters (lone surrogates), which UTF-8 cannot carry and DynamoDB cannot keep. Pure. */

const isRecord = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Whether all texts of it are whole, also the names of members. It may be nested as deeply as it likes. */
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

/** JSON with U+FFFD for each half character, as a program reads bytes that are no UTF-8. The same value when there is none. */
export const wellFormed = (value: unknown): unknown => (isWellFormed(value) ? value : mended(value));
