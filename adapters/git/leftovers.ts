/** Lists what Walkback keeps below a projects root, and removes what no session needs (`sandbox/check/clean.sh`). */
import { randomBytes } from 'node:crypto';
import type { Leftover, Repositories } from '../../core/checkpoint/ports/repositories.ts';
import type { ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { cutShort, type Pair, records, requireOutput, value } from './output.ts';
import { assignments, plainScript } from './script.ts';

/** Minutes after which a call is over. As for the commands in the sandbox (`sandbox/shared/run.sh`). */
const OLD_MINUTES = 15;
/** The projects root itself, and one for the name of the folder. */
const MORE_LEVELS = 2;

const FATES: Record<string, Leftover['fate']> = { remove: 'remove', needed: 'needed', keep: 'keep' };

const leftoverOf = (record: readonly Pair[]): Leftover => {
  const path = value(record, 'path');
  const fate = FATES[value(record, 'fate') ?? ''];
  const [files, kib] = [Number(value(record, 'files')), Number(value(record, 'kib'))];
  if (path === undefined || fate === undefined || !Number.isSafeInteger(files) || !Number.isSafeInteger(kib))
    throw cutShort();
  const isLeft = value(record, 'left') !== undefined;
  return {
    path,
    sessionId: value(record, 'session') || null,
    fate: isLeft ? 'keep' : fate,
    files,
    bytes: kib * 1024,
  };
};

/** As `Repositories` has it, for whatever runs commands. */
export const leftovers = async (
  sandbox: Pick<ExecutionAdapter, 'run'>,
  { projectsRoot, maxDepth, ended, remove, timeoutMs }: Parameters<Repositories['leftovers']>[1],
): Promise<Leftover[]> => {
  const mark = `walkback-${randomBytes(9).toString('hex')}`;
  const values = {
    WB_MARK: mark,
    WB_DEPTH: maxDepth + MORE_LEVELS,
    WB_ENDED: [...ended],
    WB_REMOVE: remove ? '1' : '',
    WB_OLD: OLD_MINUTES,
  };
  const command = `${assignments(values)}\n${plainScript('check/clean')}`;
  const { pairs } = requireOutput(await sandbox.run(command, { cwd: projectsRoot, timeoutMs }), mark);
  if (value(pairs, 'busy') !== undefined) {
    throw new WalkbackError(
      'SandboxUnavailable',
      'Another Walkback command holds the lock of this projects root. Call again.',
      { retryable: true },
    );
  }
  return records(pairs, 'path').map(leftoverOf);
};
