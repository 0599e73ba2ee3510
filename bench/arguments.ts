/** Arguments of the benchmarks that are programs of their own. */

/** Ends the program with what is wrong and how it is called. */
export const refuse = (message: string, usage: string): never => {
  console.error(`${message}\n${usage}`);
  process.exit(2);
};

export const wholeNumber = (text: string, usage: string): number => {
  const number = Number(text);
  return Number.isInteger(number) && number > 0
    ? number
    : refuse(`${text} is no whole number above 0`, usage);
};

/** What `read` answers; what it does not understand is refused. */
export const readArguments = <Read>(read: () => Read, usage: string): Read => {
  try {
    return read();
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error), usage);
  }
};
