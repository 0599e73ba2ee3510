/** How a command carries out a rewind of a saga or a session, and how it ends. */
import type { RewindAnswer } from '../contract/rewind.ts';
import type { Run } from './app.ts';
import { CliError } from './failure.ts';

/** One call of the function waits this long. A longer wait is a series of calls. */
const WAIT_SECONDS = 20;

type Status = RewindAnswer['status'];

/** A repeated request answers how far the rewind is. */
export const untilRewound = async <Told extends { status: Status }>(
  { terminal }: Run,
  seconds: number,
  ask: (waitSeconds: number) => Promise<Told>,
): Promise<Told> => {
  const end = terminal.now().getTime() + seconds * 1000;
  for (;;) {
    const leftSeconds = Math.max(0, (end - terminal.now().getTime()) / 1000);
    const answer = await ask(Math.min(WAIT_SECONDS, leftSeconds));
    if (answer.status !== 'UNDOING' || leftSeconds === 0) return answer;
  }
};

/** A program must not take an unfinished rewind for done. */
export const rewindFailure = (
  status: Status,
  { repair, again }: { repair: string; again: string },
): CliError | undefined => {
  switch (status) {
    case 'PLANNED':
    case 'REWOUND':
      return undefined;
    case 'STOPPED':
      return new CliError(
        'CompensationFailed',
        'The rewind stopped, because an effect could not be taken back.',
        {
          hint: repair,
        },
      );
    case 'UNDOING':
      return new CliError('RewindUnfinished', 'The rewind goes on; the time to wait for it is over.', {
        hint: again,
      });
    case 'CANCELLED':
      return new CliError('Cancelled', 'The rewind was given up by a cancel, and everything is undone.');
  }
};
