import { createPublicKey, type KeyObject } from 'node:crypto';
import type { AnchorsAnswer, StoredAnchor } from '../../contract/ledger-query.ts';
import { type CheckedDay, checkDigests, type DigestFinding } from '../../core/saga/ledger/check-digests.ts';
import type { Run } from '../app.ts';
import { CliError } from '../failure.ts';
import { readNamedFile } from '../named-files.ts';
import { wrongRelease } from './ledger-evidence.ts';

/** The digests of days. Each day is read and checked once. */
export interface Digests {
  of(day: string): Promise<CheckedDay>;
  /** The problems of all digests that were checked. */
  findings(): DigestFinding[];
}

const readAnchors = async (run: Run, day: string): Promise<AnchorsAnswer> => {
  const anchors: StoredAnchor[] = [];
  let cursor: string | undefined;
  let last: AnchorsAnswer;
  do {
    const answer = await run.invoke('walkback-query-ledger', {
      anchorsOf: day,
      ...(cursor === undefined ? {} : { cursor }),
    });
    if (answer.anchors === undefined) throw wrongRelease();
    last = answer.anchors;
    anchors.push(...last.anchors);
    cursor = answer.cursor;
  } while (cursor !== undefined);
  return { ...last, anchors };
};

const publicKeyIn = (pem: string): KeyObject | undefined => {
  try {
    return createPublicKey(pem);
  } catch {
    return undefined;
  }
};

/** A key of another kind cannot have signed anything, and a file without a key says nothing about the ledger. */
const readKey = async (file: string): Promise<string> => {
  const pem = await readNamedFile(file);
  if (publicKeyIn(pem)?.asymmetricKeyDetails?.namedCurve === 'prime256v1') return pem;
  throw new CliError(
    'InvalidInput',
    `${file} holds no public key of a ledger: PEM of a key on the curve P-256.`,
    {
      hint: 'docs/operations.md, "When the ledger does not verify", says how to get it',
    },
  );
};

const behind = ({ day, digests }: CheckedDay): DigestFinding => ({
  digest: day,
  message: `its digests end at ${digests.at(-1)?.digest.until ?? 'its beginning'}; later ones are missing`,
});

/** `keyFiles`: PEM files of the only keys that may have signed. Without any, the key that signs now. */
export const openDigests = async (run: Run, keyFiles: readonly string[]): Promise<Digests> => {
  const pinned = await Promise.all(keyFiles.map(readKey));
  const checked = new Map<string, CheckedDay>();
  let isAsked = false;
  const check = async (day: string): Promise<CheckedDay> => {
    const { publicKey, ...stored } = await readAnchors(run, day);
    return checkDigests(stored, pinned.length > 0 ? pinned : [publicKey], run.terminal.now().getTime());
  };
  /**
   * Where functions run only together with a command, nothing anchored by the clock. An operator may always
   * anchor.
   */
  const anchorNow = async (): Promise<void> => {
    isAsked = true;
    await run.invoke('walkback-anchor-ledger', {}).catch(() => undefined);
  };
  return {
    of: async (day) => {
      const known = checked.get(day);
      if (known !== undefined) return known;
      let seen = await check(day);
      if (seen.isBehind && !isAsked) {
        await anchorNow();
        seen = await check(day);
      }
      checked.set(day, seen);
      return seen;
    },
    findings: () =>
      [...checked.values()]
        .toSorted((a, b) => (a.day < b.day ? -1 : 1))
        .flatMap((day) => [...day.findings, ...(day.isBehind ? [behind(day)] : [])]),
  };
};
