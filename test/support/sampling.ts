/** Matrices and random runs: a sample in `npm test`, all of it, or most, in `npm run test:long`. */

/** Set by `npm run test:long`. */
export const WHOLE = process.env['WALKBACK_WHOLE'] === '1';

/** Set by `npm test`; a file that is run by its name is never out of turn. */
const TAKES_TURNS = process.env['WALKBACK_TURNS'] === '1' && !WHOLE;

/**
 * Files with matrices whose first case costs nearly what a sample costs. Of each row `npm test` runs one, chosen by the seed;
 * `npm run test:long` runs the whole of each. What always runs for the same invariants is named beside the row.
 */
const TURNS = [
  // Calls of a function that fail, and services and processes that end under an operation: checkpoint-convergence.test.ts and merge-convergence.test.ts have every call, faults-checkpoint.test.ts a real cloud.
  [
    'faults-rollback',
    'faults-rehydrate',
    'faults-merge',
    'faults-outage',
    'saga-outage',
    'rollback-given-up',
    'faults-sandbox-kill',
    'faults-process-kill',
    'faults-workspace-kill',
    'saga-throttled-services',
  ],
  // Commands in the sandbox that fail, and restores that end or are overtaken in the middle: git-restore-faults.test.ts and git-concurrent-writers.test.ts.
  [
    'git-faults-capture',
    'git-late-faults',
    'git-killed',
    'git-merge-killed',
    'git-low-memory',
    'git-settle',
    'git-placing',
    'git-filling',
    'git-verify',
    'git-disk-captures',
    'git-disk-late',
    'git-disk-merges',
  ],
  // Odd repositories: git-cases.test.ts, git-random-session.test.ts.
  ['git-size', 'git-paths-cases', 'git-host-plan', 'git-intent', 'git-locks'],
  // Disks that are full, objects that are torn, and what was lost or left out: git-restore-faults.test.ts has every command that fails, full disks among them; git-cases.test.ts and git-hostile.test.ts.
  [
    'git-packed',
    'git-torn-shadow',
    'git-directories',
    'git-lost-git',
    'git-damage',
    'git-lost-history',
    'git-lost-objects',
    'git-left-out',
    'git-permissions',
    'git-pipes',
  ],
  // Captures on a torn shadow, repositories that are parked, and restores that are killed: the program's own tests, git-cases.test.ts.
  [
    'git-torn-captures',
    'git-mapped',
    'git-parking',
    'git-made-again',
    'git-fresh',
    'git-killed-program',
    'git-disk-restores',
  ],
  // Rules and settings, odd places and names: git-cases.test.ts, git-hostile.test.ts.
  [
    'git-ignored-roots',
    'git-worktree-settings',
    'git-conversion',
    'git-warnings',
    'git-links',
    'git-tenants',
    'git-another-place',
    'git-mounts',
  ],
  // Of the same, what takes longest.
  [
    'git-no-room',
    'git-many-at-once',
    'git-ignored-worktrees',
    'git-torn-objects',
    'git-targets',
    'git-odd-names',
    'git-stash',
    'git-killed-instants',
  ],
  // Sizes that an answer or an item may have: saga-notice-size.test.ts.
  ['saga-observation-size', 'session-rewind-size', 'saga-lock-pages', 'saga-packed-state', 'decided-epoch'],
  // Kinds of files, checkouts and clones: git-cases.test.ts and git-random-session.test.ts.
  [
    'git-line-ends',
    'git-symrefs',
    'git-sparse',
    'git-shallow',
    'git-partial',
    'git-changed-kind',
    'git-ignored-since',
    'git-unseen',
    'git-late',
  ],
  // Hosts of agents, people at a machine, and stories of a README: claude-code-hooks.test.ts, cli-up.test.ts and client-session.test.ts.
  ['clean', 'stash', 'client-examples', 'console-deployed', 'git-progress'],
  // What writes meanwhile, laws of merges and reverts, some paths, checks in copies, and who wrote a line (blame-history.test.ts and blame-report.test.ts): git-concurrent-writers.test.ts, git-merge.test.ts and git-merge-cases.test.ts, merge.test.ts.
  [
    'git-stat-table',
    'git-merge-laws',
    'rollback-paths',
    'properties-reverts',
    'commitments',
    'git-blame',
    'git-blame-files',
    'git-blame-origins',
  ],
  // Much at once, and what goes, comes back or is refused: checkpoint-concurrency.test.ts and client-session.test.ts; of people, people-api.test.ts.
  [
    'rollback-concurrency',
    'properties-session',
    'request-counts',
    'rollback-late',
    'client-content',
    'no-repositories',
    'checkpoint-gone',
    'checkpoint-retention',
    'rehydrate-at-once',
    'rollback-refused',
  ],
  // The command at length, and sagas: cli-up.test.ts, cli-daemon.test.ts; saga-cloud.test.ts, ledger-tampering.test.ts, saga-children.test.ts of the unit tests.
  ['own-stopped', 'saga-limits-standing', 'ledger-anchors'],
  // Functions of an embedder in threads of the cloud: own-functions.test.ts and cloud-functions.test.ts.
  ['own-edits', 'own-faults'],
  // Deaths at each call, on stores in memory: checkpoint-convergence.test.ts, merge-convergence.test.ts, refund-saga-matrix.test.ts and interactive-matrix.test.ts.
  ['workspace-tools-convergence', 'saga-tree-matrix'],
  // Whole stories, each of which takes longer than the rest of a row: client-session.test.ts, claude-code-hooks.test.ts, cli-up.test.ts, merge.test.ts, saga-cloud.test.ts and checkpoint-concurrency.test.ts; of bisect, bisect-search.test.ts and bisect-faults.test.ts of the unit tests; of lists, those of cursors; granted-calls.ts holds every scenario to what its functions may do.
  [
    'bisect',
    'changesets-example',
    'grants',
    'claude-code-commands',
    'cli-alone',
    'cli-session',
    'rewind',
    'changes-agree',
    'capture-progress',
    'cli-own-functions',
    'client-directories',
    'checkpoint-large',
    'cli-demo',
    'merge-queue',
    'cursors',
    'people-rollback',
    'own-threads',
    'cli-own-sources',
    'rehydrate-copies',
    'saga-children',
    'saga-limits',
    'checkpoint-round-trips',
    'workspace-tools',
  ],
] as const;
export type TakesTurns = (typeof TURNS)[number][number];

/** Spreads a seed, so that the turns of two rows, and the samples of a file that has its turn, do not depend on each other. By Fibonacci hashing (Knuth, The Art of Computer Programming, 6.4). */
const spread = (seed: number, row: number): number => Math.imul(seed + row + 1, 0x9e37_79b1) >>> 16;

/** A file that is in no row is always played. */
export const isItsTurn = (file: string): boolean => {
  const at = TURNS.findIndex((row: readonly string[]) => row.includes(file));
  const row = TURNS[at];
  return !TAKES_TURNS || row === undefined || row[spread(chosenSeed(), at) % row.length] === file;
};

interface Sample {
  /** In `npm test`: every nth case. */
  every: number;
  /** In `npm run test:long`: every nth case, where all of them would take too long. Default: all of them. */
  whole?: number;
  /** Which one to begin with: a seed, so that many runs see every case. */
  offset?: number;
  /** Fewer is an error: a matrix that runs nothing shows nothing. */
  minimum?: number;
}

export const sampled = <T>(
  cases: readonly T[],
  { every, whole = 1, offset = 0, minimum = 1 }: Sample,
): T[] => {
  const step = WHOLE ? whole : every;
  const chosen = cases.filter((_, index) => index % step === offset % step);
  if (chosen.length < minimum)
    throw new Error(
      `Only ${chosen.length} of ${cases.length} cases were chosen; at least ${minimum} must run.`,
    );
  return chosen;
};

/** The seed of a random run: SEED, which is drawn for each run when nobody asked for one (vitest.config.ts). Print it, so that the run can be done again. */
export const chosenSeed = (): number => Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** The same, printed at once. */
export const printedSeed = (name: string): number => {
  const seed = chosenSeed();
  process.stdout.write(`${name}: SEED=${seed}\n`);
  return seed;
};

/** Instants spread over something that takes so long, shifted by a seed. */
export const instants = (ms: number, count: number, seed: number): number[] =>
  Array.from({ length: count }, (_, index) => (ms * (index + ((seed * 0.618_034) % 1))) / count);
