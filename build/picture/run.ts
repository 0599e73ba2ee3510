/**
 * The run that the picture of the README shows: an agent changes two repositories and takes a payment, and a
 * person rewinds the session. On an embedded cloud and in a directory of its own; both are gone afterwards.
 */
import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { sagaTools, Walkback } from '../../client/index.ts';
import { serveTools } from '../../client/serve-tools.ts';
import { defineTool } from '../../kit/define-tool.ts';
import { startCloud } from '../../local/cloud.ts';

const REPOSITORIES = ['api', 'web'] as const;

/** What somebody sees from outside at one moment. */
export interface Moment {
  /** The subject of HEAD, and the lines of `git status --short`. */
  repositories: readonly { path: string; head: string; status: readonly string[] }[];
  /** What the provider of payments has, in its order; amounts in cents. */
  payments: readonly { kind: 'payment' | 'refund'; cents: number }[];
}

export interface PictureRun {
  before: Moment;
  worked: Moment;
  rewound: Moment;
  /** What the plan of the rewind said: files of each repository, and the tools whose effects are undone. */
  plan: {
    repositories: readonly { path: string; written: number; deleted: number }[];
    undo: readonly string[];
  };
  /** The answer of the rewind: its own status, that of each saga, and that of the files. */
  answer: { status: string; sagas: readonly string[]; files: string };
}

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Agent', '-c', 'user.email=agent@example.com', ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
  });

const commitAll = (cwd: string, subject: string): void => {
  git(cwd, 'add', '-A');
  git(cwd, 'commit', '-qm', subject);
};

const buildRepositories = async (root: string): Promise<void> => {
  for (const path of REPOSITORIES) {
    await mkdir(join(root, path));
    git(join(root, path), 'init', '-q', '-b', 'main');
  }
  await writeFile(join(root, 'api/orders.js'), 'export const order = (item) => ({ item });\n');
  commitAll(join(root, 'api'), 'Take orders');
  await writeFile(join(root, 'web/shop.html'), '<h1>Shop</h1>\n');
  commitAll(join(root, 'web'), 'Open the shop');
  await writeFile(join(root, 'web/todo.txt'), 'look at the title again\n');
};

/** The turn of the agent: a commit, an edit, a new file, and the loss of a file that git has nowhere. */
const work = async (root: string): Promise<void> => {
  await appendFile(
    join(root, 'api/orders.js'),
    'export const paid = (order) => ({ ...order, paid: true });\n',
  );
  commitAll(join(root, 'api'), 'Mark orders as paid');
  await writeFile(join(root, 'web/shop.html'), '<h1>Paid</h1>\n');
  await writeFile(join(root, 'web/receipt.html'), '<h1>Receipt</h1>\n');
  await rm(join(root, 'web/todo.txt'));
};

/** Somebody else's system, and the tool that calls it. */
const createPayments = () => {
  const entries: { kind: 'payment' | 'refund'; cents: number; key: string }[] = [];
  const add = (kind: 'payment' | 'refund', cents: number, key: string): void => {
    if (entries.every((entry) => entry.kind !== kind || entry.key !== key))
      entries.push({ kind, cents, key });
  };
  const pay = defineTool({
    name: 'pay',
    version: '1.0.0',
    description: 'Pays an order',
    effect: 'compensatable',
    idempotencyWindowSeconds: 86_400,
    input: z.strictObject({ cents: z.int() }),
    output: z.object({ cents: z.int() }),
    execute: async ({ cents }, { forwardKey }) => {
      add('payment', cents, forwardKey);
      return { cents };
    },
    compensate: {
      name: 'refund',
      execute: async ({ arguments: { cents } }, { forwardKey }) => add('refund', cents, forwardKey),
    },
  });
  return { pay, list: (): Moment['payments'] => entries.map(({ kind, cents }) => ({ kind, cents })) };
};

const look = (root: string, payments: Moment['payments']): Moment => ({
  repositories: REPOSITORIES.map((path) => ({
    path,
    head: git(join(root, path), 'log', '-1', '--format=%s').trimEnd(),
    status: git(join(root, path), 'status', '--short')
      .split('\n')
      .filter((line) => line !== ''),
  })),
  payments,
});

/** Plays the run once. Throws what the client throws. */
export const playPictureRun = async (): Promise<PictureRun> => {
  await using scope = new AsyncDisposableStack();
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'walkback-picture-')));
  scope.defer(() => rm(directory, { recursive: true, force: true }));
  const [root, dataDir] = [join(directory, 'work'), join(directory, 'data')];
  await mkdir(root);
  await buildRepositories(root);
  scope.use(await startCloud({ dataDir }));
  const walkback = new Walkback({ dataDir });
  scope.defer(() => walkback.close());
  const { pay, list } = createPayments();
  const served = await serveTools([pay], { walkback });
  scope.defer(() => served.close());

  const session = await walkback.sessions.start({ root });
  await session.checkpoint({ messageId: 'msg-1' });
  const before = look(root, list());

  const run = session.run({ message: { id: 'msg-2', text: 'Sell the first order.' } });
  const saga = await walkback.sagas.interactive({ run });
  await run.guard({ id: 'call-1', name: 'work' }, () => work(root));
  await sagaTools([pay], saga, { run })['pay']?.execute({ cents: 4200 }, { toolCallId: 'call-2' });
  await run.finish();
  const worked = look(root, list());

  const target = { to: 'msg-1', by: 'ada' };
  const { sagas, files } = await session.rewind({ ...target, dryRun: true });
  const done = await session.rewind({ ...target, waitSeconds: 60 });
  return {
    before,
    worked,
    rewound: look(root, list()),
    plan: {
      repositories: (files?.repositories ?? []).map(({ path, written, deleted }) => ({
        path,
        written,
        deleted,
      })),
      undo: sagas.flatMap(({ plan }) => plan.undo.map(({ tool }) => tool)),
    },
    answer: {
      status: done.status,
      sagas: done.sagas.map(({ status }) => status),
      files: done.files?.status ?? 'absent',
    },
  };
};
