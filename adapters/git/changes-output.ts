/** Reads what the capture command says about its records of changes (sandbox/capture/changes.sh). Pure. */
import type { HostChange } from '../../contract/change-answers.ts';
import { MIB } from '../../contract/sizes.ts';
import { hostChange } from './host-change.ts';
import { all, type Pair, records, value } from './output.ts';

/** Most bytes of records as the sandbox sends them: of one repository, and of all together. */
export const CHANGES_LIMITS = { each: MIB, all: 4 * MIB } as const;

/** What is announced about a record, beside its file. */
export interface AnnouncedChanges {
  path: string;
  host?: HostChange;
  isCut: boolean;
  /** Git's own summary of all files, when the list is cut. */
  totals?: string;
  problem?: string;
  /** Absent when no file differs, or the record could not be made. */
  file?: RecordFile;
}

export interface RecordFile {
  sizeBytes: number;
  carry: 'inline' | 'file';
  isPacked: boolean;
}

const filed = (record: readonly Pair[]): RecordFile => ({
  sizeBytes: Number(value(record, 'size')),
  carry: value(record, 'carry') === 'file' ? 'file' : 'inline',
  isPacked: value(record, 'form') === 'gzip',
});

/** A reason is one line that we wrote. A longer text is not ours. */
const MAX_PROBLEM = 300;

const announcedOf = (
  record: readonly Pair[],
  announced: readonly Pair[] | undefined,
  isLost: boolean,
): AnnouncedChanges => {
  const host = hostChange(record);
  const totals = value(record, 'changes-totals');
  const said = all(record, 'changes-problem').map((text) => text.slice(0, MAX_PROBLEM));
  const problems = isLost ? [...said, 'the sandbox could not hand it over'] : said;
  return {
    path: value(record, 'repo') ?? '.',
    ...(host && { host }),
    isCut: value(record, 'changes-cut') === '1' || (announced && value(announced, 'cut')) === '1',
    ...(totals !== undefined && { totals }),
    ...(problems.length > 0 && { problem: problems.slice(0, 3).join('; ') }),
    ...(announced && { file: filed(announced) }),
  };
};

/** One for each repository that changed, in the order in which their bytes come: those with a file first. */
export const announcedChanges = (
  pairs: readonly Pair[],
  repositories: readonly (readonly Pair[])[],
): AnnouncedChanges[] => {
  const isLost = pairs.some(([key]) => key === 'changes-lost');
  const files = new Map<string, readonly Pair[]>();
  for (const record of records(pairs, 'changes')) {
    const name = value(record, 'changes') ?? '';
    if (!files.has(name)) files.set(name, record);
  }
  const order = [...files.keys()];
  const patchPosition = (name: string): number => (files.has(name) ? order.indexOf(name) : order.length);
  return repositories
    .map((record, index) => ({ record, name: `${index}.changes` }))
    .filter(({ record }) => value(record, 'state') === 'captured' && value(record, 'changed') === '1')
    .toSorted((a, b) => patchPosition(a.name) - patchPosition(b.name))
    .map(({ record, name }) => announcedOf(record, files.get(name), isLost));
};
