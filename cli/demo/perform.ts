import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from '../app.ts';
import { CliError } from '../failure.ts';
import { untilInterrupted } from '../interruption.ts';
import { shellWord } from '../options.ts';
import { isEqual } from './fingerprint.ts';
import { type GangProof, gangAct } from './gang-act.ts';
import { proofTable } from './proof-view.ts';
import { openProviders } from './providers.ts';
import { type RefundProof, refundAct } from './refund-act.ts';
import { createScreen, formatSeconds, type Screen, timed } from './screen.ts';
import { type Proof, SESSION, tellStory } from './story.ts';
import { GOOD_MESSAGE, NOT_CAPTURED } from './workspace.ts';

type Played = Proof & { sagas: RefundProof; gang: GangProof };

const showProof = (screen: Screen, { rehydrated, rolledBack, gang }: Played): void => {
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
  screen.line();
  screen.line('desks before the work of an agent, then when it was taken back');
  screen.block(proofTable(gang.takenBack, paint));
  screen.line();
  screen.line('the desk of the agent that went on, then when the others were taken back');
  screen.block(proofTable(gang.kept, paint));
  screen.line();
  const { effects, repeated, tickets, mails } = gang.standing;
  const refunds = Object.values(gang.standing.refunds).length;
  screen.line(`providers: ${effects} effects of that saga in all, ${repeated} of them twice`);
  screen.line(`what stands: ${refunds} refunds, one for each order, ${tickets} tickets, ${mails} mail`);
  screen.line(
    `${gang.ledgers.sagas} ledgers, ${gang.ledgers.entries} entries: whole, and they name each other`,
  );
};

const play = async (app: App, screen: Screen, dataDir: string): Promise<Played> => {
  const { terminal, signal } = app;
  const { progress, json } = screen;
  const connection = await app.connect({ local: true, data: dataDir }, { json, progress, isOwn: true });
  try {
    const { sandboxes, invoke } = connection;
    if (sandboxes === undefined)
      throw new CliError('InternalError', 'The embedded cloud names no E2B endpoint.');
    const stage = { invoke, sandboxes, screen, now: terminal.now };
    return await untilInterrupted(signal, async () => {
      const proof = await tellStory(stage);
      const providers = await openProviders(invoke);
      try {
        const act = { ...stage, providers };
        return { ...proof, sagas: await refundAct(act), gang: await gangAct({ ...act, directory: dataDir }) };
      } finally {
        await providers.close();
      }
    });
  } finally {
    await connection.close();
  }
};

/** Plays the three acts and shows the proof. `ProofFailed` when anything is not as it was. */
export const performDemo = async (app: App, options: { json: boolean; keep: boolean }): Promise<void> => {
  const screen = createScreen(app, options.json);
  const { paint } = screen;
  const directory = await mkdtemp(join(tmpdir(), 'walkback-demo-'));
  try {
    screen.line(`${paint.bold('Walkback')}  ${paint.dim('real git, real functions, an embedded cloud')}`);
    const { value: proof, ms } = await timed(() => play(app, screen, directory));
    const comparisons = [
      ...proof.rehydrated,
      ...proof.rolledBack,
      ...proof.gang.takenBack,
      ...proof.gang.kept,
    ];
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
