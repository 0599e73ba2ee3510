/**
 * A variable of the environment that has few values. Any other value is refused by name: taken for the default, it would
 * silently be the opposite of what somebody wanted. Undefined: it is not set, or empty.
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
