/** Rewrites what the program answered, as whoever is root in a sandbox can. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { type Answer, readAnswer } from '../../adapters/git/program/answer.ts';
import { SANDBOX_REPORTS } from '../../contract/sandbox/reports.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import type { Lie } from './git-stage.ts';

type Captured = Answer<z.infer<typeof SANDBOX_REPORTS.capture>>;
type Restored = z.infer<typeof SANDBOX_REPORTS.restore>;

const framed = (kind: string, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${kind} ${bytes.length}\n`), bytes]);

const encodeAnswer = ({ report, frames }: Answer<unknown>): Buffer => {
  const before = Buffer.concat([
    framed('report', Buffer.from(JSON.stringify(report))),
    ...frames.map(({ kind, bytes }) => framed(kind, bytes)),
  ]);
  return Buffer.concat([
    before,
    framed('end', Buffer.from(createHash('sha256').update(before).digest('hex'))),
  ]);
};

/** Changes the first answer in an output. */
const rewritten =
  (change: (base64: string) => Buffer): Lie =>
  (stdout) => {
    const lines = stdout.split('\n');
    const start = lines.findIndex((line) => line.startsWith('walkback-'));
    const end = lines.indexOf(lines[start] ?? '', start + 1);
    const base64 = lines.slice(start + 1, end).join('');
    const begin = Buffer.from(base64.slice(0, 12), 'base64').toString('latin1');
    if (start < 0 || end < 0 || !begin.startsWith('report ')) return stdout;
    return lines.toSpliced(start + 1, end - start - 1, change(base64).toString('base64')).join('\n');
  };

/** Of a capture. */
export const rewritingCapture = (change: (answer: Captured) => Captured): Lie =>
  rewritten((base64) => encodeAnswer(change(readAnswer(SANDBOX_REPORTS.capture, base64))));

/** Of a restore. Other answers stay as they are. */
export const rewritingRestore = (change: (report: Restored) => Restored): Lie =>
  rewritten((base64) => {
    const { data } = SANDBOX_REPORTS.restore.safeParse(readAnswer(z.unknown(), base64).report);
    return data === undefined
      ? Buffer.from(base64, 'base64')
      : encodeAnswer({ report: change(data), frames: [] });
  });

/** A capture of one repository whose link stands on a commit that the sandbox need not have. */
export const standingOn = (base: string, commit: string): Lie =>
  rewritingCapture(({ report, frames }) => {
    const [own] = report.repositories;
    const [link, ...others] = frames;
    if (own?.capture === undefined || link?.kind !== 'bundle') throw new Error('there is no link to rewrite');
    const text = Buffer.from(link.bytes).toString('latin1');
    const bytes = Buffer.from(text.replace('# v2 git bundle\n', `# v2 git bundle\n-${commit}\n`), 'latin1');
    return {
      report: {
        ...report,
        repositories: [{ ...own, capture: { ...own.capture, chain: 'rebase', base, baseCommit: commit } }],
        bundles: report.bundles.map((one) => ({ ...one, sizeBytes: bytes.length, sha256: sha256Hex(bytes) })),
      },
      frames: [{ kind: 'bundle', bytes }, ...others],
    };
  });
