import { type Command, Option } from 'commander';
import type { SagaSummary, SagasAnswer } from '../../contract/saga-lists.ts';
import { SAGA_STATUSES, type SagaStatus } from '../../contract/saga-observation.ts';
import type { App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { parseWholeNumber } from '../options.ts';
import { waitingTable } from '../view/lock-views.ts';
import { sagaTable } from '../view/saga-views.ts';
import { withWhere } from '../where-words.ts';
import { readLocks } from './lock-pages.ts';

const PAGE = 200;
const MOST = 100_000;

interface Options {
  status?: SagaStatus;
  requestedBy?: string;
  limit: number;
}

/** Reads page by page. A saga that changes its status meanwhile comes again at the end. */
const readSagas = async (run: Run, { status, requestedBy, limit }: Options) => {
  const found = new Map<string, SagaSummary>();
  let cursor: string | undefined;
  do {
    const page: SagasAnswer = await run.invoke('walkback-list-sagas', {
      limit: Math.min(PAGE, limit - found.size),
      // What each is about is its title.
      subject: true,
      ...(status === undefined ? {} : { status }),
      ...(requestedBy === undefined ? {} : { requestedBy }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const one of page.sagas) found.set(one.sagaId, one);
    ({ cursor } = page);
  } while (cursor !== undefined && found.size < limit);
  return { sagas: [...found.values()], ...(cursor === undefined ? {} : { cursor }) };
};

/** The command for the next part. */
const moreNote = (command: Command, { status, requestedBy, limit }: Options): string => {
  const more = Math.min(MOST, limit * 10);
  const asked = status === undefined || command.name() === 'queue' ? '' : ` --status ${status}`;
  const whose = requestedBy === undefined ? '' : ` --requested-by '${requestedBy.replaceAll("'", "'\\''")}'`;
  return more === limit
    ? `there are more than ${limit} sagas`
    : `there are more sagas: walkback saga ${command.name()}${asked}${whose} --limit ${more}`;
};

export const addSagaList = (parent: Command, app: App): void => {
  const list = async (run: Run, options: Options, command: Command) => {
    const answer = await run.progress('Listing sagas', () => readSagas(run, options));
    if (answer.cursor !== undefined)
      run.note(run.paint.dim(withWhere(moreNote(command, options), run.options)));
    return answer;
  };

  parent
    .command('list')
    .alias('ls')
    .description('list sagas, those that need a person first')
    .addOption(new Option('--status <status>', 'only of this status').choices(SAGA_STATUSES))
    .option('--requested-by <name>', 'only those that this agent or person started')
    .option('-n, --limit <n>', 'at most this many', parseWholeNumber(1, MOST), 50)
    .action((options: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        const answer = await list(run, options, command);
        return { value: answer, text: () => sagaTable(answer.sagas, run.paint, run.terminal.now()) };
      }),
    );
  parent
    .command('queue')
    .description(
      'list the sagas that wait until their project has room, longest first, and those that wait for a lock',
    )
    .option('-n, --limit <n>', 'at most this many', parseWholeNumber(1, MOST), 50)
    .action((options: { limit: number }, command: Command) =>
      withConnection(app, command, async (run) => {
        const answer = await list(run, { ...options, status: 'QUEUED' }, command);
        // An entry of the merge queue waits for the lock of its project.
        const all = await run.progress('Listing locks', () => readLocks(run));
        const locks = all.filter(({ waiting }) => waiting.length > 0);
        const { paint, terminal } = run;
        return {
          value: { ...answer, ...(locks.length === 0 ? {} : { locks }) },
          text: () =>
            [
              ...(answer.sagas.length > 0 ? [sagaTable(answer.sagas, paint, terminal.now())] : []),
              ...(locks.length > 0 ? [waitingTable(locks, paint)] : []),
            ].join('\n') || 'No saga waits for its turn.\n',
        };
      }),
    );
};
