/** Why a path has no lines that somebody could have written: an error that says what is there instead, or who removed it. */
import type { BlameOrigin } from '../../../contract/blame.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { BlameReport } from '../ports/blame.ts';
import type { Candidate } from './candidates.ts';

/** Larger files take minutes, and a comparison takes them for binary. */
export const MAX_FILE_BYTES = 4 * 1024 ** 2;

type NoLines = Exclude<BlameReport, { kind: 'lines' | 'missing' | 'absent' }>;

const WHAT: Readonly<Record<NoLines['kind'], string>> = {
  directory: 'is a directory: name a file in it',
  link: 'is a symbolic link: name the file that it leads to',
  submodule: 'is a submodule, with a history of its own: name a file of that repository',
  binary: 'is a binary file, which has no lines',
  'too-large': `is too large: at most ${MAX_FILE_BYTES / 1024 ** 2} MiB are looked at`,
};

export const withoutLines = ({ repository, file }: Candidate, report: NoLines): WalkbackError => {
  const { kind } = report;
  const size = kind === 'too-large' ? ` It has ${report.sizeBytes} bytes.` : '';
  return new WalkbackError('NotATextFile', `"${file}" of repository ${repository} ${WHAT[kind]}.${size}`, {
    details: {
      repository,
      path: file,
      what: kind,
      ...(kind === 'too-large' && { sizeBytes: report.sizeBytes }),
    },
  });
};

const removedWords = (by: BlameOrigin): string => {
  switch (by.kind) {
    case 'checkpoint': {
      const who = by.messageId === null ? 'The work of no message' : `Message "${by.messageId}"`;
      const last = by.previousCheckpointId === null ? '' : ` ${by.previousCheckpointId} has it still.`;
      return `${who} removed it: ${by.checkpointId} does not have it any more.${last}`;
    }
    case 'now':
      return 'It was removed since the last checkpoint, which has it still.';
    case 'commit':
      return `Commit ${by.commit} removed it, before the session.`;
    case 'before':
      return `It was gone when the session began, and the last commit of the repository has it.`;
  }
};

/** Errors are logged, so nothing that somebody said is in one. */
const removedIn = (by: BlameOrigin): Record<string, unknown> => {
  switch (by.kind) {
    case 'checkpoint': {
      const { sessionId, checkpointId, messageId } = by;
      return { sessionId, checkpointId, messageId };
    }
    case 'commit':
      return { commit: by.commit };
    case 'now':
    case 'before':
      return {};
  }
};

/** `removedBy` is undefined where no state on the way there has it. */
export const notThere = (
  { repository, file }: Candidate,
  point: string,
  removedBy: BlameOrigin | undefined,
): WalkbackError => {
  const why =
    removedBy === undefined
      ? 'No checkpoint on the way there has it: a rollback may have left it behind (ask with an older point), git may ignore it, or it is too large for checkpoints.'
      : removedWords(removedBy);
  return new WalkbackError(
    'PathNotFound',
    `There is no file "${file}" in repository ${repository} ${point}. ${why}`,
    { details: { repository, path: file, ...(removedBy && { removedBy: removedIn(removedBy) }) } },
  );
};

export const nowhere = (path: string, repositories: readonly string[], point: string): WalkbackError =>
  new WalkbackError(
    'PathNotFound',
    `There is no file "${path}" ${point}, neither below the projects root nor in one of its repositories: ${repositories.slice(0, 20).join(', ') || 'there are none'}.`,
    { details: { path, repositories: repositories.slice(0, 20) } },
  );

export const pastTheEnd = (from: number, total: number): WalkbackError =>
  new WalkbackError('InvalidInput', `lines: ${from} is after the end: the file has ${total} lines.`, {
    details: { fields: ['lines'], totalLines: total },
  });
