/**
 * What every integration promises (K1, K2), as tests over a real host whose model is scripted, on the embedded cloud. A host
 * plays one turn: each step is what the model asks for at once, and after the last step the model only says that it is done.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OnCheckpointError, Session } from '../../client/index.ts';
import type { ClientWorld } from './client-world.ts';

export interface ScriptedCall {
  id: string;
  /** `edit` writes `text` into `path`; `delegate` lets a subagent of the host edit. */
  tool: 'edit' | 'delegate';
  path: string;
  text: string;
}

/** What a tool of the host's does. `signal`: of the call, as the host gives it. */
export type Act = (call: ScriptedCall, signal?: AbortSignal) => Promise<string>;

export interface Turn {
  session: Session;
  messageId: string;
  steps: ScriptedCall[][];
  act: Act;
  onCheckpointError: OnCheckpointError;
  /** Ends the turn from outside. */
  signal?: AbortSignal;
}

export interface Ended {
  /** How often the model was asked. */
  modelCalls: number;
  /** What the loop threw. */
  error?: unknown;
  /** What the model was told of its tools' calls, or the loop threw. */
  told: string;
}

export interface Host {
  name: string;
  play(turn: Turn): Promise<Ended>;
  /** Absent: parallel calls of one turn share a checkpoint. Why not, when not. */
  noSharing?: string;
  /** A subagent's calls: each has its checkpoint, or the gap is found after it, and marked. */
  subagent: 'covered' | 'late';
  /** Absent: a tool that runs sees the abort. Why not, when not. */
  noToolSignal?: string;
  /** Absent: a turn ends with a checkpoint. Why not, when not. */
  noTurns?: string;
  /** Absent: the model is told of a tool that throws, and goes on. Why not, when not. */
  toolErrorEnds?: string;
  /** What the host's own ids of messages look like, when it takes none. */
  ownMessageIds?: RegExp;
  /** How often the model may be asked when the second call of a tool never runs. Default 2. */
  mostModelCalls?: number;
}

export const edit = (id: string, path = 'api/file.txt', text = id): ScriptedCall => ({
  id,
  tool: 'edit',
  path,
  text,
});

const reasonsOf = async (session: Session): Promise<(string | null)[]> =>
  (await session.timeline()).checkpoints.map(({ reason }) => reason);

const idsOf = async (session: Session): Promise<string[]> =>
  (await session.timeline()).checkpoints.flatMap(({ toolExecutionId }) => toolExecutionId ?? []);

/** Everything that git says of a repository, and its configuration byte for byte. */
const factsOf = (repository: string): string =>
  execFileSync('git', ['status', '--porcelain=v2', '--branch', '--ignored'], {
    cwd: repository,
    encoding: 'utf8',
  }) +
  readFileSync(join(repository, '.git', 'config'), 'utf8') +
  execFileSync('git', ['for-each-ref'], { cwd: repository, encoding: 'utf8' });

const beginningOf = (host: Host, worldOf: () => ClientWorld) => async () => {
  const world = worldOf();
  world.write('api/file.txt', 'as it was\n');
  rmSync(join(world.root, 'web/new.txt'), { force: true });
  const session = await world.walkback.sessions.start({ root: world.root });
  const ran: string[] = [];
  const act: Act = async ({ id, path, text }) => {
    ran.push(id);
    world.write(path, text);
    return `wrote ${path}`;
  };
  const play = (turn: Partial<Turn> & Pick<Turn, 'steps'>): Promise<Ended> =>
    host.play({ session, messageId: 'msg-1', act, onCheckpointError: 'block', ...turn });
  return { world, session, ran, act, play };
};

/** The first promise of all, for every run of the tests. */
export const essential = (host: Host, worldOf: () => ClientWorld): void => {
  const begin = beginningOf(host, worldOf);

  test('the checkpoint is there before the tool, and going back to it takes the tool back', async () => {
    const { world, session, act, play } = await begin();
    const seen: string[][] = [];
    const { modelCalls, error } = await play({
      steps: [[edit('call-1')], [edit('call-2', 'web/new.txt')]],
      act: async (call, signal) => {
        seen.push((await idsOf(session)).filter((id) => id.startsWith('call-')));
        return act(call, signal);
      },
    });
    expect(error).toBeUndefined();
    expect(modelCalls).toBe(3);
    expect(seen.map((ids) => ids.toSorted())).toEqual([['call-1'], ['call-1', 'call-2']]);
    const { checkpoints } = await session.timeline();
    const of = (id: string) => checkpoints.find(({ toolExecutionId }) => toolExecutionId === id);
    if (host.ownMessageIds === undefined) expect(of('call-2')?.messageId).toBe('msg-1');
    else expect(of('call-2')?.messageId).toMatch(host.ownMessageIds);
    if (host.noTurns === undefined)
      expect((await reasonsOf(session))[0], 'the turn ends with a checkpoint').toBe('after-turn');
    await session.rollback({ to: of('call-1')?.checkpointId ?? '' });
    expect(world.read('api/file.txt')).toBe('as it was\n');
    expect(() => world.read('web/new.txt')).toThrow('ENOENT');
    await session.end();
  });
};

/** All of them. */
export const conformance = (host: Host, worldOf: () => ClientWorld): void => {
  const begin = beginningOf(host, worldOf);
  essential(host, worldOf);

  test.each(['block', 'warn'] as const)(
    '%s: what becomes of a tool without a checkpoint',
    async (onCheckpointError) => {
      const { world, session, ran, act, play } = await begin();
      const aside = `${world.root}-aside`;
      // The root is gone while the model's first step is played: a refusal that stays with each retry.
      renameSync(world.root, aside);
      try {
        const { told } = await play({
          steps: [[edit('call-1')]],
          onCheckpointError,
          act: async (call) => {
            mkdirSync(join(world.root, 'api'), { recursive: true });
            return act(call);
          },
        });
        expect(ran).toEqual(onCheckpointError === 'block' ? [] : ['call-1']);
        if (onCheckpointError === 'block') expect(told).toContain('ProjectsRootNotFound');
      } finally {
        rmSync(world.root, { recursive: true, force: true });
        renameSync(aside, world.root);
      }
      await session.end();
    },
  );

  test('the same call id twice is one checkpoint', async () => {
    const { session, play } = await begin();
    await play({ steps: [[edit('call-1')], [edit('call-1')]] });
    const ids = await idsOf(session);
    expect(ids.filter((id) => id === 'call-1')).toHaveLength(1);
    expect((await reasonsOf(session)).filter((reason) => reason?.startsWith('before-tool'))).toHaveLength(1);
    await session.end();
  });

  test('parallel calls of one turn share one checkpoint', async () => {
    const { session, ran, play } = await begin();
    const three = ['a', 'b', 'c'].map((id) => edit(id, `api/${id}.txt`));
    await play({ steps: [three, [edit('d')]] });
    expect(ran.toSorted()).toEqual(['a', 'b', 'c', 'd']);
    const before = (await reasonsOf(session)).filter((reason) => reason?.startsWith('before-tool'));
    expect(before).toHaveLength(host.noSharing === undefined ? 2 : 4);
    await session.end();
  });

  test("a subagent's tools are covered, or what they did is found and marked", async () => {
    const { session, ran, play } = await begin();
    const delegate: ScriptedCall = { ...edit('inner-1', 'web/new.txt'), tool: 'delegate' };
    await play({ steps: [[delegate]] });
    expect(ran).toContain('inner-1');
    if (host.subagent === 'covered') expect(await idsOf(session)).toContain('inner-1');
    else expect((await reasonsOf(session)).some((reason) => reason?.startsWith('late'))).toBe(true);
    await session.end();
  });

  test('a rollback by somebody else ends the run and the loop of the host', async () => {
    const { world, session, ran, act, play } = await begin();
    const other = await world.walkback.sessions.get(session.sessionId);
    const { modelCalls } = await play({
      steps: [[edit('call-1')], [edit('call-2')], [edit('call-3')]],
      act: async (call, signal) => {
        const [newest] = (await session.timeline()).checkpoints;
        const said = await act(call, signal);
        await other.rollback({ to: newest?.checkpointId ?? '' });
        return said;
      },
    });
    expect(ran).toEqual(['call-1']);
    expect(world.read('api/file.txt')).toBe('as it was\n');
    expect(modelCalls, 'the model is not asked again').toBeLessThanOrEqual(host.mostModelCalls ?? 2);
    await session.end();
  });

  test('an abort reaches the host, and its tool where hosts tell tools', async () => {
    const { session, ran, play } = await begin();
    const ending = new AbortController();
    let seen: boolean | undefined;
    const { modelCalls } = await play({
      steps: [[edit('call-1')], [edit('call-2')]],
      signal: ending.signal,
      act: async (call, signal) => {
        ran.push(call.id);
        ending.abort(new Error('enough'));
        seen = signal?.aborted;
        return 'said before the end';
      },
    });
    expect(ran).toEqual(['call-1']);
    if (host.noToolSignal === undefined) expect(seen, 'the tool is told').toBe(true);
    expect(modelCalls).toBeLessThanOrEqual(host.mostModelCalls ?? 2);
    await session.end();
  });

  test("nothing is written into the user's repositories or their configuration", async () => {
    const { world, session, play } = await begin();
    writeFileSync(join(world.root, 'api/file.txt'), 'as it was\n');
    const before = ['api', 'web'].map((name) => factsOf(join(world.root, name)));
    await play({ steps: [[edit('call-1', 'api/file.txt', 'as it was\n')]] });
    expect(['api', 'web'].map((name) => factsOf(join(world.root, name)))).toEqual(before);
    await session.end();
  });
};
