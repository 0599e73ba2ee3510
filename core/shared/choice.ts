/**
 * Reads an environment variable that has only a few possible values. Any other value is refused by name. If
 * it were taken for the default, it could silently mean the opposite of what somebody wanted. Undefined: the
 * variable is not set, or is empty.
 */
export const choiceOf = <Value extends string>(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  values: readonly Value[],
  refuse: (message: string) => Error,
): Value | undefined => {
  const text = env[name] ?? '';
  if (text === '') return undefined;
  const value = values.find((one) => one === text);
  if (value === undefined)
    throw refuse(`${name} is ${JSON.stringify(text)}: set it to ${values.join(' or ')}, or unset it.`);
  return value;
};
