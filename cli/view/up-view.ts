import { shellWord } from '../options.ts';
import type { Paint } from '../terminal/terminal.ts';
import { padEnd, widest } from '../terminal/text.ts';

interface Facts {
  dataDir: string;
  endpoints: Readonly<Record<string, string>>;
  environment: Readonly<Record<string, string>>;
  /** Functions that are served beside Walkback's own. */
  functions: readonly string[];
}

/** `export` lines for a POSIX shell, sorted by name. */
export const exportLines = (environment: Facts['environment']): string[] =>
  Object.entries(environment)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, value]) => `export ${name}=${shellWord(value)}`);

/** What `walkback up` prints once the cloud answers. */
export const cloudIsUp = (
  { dataDir, endpoints, environment, functions }: Facts,
  paint: Paint,
  howToStop: string,
): string => {
  const width = widest(Object.keys(endpoints));
  const lines = Object.entries(endpoints).map(
    ([name, url]) => `  ${padEnd(name, width)}  ${paint.cyan(url)}`,
  );
  return [
    `${paint.green('✔')} The embedded cloud is up. ${paint.dim(howToStop)}`,
    `  ${paint.dim(dataDir)}`,
    '',
    ...lines,
    ...(functions.length > 0 ? ['', `  functions of yours: ${functions.join(', ')}`] : []),
    '',
    paint.dim('# for your own code (the walkback command finds it by itself)'),
    ...exportLines(environment),
    '',
  ].join('\n');
};
