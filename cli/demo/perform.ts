import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from '../app.ts';
import { CliError } from '../failure.ts';
import { untilInterrupted } from '../interruption.ts';
import { shellWord } from '../options.ts';
import { isEqual } from './fingerprint.ts';
import { proofTable } from './proof-view.ts';
import { type RefundProof, refundAct } from './refund-act.ts';
import { createScreen, formatSeconds, type Screen, timed } from './screen.ts';
import { type Proof, SESSION, tellStory } from './story.ts';
import { GOOD_MESSAGE, NOT_CAPTURED } from './workspace.ts';

const showProof = (screen: Screen, { rehydrated, rolledBack }: Proof): void => {
  const { paint } = screen;
  screen.chapter('Proof: hashes made without Walkback, before and after');
  screen.line('sandbox killed, then rehydrated');
  screen.block(proofTable(rehydrated, paint));
  screen.line();
  screen.line(`at ${GOOD_MESSAGE}, then after the rollback in the other sandbox`);
  screen.block(proofTable(rolledBack, paint));
  screen.line(
    paint.dim(`every path, mode, link and byte except ${NOT_CAPTURED.join(', ')}, which git ignores`),
  );
};

const play = async (app: App, screen: Screen, dataDir: string): Promise<Proof & { sagas: RefundProof }> => {
  const { terminal, signal } = app;
  const { progress, json } = screen;
  const connection = await app.connect({ local: true, data: dataDir }, { json, progress });
  try {
    const { sandboxes, invoke } = connection;
    if (sandboxes === undefined)
      throw new CliError('InternalError', 'The embedded cloud names no E2B endpoint.');
    const stage = { invoke, sandboxes, screen, now: terminal.now };
    return await untilInterrupted(signal, async () => {
      const proof = await tellStory(stage);
      return { ...proof, sagas: await refundAct(stage) };
    });
  } finally {
    await connection.close();
  }
};

/** Plays both acts and shows the proof. `ProofFailed` when anything is not as it was. */
export const performDemo = async (app: App, options: { json: boolean; keep: boolean }): Promise<void> => {
  const screen = createScreen(app, options.json);
  const { paint } = screen;
  const directory = await mkdtemp(join(tmpdir(), 'walkback-demo-'));
  try {
    screen.line(`${paint.bold('Walkback')}  ${paint.dim('real git, real functions, an embedded cloud')}`);
    const { value: proof, ms } = await timed(() => play(app, screen, directory));
    const comparisons = [...proof.rehydrated, ...proof.rolledBack];
    const equal = comparisons.filter(isEqual).length;
    showProof(screen, proof);
    if (options.json) {
      const answer = { equal: equal === comparisons.length, seconds: ms / 1000, ...proof };
      app.terminal.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
    }
    if (equal < comparisons.length) {
      throw new CliError(
        'ProofFailed',
        `${comparisons.length - equal} of ${comparisons.length} comparisons differ.`,
      );
    }
    screen.line();
    screen.line(
      `${paint.green('✔')} all ${comparisons.length} equal ${paint.dim(`in ${formatSeconds(ms)}`)}`,
    );
  } finally {
    if (options.keep) {
      screen.line();
      screen.line(`kept: walkback log --session ${SESSION} --data ${shellWord(directory)}`);
    } else await rm(directory, { recursive: true, force: true });
  }
};
