/**
 * `npm run bench:claude`: Claude Code's own `/rewind` and the plugin, in the same session of the real host with
 * a scripted model. What each brings back, and what it asks of the person; and what the plugin adds to the first
 * tool call. Prints the table of docs/integrations.md.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { PLUGIN } from '../test/support/hosts/claude.ts';
import { BINARY } from '../test/support/hosts/claude-binary.ts';
import { isTmuxThere, openScreen, type Screen } from './claude-code/terminal.ts';
import { makeRepositories, startModel, stepsIn, TRACES } from './claude-code/work.ts';

const PROMPT = 'Do what the script says';
const TOOLS = ['--permission-mode', 'default', '--allowedTools', 'Bash', 'Edit', 'Write', 'Read', 'Agent'];
const LAUNCHER = join(import.meta.dirname, '../bin/walkback.mjs');

interface Way {
  name: string;
  args: string[];
  /** The embedded cloud runs before the host starts. */
  isWarm?: boolean;
  takeBack: (screen: Screen) => Promise<void>;
}

const REWIND: Way = {
  name: '`/rewind`',
  args: [],
  takeBack: async (screen) => {
    await screen.press('Escape', 'Escape');
    await screen.until(/Restore the code and\/or conversation/);
    await screen.press('Up', 'Enter');
    await screen.until(/1\. Restore/);
    await screen.press('Enter');
    await screen.until(/^(?![\s\S]*1\. Restore)[\s\S]*❯/);
  },
};

const UNDO: Way = {
  name: '`/walkback:undo`',
  args: ['--plugin-dir', PLUGIN],
  takeBack: async (screen) => {
    await screen.type('/walkback:undo');
    await screen.press('Enter');
    await screen.until(/To do it: {2}\/walkback:undo yes/);
    await screen.type('/walkback:undo yes');
    await screen.press('Enter');
    await screen.until(/✔ Back at/);
  },
};

/** As in a second conversation on the same day. */
const UNDO_WARM: Way = { ...UNDO, name: '`/walkback:undo`, cloud runs already', isWarm: true };

interface Measured {
  back: boolean[];
  keys: number;
  permissions: number;
  requests: number;
  seconds: number;
  /** From the prompt to the end of the first tool that changes something. */
  firstToolSeconds: number;
}

const measure = async ({ args, isWarm, takeBack }: Way): Promise<Measured> => {
  const place = mkdtempSync(join(tmpdir(), 'walkback-bench-claude-'));
  const root = join(place, 'work');
  const home = join(place, 'home');
  const dataDir = join(place, 'data');
  makeRepositories(root);
  try {
    if (isWarm === true)
      execFileSync(process.execPath, [LAUNCHER, 'up', '--detach', '--data', dataDir], { stdio: 'ignore' });
    await using model = await startModel(stepsIn(root));
    const env = { WALKBACK_DATA: dataDir };
    await using screen = await openScreen({
      home,
      cwd: root,
      url: model.url,
      args: [...args, ...TOOLS],
      env,
    });
    await screen.until(/❯/);
    await screen.type(PROMPT);
    const promptMs = Date.now();
    await screen.press('Enter');
    await screen.until(/done [\d:]+ ?[AP]?M?/);
    // The first request is the prompt, the second follows the Read, the third the Edit.
    const firstToolMs = model.mainRequestsMs()[2] ?? Number.NaN;
    const missing = TRACES.filter(({ isDone }) => !isDone(root)).map(({ what }) => what);
    if (missing.length > 0) throw new Error(`The agent did not do ${missing.join(', ')}:\n${screen.text()}`);
    const before = {
      keys: screen.keys(),
      questions: screen.questions(),
      requests: model.requestsMs().length,
      atMs: Date.now(),
    };
    await takeBack(screen);
    return {
      back: TRACES.map(({ isBack }) => isBack(root)),
      keys: screen.keys() - before.keys,
      permissions: screen.questions() - before.questions,
      requests: model.requestsMs().length - before.requests,
      seconds: (Date.now() - before.atMs) / 1000,
      firstToolSeconds: (firstToolMs - promptMs) / 1000,
    };
  } finally {
    if (args.length > 0)
      execFileSync(process.execPath, [LAUNCHER, 'down', '--data', dataDir], { stdio: 'ignore' });
    rmSync(place, { recursive: true, force: true, maxRetries: 10 });
  }
};

const yes = (is: boolean | undefined): string => (is === true ? 'yes' : '**no**');
const row = (...cells: (string | number)[]): string => `| ${cells.join(' | ')} |`;

const main = async (): Promise<void> => {
  if (BINARY === undefined || !isTmuxThere()) {
    process.stderr.write('Nothing was measured: this needs Claude Code (npm run hosts) and tmux.\n');
    process.exitCode = 1;
    return;
  }
  const ways = [REWIND, UNDO, UNDO_WARM];
  const all: Measured[] = [];
  for (const way of ways) all.push(await measure(way));
  const version = execFileSync(BINARY, ['--version'], { encoding: 'utf8' }).trim();
  const day = new Date().toISOString().slice(0, 10);
  const numbers: [string, (one: Measured) => string | number][] = [
    ['keys', ({ keys }) => keys],
    ['questions for permission', ({ permissions }) => permissions],
    ['requests to the model', ({ requests }) => requests],
    ['seconds, with the keys', ({ seconds }) => seconds.toFixed(1)],
    [
      'seconds from the prompt to the end of the first Edit',
      ({ firstToolSeconds }) => firstToolSeconds.toFixed(1),
    ],
  ];
  const lines = [
    `${version}, Walkback ${manifest.version}, ${day}, node bench/claude-code.ts`,
    '',
    row('', ...ways.map(({ name }) => name)),
    row('---', ...ways.map(() => '---')),
    ...TRACES.map(({ what }, index) => row(what, ...all.map(({ back }) => yes(back[index])))),
    ...numbers.map(([what, of]) => row(what, ...all.map(of))),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
};

await main();
