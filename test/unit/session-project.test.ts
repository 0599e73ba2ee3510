/** A session has a project, its forks have the same, and its sagas take it. */
import { describe, expect, test } from 'vitest';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { sessionTable } from '../../cli/view/session-views.ts';
import { createListSessions } from '../../core/checkpoint/session/list-sessions.ts';
import { made, NO_SAGA, session } from '../support/console-in-process.ts';
import { failing } from '../support/fakes/failing.ts';
import { createNewStage, SESSION } from '../support/fakes/stage.ts';
import { runCommand } from '../support/recording-app.ts';
import { committed, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const projectIn = async (stage: ReturnType<typeof createNewStage>, sessionId: string) => {
  const { sessions } = await createListSessions(stage)({});
  const { timeline } = stage.instance();
  const told = (await timeline({ sessionId })).session.project;
  expect(sessions.find((one) => one.sessionId === sessionId)?.project).toBe(told);
  return told;
};

describe('the project of a session', () => {
  test('is told with it, and is a part of what it was started as', async () => {
    const stage = createNewStage();
    const started = await stage.instance().startSession({ project: 'acme' });
    expect(await projectIn(stage, SESSION)).toBe('acme');
    expect(await stage.instance().startSession({ project: 'acme' })).toEqual(started);
    await failing(stage.instance().startSession({ project: 'other' }), 'SessionConflict');
    await failing(stage.instance().startSession(), 'SessionConflict');
  });

  test('goes to its forks, unless one has its own', async () => {
    const stage = createNewStage();
    await stage.instance().startSession({ project: 'acme' });
    const same = await stage.instance().fork();
    const own = await stage.instance().fork({ requestId: 'f2', project: 'other' });
    expect([same.project, own.project]).toEqual(['acme', 'other']);
    expect(await projectIn(stage, same.sessionId)).toBe('acme');
    expect(await projectIn(stage, own.sessionId)).toBe('other');
    expect(await stage.instance().fork({ requestId: 'f2', project: 'other' })).toEqual(own);
    await failing(stage.instance().fork({ requestId: 'f2', project: 'acme' }), 'RequestConflict');
    const below = await stage.instance().fork({ sessionId: own.sessionId, requestId: 'f3' });
    expect(below.project).toBe('other');
  });

  test('is none where none was given', async () => {
    const stage = createNewStage();
    await stage.instance().startSession();
    expect(stage.session()).not.toHaveProperty('project');
    expect(await projectIn(stage, SESSION)).toBeUndefined();
    expect(await stage.instance().fork()).not.toHaveProperty('project');
    expect((await stage.instance().fork({ requestId: 'f2', project: 'acme' })).project).toBe('acme');
  });
});

const TOOLS = [scriptedTool('pay', 'compensatable', { resourceKey: '"till"', exclusive: true })];
const PLAN = { steps: [{ id: 'pay', tool: 'pay', arguments: {} }] };

const opened = async () => {
  const projects = new Map([['session', 'acme']]);
  const saga = await scriptedSaga({
    tools: TOOLS,
    answer: () => committed({ ok: true }),
    projectOf: async (sessionId) => projects.get(sessionId),
  });
  const start = (more: object = {}, sagaId = SAGA) =>
    saga.machine.start({ sagaId, plan: PLAN, input: {}, requestedBy: 'me', ...more });
  const projectOf = async (sagaId = SAGA) => (await saga.store.getHead(sagaId))?.project;
  return { ...saga, projects, start, projectOf };
};

describe('a saga', () => {
  test.each([
    ['of the session', { sessionId: 'session' }, 'acme'],
    ['of the session, with its own', { sessionId: 'session', project: 'other' }, 'other'],
    ['of a session without a project', { sessionId: 'plain' }, undefined],
    ['of no session', {}, undefined],
  ])('%s', async (_, more, project) => {
    const { start, projectOf, store } = await opened();
    await start(more);
    expect(await projectOf()).toBe(project);
    expect((await store.getEntry(SAGA, 0)) ?? {}).toEqual(
      project === undefined ? expect.not.objectContaining({ project }) : expect.objectContaining({ project }),
    );
  });

  test('that is started again is the same, also when its session is gone or another has its name', async () => {
    const { start, projectOf, projects, machine, requests, store } = await opened();
    await start({ sessionId: 'session' });
    await machine.settle();
    const head = await store.getHead(SAGA);
    const calls = requests.length;
    for (const now of [undefined, 'other']) {
      projects.delete('session');
      if (now !== undefined) projects.set('session', now);
      expect(await start({ sessionId: 'session' })).toMatchObject({ sagaId: SAGA, status: 'COMPLETED' });
      expect(await store.getHead(SAGA)).toEqual(head);
    }
    expect(requests).toHaveLength(calls);
    expect(await projectOf()).toBe('acme');
    // It is another request to say so.
    await failing(start({ sessionId: 'session', project: 'acme' }), 'RequestConflict');
  });

  test('may limit how many of the session run at once', async () => {
    const { start, store } = await opened();
    await failing(start({ maxConcurrent: 1 }, 'none'), 'InvalidInput');
    await start({ sessionId: 'session', maxConcurrent: 1 }, 'first');
    await start({ project: 'acme', maxConcurrent: 1 }, 'second');
    expect((await store.getHead('second'))?.state.status).toBe('QUEUED');
  });

  test('of one call, and one whose steps are submitted, are of it too', async () => {
    const { machine, store, projectOf } = await opened();
    const common = { sessionId: 'session', requestedBy: 'me' };
    await machine.start({ sagaId: SAGA, interactive: { onIdle: 'unwind' }, ...common });
    expect(await projectOf()).toBe('acme');
    await machine.callTool({ requestId: 'once', tool: 'pay', arguments: {}, ...common });
    const listed = await store.listBySession('session');
    expect(await Promise.all(listed.map(({ sagaId }) => projectOf(sagaId)))).toEqual(['acme', 'acme']);
  });
});

describe('who lists sessions', () => {
  const plain = { ...session('plain'), projectsRoot: '/work', metadata: {} };
  const listed = [plain, { ...plain, sessionId: 'fork', project: 'acme' }];
  const answers = { 'walkback-list-sessions': () => ({ sessions: listed }) };

  test('sees the project where one has any, and may ask for those of one', async () => {
    const rows = (sessions: typeof listed) =>
      sessionTable(sessions, createPaint(false), 80, new Date(0)).split('\n');
    expect(rows(listed)[0]).toContain('PROJECT');
    expect(rows(listed)[2]).toMatch(/^fork +active +acme +cp-1/);
    for (const row of rows(listed)) expect(row.length).toBeLessThanOrEqual(80);
    expect(rows([plain])[0]).not.toContain('PROJECT');
    const { stdout } = await runCommand(['session', 'list', '--project', 'acme', '--json'], { answers });
    expect(JSON.parse(stdout)).toMatchObject({ sessions: [{ sessionId: 'fork', project: 'acme' }] });
    const none = await runCommand(['session', 'list', '--project', 'nobody'], { answers });
    expect(none.stdout).toBe('No sessions of the project nobody.\n');
  });

  test('finds it in the console', async () => {
    const { fetchPage, enter } = made({ ...NO_SAGA, 'list-sessions': () => ({ sessions: listed }) });
    const { cookie } = await enter();
    const page = async (path: string) => (await fetchPage(path, { headers: { cookie } })).text();
    expect(await page('/')).toContain('Project');
    const found = await page('/?q=ACME');
    expect(found).toContain('/sessions/fork');
    expect(found).not.toContain('/sessions/plain');
    expect(await page('/?q=plain')).not.toContain('>Project<');
  });
});
