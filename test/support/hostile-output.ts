/** Rewrites what a command answered, as whoever is root in a sandbox can: pairs of keys and values, then the bytes of bundles. */
import { parseOutput } from '../../adapters/git/output.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import type { Lie } from './git-stage.ts';

type Pairs = (readonly [string, string])[];
type Answer = { pairs: Pairs; rest: Uint8Array };

const encode = ({ pairs, rest }: Answer): string =>
  Buffer.concat([Buffer.from(pairs.map(([key, value]) => `${key}\0${value}\0`).join('')), rest]).toString(
    'base64',
  );

export const rewriting =
  (change: (answer: Answer) => Answer): Lie =>
  (stdout) => {
    const lines = stdout.split('\n');
    const start = lines.findIndex((line) => line.startsWith('walkback-'));
    const base64 = lines[start + 1];
    if (start < 0 || base64 === undefined) throw new Error('there is no answer to rewrite');
    const { pairs, rest } = parseOutput(Buffer.from(base64, 'base64'));
    return lines.with(start + 1, encode(change({ pairs: [...pairs], rest }))).join('\n');
  };

/** These keys get these values, and are put behind `changed` where they were not said. */
const withValues = (pairs: Pairs, values: Record<string, string>): Pairs => {
  const said = pairs.map(([key, value]) => [key, values[key] ?? value] as const);
  const missing = Object.entries(values).filter(([key]) => !pairs.some(([one]) => one === key));
  return said.flatMap((pair) => (pair[0] === 'changed' ? [pair, ...missing] : [pair]));
};

/** A capture of one repository whose link stands on a commit that the sandbox need not have. */
export const standingOn = (base: string, commit: string): Lie =>
  rewriting(({ pairs, rest }) => {
    // What the checkpoint says of its files may follow.
    const sizeBytes = Number(pairs.find(([key]) => key === 'size')?.[1]);
    const link = Buffer.from(rest.subarray(0, sizeBytes))
      .toString('latin1')
      .replace('# v2 git bundle\n', `# v2 git bundle\n-${commit}\n`);
    const bytes = Buffer.from(link, 'latin1');
    const bundle = { size: String(bytes.length), sha256: sha256Hex(bytes) };
    return {
      pairs: withValues(pairs, { chain: 'rebase', base, 'base-commit': commit, ...bundle }),
      rest: Buffer.concat([bytes, rest.subarray(sizeBytes)]),
    };
  });
