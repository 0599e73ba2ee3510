/** Performs the demo: opens its cloud, plays the acts, and shows the proof. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Walkback } from '../../client/index.ts';
import type { App, Connection } from '../app.ts';
import { CliError } from '../failure.ts';
import { untilInterrupted } from '../interruption.ts';
import { shellWord } from '../options.ts';
import { ACTS, type ActName, PLAYED } from './acts.ts';
import { isEqual } from './fingerprint.ts';
import { PLAY, type Told } from './play-act.ts';
import { proofTable } from './proof-view.ts';
import { openProviders, type Providers } from './providers.ts';
import { createScreen, formatSeconds, type Screen, timed } from './screen.ts';
import { SESSION } from './story.ts';

/** What to look at when the directory of a demo was kept. */
const LOOK: Record<ActName, string> = {
  checkpoints: `log --session ${SESSION}`,
  refund: 'saga list',
  gang: 'saga list',
  changesets: 'session list',
};

/** The commands that show what these acts left, each once. */
const commandsToLook = (acts: readonly ActName[]): string[] => [
  ...new Set(acts.map((act) => `walkback ${LOOK[act]}`)),
];

interface Played extends Told {
  name: ActName;
  ms: number;
}

const showProof = (screen: Screen, played: readonly Played[]): void => {
  const { paint } = screen;
  const proofs = played.flatMap(({ proof }) => proof);
  if (proofs.length > 0) screen.chapter('Proof: hashes made without Walkback, before and after');
  for (const [n, { title, comparisons, note }] of proofs.entries()) {
    if (n > 0) screen.line();
    screen.line(title);
    screen.block(proofTable(comparisons, paint));
    if (note !== undefined) screen.line(paint.dim(note));
  }
  const facts = played.flatMap((act) => act.facts);
  if (facts.length > 0) screen.line();
  for (const fact of facts) screen.line(fact);
};

/** The client, in the cloud of this command, which nobody else can find. */
const clientOf = ({ environment = {} }: Connection, signal: AbortSignal): Walkback => {
  const {
    AWS_ENDPOINT_URL_LAMBDA: endpoint,
    AWS_ACCESS_KEY_ID: accessKeyId = '',
    AWS_SECRET_ACCESS_KEY: secretAccessKey = '',
    AWS_REGION: region = 'us-east-1',
  } = environment;
  if (endpoint === undefined)
    throw new CliError('InternalError', 'The embedded cloud names no Lambda endpoint.');
  return new Walkback({ endpoint, region, credentials: { accessKeyId, secretAccessKey }, signal });
};

const play = async (
  app: App,
  screen: Screen,
  { dataDir, acts }: { dataDir: string; acts: readonly ActName[] },
): Promise<Played[]> => {
  const { terminal, signal } = app;
  const { progress, json } = screen;
  const connection = await app.connect({ local: true, data: dataDir }, { json, progress, isOwn: true });
  let opened: Promise<Providers> | undefined;
  let client: Walkback | undefined;
  try {
    const { sandboxes, invoke } = connection;
    if (sandboxes === undefined)
      throw new CliError('InternalError', 'The embedded cloud names no E2B endpoint.');
    const stage = {
      invoke,
      sandboxes,
      screen,
      now: terminal.now,
      directory: dataDir,
      providers: () => (opened ??= openProviders(invoke)),
      client: () => (client ??= clientOf(connection, signal)),
    };
    return await untilInterrupted(signal, async () => {
      const played: Played[] = [];
      try {
        for (const name of ACTS.filter((act) => acts.includes(act))) {
          const { value, ms } = await timed(() => PLAY[name](stage));
          played.push({ ...value, name, ms });
        }
      } finally {
        // If opening them failed, an act has reported why.
        await opened?.then(
          (providers) => providers.close(),
          () => undefined,
        );
      }
      return played;
    });
  } finally {
    await client?.close();
    await connection.close();
  }
};

/** Plays the acts and shows the proof. Throws `ProofFailed` when anything is not as it was. */
export const performDemo = async (
  app: App,
  options: { json: boolean; keep: boolean; acts: readonly ActName[] },
): Promise<void> => {
  const screen = createScreen(app, options.json);
  const { paint } = screen;
  const directory = await mkdtemp(join(tmpdir(), 'walkback-demo-'));
  try {
    screen.line(`${paint.bold('Walkback')}  ${paint.dim('real git, real functions, an embedded cloud')}`);
    const { value: played, ms } = await timed(() =>
      play(app, screen, { dataDir: directory, acts: options.acts }),
    );
    const comparisons = played.flatMap(({ proof }) => proof.flatMap((each) => each.comparisons));
    const equal = comparisons.filter(isEqual).length;
    showProof(screen, played);
    if (options.json) {
      const answer = {
        equal: equal === comparisons.length,
        seconds: ms / 1000,
        acts: played.map((act) => ({ name: act.name, seconds: act.ms / 1000 })),
        ...Object.assign({}, ...played.map(({ answer: part }) => part)),
      };
      app.terminal.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
    }
    if (equal < comparisons.length) {
      throw new CliError(
        'ProofFailed',
        `${comparisons.length - equal} of ${comparisons.length} comparisons differ.`,
      );
    }
    screen.line();
    screen.line(paint.dim(played.map((act) => `${act.name} ${formatSeconds(act.ms)}`).join(' · ')));
    const all = comparisons.length === 0 ? 'every saga ended as told' : `all ${comparisons.length} equal`;
    screen.line(`${paint.green('✔')} ${all} ${paint.dim(`in ${formatSeconds(ms)}`)}`);
    const more = ACTS.filter((name) => !PLAYED.includes(name) && !options.acts.includes(name));
    for (const name of more)
      screen.line(paint.dim(`  one more act, of about a minute: walkback demo --act ${name}`));
  } finally {
    if (options.keep) {
      screen.line();
      screen.line(`kept in ${directory}`);
      for (const command of commandsToLook(options.acts))
        screen.line(`  ${command} --data ${shellWord(directory)}`);
    } else await rm(directory, { recursive: true, force: true });
  }
};
