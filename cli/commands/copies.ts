import type { Command } from 'commander';
import type { DeleteCopyAnswer, ListedCopy } from '../../contract/checkpoint-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import type { Answer, App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { someFailure } from '../ending.ts';
import { CliError } from '../failure.ts';
import { directoryOf } from '../fresh-sandbox.ts';
import { parseId } from '../options.ts';
import { requireAnswerable } from '../rolling-back.ts';
import { confirm } from '../terminal/confirm.ts';
import { helpText } from '../terminal/help-text.ts';
import { copiesTable, deletedCopies } from '../view/copy-views.ts';

/** A copy with its directory on this machine. */
export interface PlacedCopy extends ListedCopy {
  directory?: string;
}

interface DeleteOptions {
  all?: boolean;
  session?: string;
  yes?: boolean;
  dryRun?: boolean;
}

const EXAMPLES = `
Examples:
  walkback copies                       every copy: its age, what it shows, where it is
  walkback copies delete wb3f...        asks first
  walkback copies delete --all --yes

Work in a copy that its checkpoint does not hold is lost with it, and is named first.
A copy ends by itself (ENDS). A copy that a session works in (after rehydrate --mode resume, a fork, or
session start in it) is not listed, and is never deleted.`;

const findCopies = (run: Run, sessionId: string | undefined): Promise<PlacedCopy[]> =>
  run.progress('Looking for copies', async () => {
    const { copies } = await run.invoke('walkback-list-copies', sessionId === undefined ? {} : { sessionId });
    const placed = copies.map(async (copy): Promise<PlacedCopy> => {
      if (copy.projectsRoot === null) return copy;
      // The copy may end between the two requests.
      const directory = await directoryOf(run, copy.sandboxId, copy.projectsRoot).catch(() => undefined);
      return { ...copy, ...(directory === undefined ? {} : { directory }) };
    });
    return Promise.all(placed);
  });

export type CopyWork = NonNullable<DeleteCopyAnswer['work']>;
export type LookedAt = PlacedCopy & { work?: CopyWork };

/** What would be lost with each. One that is gone, or that cannot be deleted, has no work to name: the deletion says so. */
const lookAt = (run: Run, chosen: readonly PlacedCopy[]): Promise<LookedAt[]> =>
  run.progress(`Looking at ${plural(chosen.length, 'copy', 'copies')}`, async () => {
    const looked: LookedAt[] = [];
    for (const copy of chosen) {
      const answer = await run
        .invoke('walkback-delete-copy', { sandboxId: copy.sandboxId, dryRun: true })
        .catch(() => undefined);
      looked.push({ ...copy, ...(answer?.work === undefined ? {} : { work: answer.work }) });
    }
    return looked;
  });

/** Deletes several copies. One that cannot be deleted does not stop the others: each gets its own answer. */
const deleteEach = async (run: Run, chosen: readonly LookedAt[]): Promise<Answer> => {
  const deleted: LookedAt[] = [];
  const failed: { sandboxId: string; error: string; message: string }[] = [];
  await run.progress(`Deleting ${plural(chosen.length, 'copy', 'copies')}`, async () => {
    for (const copy of chosen) {
      const { sandboxId } = copy;
      try {
        await run.invoke('walkback-delete-copy', { sandboxId });
        deleted.push(copy);
      } catch (error) {
        if (chosen.length === 1 || !(error instanceof Error)) throw error;
        failed.push({ sandboxId, error: error.name, message: error.message });
      }
    }
  });
  return {
    value: { deleted, failed },
    text: () => deletedCopies(deleted, failed, run.paint),
    failure: someFailure(
      'not deleted',
      failed.map(({ error, message }) => ({ name: error, message })),
    ),
  };
};

/**
 * The copies that were named. The function reports a copy that no longer exists, like every other problem
 * with it.
 */
const choose = async (
  run: Run,
  ids: readonly string[],
  { all, session }: DeleteOptions,
): Promise<PlacedCopy[]> => {
  if ((all === true) === ids.length > 0) {
    throw new CliError('InvalidInput', 'Name copies, or pass --all: not both, and not neither.', {
      hint: 'walkback copies lists them',
    });
  }
  const found = await findCopies(run, session);
  if (all === true) return found.filter(({ state }) => state === 'idle');
  return ids.map((id) => {
    const copy = found.find(({ sandboxId }) => sandboxId === id);
    if (copy !== undefined) return copy;
    throw new CliError('SandboxNotFound', `${id} is no review copy that runs. Nothing was deleted.`, {
      hint: 'walkback copies lists them; one that a session works in is none',
    });
  });
};

const addList = (copies: Command, app: App): void => {
  copies
    .command('list', { isDefault: true })
    .alias('ls')
    .description('list the copies, oldest first')
    .option('-s, --session <id>', 'only copies of this session', parseId)
    .action(({ session }: { session?: string }, command: Command) =>
      withConnection(app, command, async (run) => {
        const found = await findCopies(run, session);
        return {
          value: { copies: found },
          text: () => copiesTable(found, { paint: run.paint, now: run.terminal.now() }),
        };
      }),
    );
};

const addDelete = (copies: Command, app: App): void => {
  copies
    .command('delete')
    .description('delete copies. Shows them first, and asks.')
    .argument('[sandbox...]', 'sandbox ids, as the list shows them')
    .option('--all', 'every copy but those that are being built or rolled back')
    .option('-s, --session <id>', 'with --all: only copies of this session', parseId)
    .option('--dry-run', 'say what would be deleted, and delete nothing')
    .option('-y, --yes', 'do not ask')
    .action((ids: string[], options: DeleteOptions, command: Command) =>
      withConnection(app, command, async (run) => {
        requireAnswerable(run, options);
        const found = await choose(run, ids, options);
        const chosen = found.length === 0 ? [] : await lookAt(run, found);
        const list = () => copiesTable(chosen, { paint: run.paint, now: run.terminal.now() });
        if (options.dryRun === true || chosen.length === 0) {
          const value = { copies: chosen, deleted: [], failed: [] };
          return { value, text: () => (chosen.length === 0 ? 'No copies to delete.\n' : list()) };
        }
        if (options.yes !== true) {
          run.note(list());
          const what = chosen.length === 1 ? 'this copy' : `these ${chosen.length} copies`;
          if (!(await confirm(run.terminal, `Delete ${what}?`))) {
            throw new CliError('NotConfirmed', 'Nothing was deleted.');
          }
        }
        return deleteEach(run, chosen);
      }),
    );
};

export const defineCopies = (copies: Command, app: App): void => {
  copies
    .description('Review copies that are still there: list and delete them.')
    .addHelpText('after', helpText(EXAMPLES));
  addList(copies, app);
  addDelete(copies, app);
};
