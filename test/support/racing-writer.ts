/** Another process that works in the sandbox while it is rolled back, and a search for every word it wrote. */
import { constants } from 'node:fs';
import { appendFile, type FileHandle, open, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Harness, Snapshot } from './git-harness.ts';

/** Numbers from 0 up to 1, the same for the same seed. */
export const randomFrom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

export interface Writer {
  /** Every word that is written by now. */
  words: string[];
  /** Ends it after the write it is at. */
  stop(): Promise<void>;
}

/** How it writes: through a file it opens each time, one it holds open, or by putting another file in its place. */
export type Manner = 'append' | 'hold' | 'replace';

/**
 * Writes to these files, in any order, until it is stopped; `pause` milliseconds between two writes. Each file is always
 * written in one manner: what puts another file in its place takes the lines of who holds it open, whoever looks on.
 */
export const startWriter = (
  files: readonly string[],
  random: () => number,
  { manners, pause }: { manners: readonly Manner[]; pause: number },
): Writer => {
  const held = new Map<string, FileHandle>();
  const words: string[] = [];
  const stopping = new AbortController();

  const write = async (file: string, manner: Manner, line: string): Promise<void> => {
    if (manner === 'append') return appendFile(file, line);
    if (manner === 'hold') {
      const handle = held.get(file) ?? (await open(file, constants.O_WRONLY | constants.O_APPEND));
      held.set(file, handle);
      await handle.appendFile(line);
      return;
    }
    const text = await readFile(file, 'utf8');
    await writeFile(`${file}~`, text + line);
    await rename(`${file}~`, file);
  };

  const run = async (): Promise<void> => {
    for (let count = 1; !stopping.signal.aborted; count++) {
      const at = Math.floor(random() * files.length);
      const file = files[at] ?? '';
      const manner = manners[at % manners.length] ?? 'append';
      const word = `${manner}-${basename(file)}-${count}-${Math.floor(random() * 1e9)}`;
      try {
        await write(file, manner, `${word}\n`);
        words.push(word);
      } catch {
        // The file is away for a moment: nothing was written.
      }
      await new Promise((resolve) => setTimeout(resolve, random() * 2 * pause));
    }
    for (const handle of held.values()) await handle.close();
  };
  const running = run();
  return {
    words,
    stop: () => {
      stopping.abort();
      return running;
    },
  };
};

/** What was put aside becomes a capture, as after a rollback; then the sandbox keeps none of it that is not open. */
export const storeLate = async (harness: Harness, undo: Snapshot): Promise<Snapshot> => {
  const late = await harness.captureLate(undo);
  await harness.lateStored(late);
  return late;
};

/** The words that are nowhere: not in the tree, and not in one of these captures. What was put aside does not count. */
export const lostWords = async (
  harness: Harness,
  repository: string,
  words: readonly string[],
  captures: readonly Snapshot[],
): Promise<string[]> => {
  const entries = (await readdir(join(harness.root, repository))).filter((name) => !name.startsWith('.'));
  const tree = entries.map((name) =>
    readFile(join(harness.root, repository, name), 'latin1').catch(() => ''),
  );
  const stored = captures.flatMap(({ repositories }) =>
    repositories.flatMap(({ path, tree: id }) => (path === repository && id !== undefined ? [id] : [])),
  );
  const git = `git --git-dir=.agent-shadow/session-s1 -c safe.directory='*'`;
  // The objects of a late capture are in its bundle alone.
  for (const { report } of captures) {
    for (const { bytes, repositoryPath } of (report.late ?? []).length === 0 ? [] : report.bundles) {
      if (bytes === undefined || repositoryPath !== repository) continue;
      await writeFile(join(harness.top, 'late.bundle'), bytes);
      harness.sh(`${git} bundle unbundle ${harness.top}/late.bundle`, repository);
    }
  }
  const contents = [...new Set(stored)].map((id) =>
    harness.sh(
      `${git} ls-tree -r ${id} | while read -r _ _ blob _; do ${git} cat-file blob $blob; done`,
      repository,
    ),
  );
  const found = new Set([...(await Promise.all(tree)), ...contents].join('\n').split('\n'));
  return words.filter((word) => !found.has(word));
};
