/**
 * What each page asks for, seen on real functions, against what each role's policy lets it ask: docs/console.md says who may open
 * what, and no role has a function that neither a page, a command nor a reason here uses.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeFailure } from '../../cli/failure.ts';
import { createConsole } from '../../console/app.ts';
import type { Ask } from '../../console/context.ts';
import { PERSON_ROLES, type PersonRole } from '../../contract/people.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { loadTemplate, PROJECT, type Template } from '../../local/template.ts';
import { FunctionFailure } from '../support/cloud.ts';
import { type ConsoleWorld, playStory, refund, startConsoleWorld } from '../support/console-world.ts';
import { invokedBy, mayInvoke } from '../support/policies.ts';

const ORIGIN = 'http://127.0.0.1:4500';

/** Of a page that nobody signed in needs, and of work that was begun on another. */
const NO_PAGE = ['/console.js', '/style.css', '/enter', '/work/:id'];

/** Addresses that make a page ask for all that it can. */
const pagesOf = (session: string, saga: string): Record<string, string[]> => ({
  'GET /': ['/'],
  'GET /sessions/:id': [`/sessions/${session}`],
  'GET /sessions/:id/plan': ['files', 'all', 'message'].map(
    (scope) => `/sessions/${session}/plan?scope=${scope}&message=msg-2`,
  ),
  'GET /sessions/:id/compare': [`/sessions/${session}/compare?from=msg-2&to=msg-3`],
  'GET /sessions/:id/blame': [`/sessions/${session}/blame?file=price.ts&repository=api`],
  'GET /sessions/:id/bisect': [`/sessions/${session}/bisect`],
  'GET /search': ['/search?q=refund'],
  'GET /queue': ['/queue'],
  'GET /queue/count': ['/queue/count'],
  'GET /sagas': ['/sagas'],
  'GET /sagas/:id': [`/sagas/${saga}`],
  'GET /sagas/:id/undo': ['/sagas/done/undo'],
  'GET /ledger': ['/ledger', '/ledger?view=totals', `/ledger?saga=${saga}`],
  'GET /ledger.csv': ['/ledger.csv'],
  'GET /catalog': ['/catalog'],
});

/** Forms that reach the function, and change nothing: what they name is not there, or is not what was shown. */
const actsOf = (session: string, checkpoint: string): Record<string, [string, Record<string, string>]> => ({
  'POST /sessions/:id/rollback': [`/sessions/${session}/rollback`, { checkpoint, request: 'r-1' }],
  'POST /sessions/:id/revert': [`/sessions/${session}/revert`, { message: 'msg-2', request: 'r-2' }],
  'POST /sessions/:id/rewind': [
    `/sessions/${session}/rewind`,
    { message: 'msg-2', request: 'r-3', scope: 'all' },
  ],
  'POST /sessions/:id/copy': ['/sessions/nobody/copy', { message: 'msg-2', request: 'r-4' }],
  'POST /sessions/:id/bisect': ['/sessions/nobody/bisect', { command: 'true', request: 'r-5' }],
  'POST /sagas/:id/undo': ['/sagas/nobody/undo', {}],
  'POST /queue/answer': ['/queue/answer', { saga: 'nobody', step: 'x', decision: 'approve' }],
  'POST /queue/operate': ['/queue/operate', { saga: 'nobody', step: 'x', action: 'retry' }],
});

/** Functions of a role that no page asks for, and where they are used instead (test/scenario/roles.test.ts). */
const BY_COMMAND = [
  'verify-commitments',
  'preflight',
  'list-copies',
  'delete-copy',
  'anchor-ledger',
  'export-ledger',
  'park-saga',
  'put-catalog',
  'sweep',
];

let world: ConsoleWorld;
let template: Template;
let checkpoint: string;
const SAGA = 'phone';

beforeAll(async () => {
  template = await loadTemplate();
  world = await startConsoleWorld();
  await playStory(world);
  await refund(world, 'done', 'msg-3');
  await world.asking(SAGA);
  const { session } = await world.invoke('timeline', { sessionId: world.world.sessionId });
  checkpoint = (session as { headCheckpointId: string }).headCheckpointId;
});
afterAll(() => world.close());

/** What a failed function says is told as the command tells it. */
const asTold = (error: unknown): unknown => {
  if (!(error instanceof FunctionFailure)) return error;
  const told = new Error(error.message);
  told.name = error.errorType;
  return told;
};

/** A console of somebody with a role, or with all: each page with what it asked for and how it ended. */
const visitAll = async (role?: PersonRole) => {
  let asked = new Set<string>();
  let denied = new Set<string>();
  const ask = (async (name: string, input: object) => {
    asked.add(name);
    if (role !== undefined && !mayInvoke(template, role, name)) {
      denied.add(name);
      throw new WalkbackError('RoleMissing', `${name} is not for ${role}`);
    }
    try {
      return await world.invoke(name, input);
    } catch (error) {
      throw asTold(error);
    }
  }) as Ask;
  const app = createConsole({
    ask,
    failureOf: describeFailure,
    viewer: { name: 'rita', isVerified: false },
    by: 'rita',
    token: 'in',
    origin: () => ORIGIN,
    patienceMs: 300_000,
    isOneProcess: false,
  });
  const host = { host: '127.0.0.1:4500' };
  const entered = await app.request(`${ORIGIN}/enter?token=in`, { headers: host });
  const headers = { ...host, cookie: (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '' };
  const queue = await (await app.request(`${ORIGIN}/queue`, { headers })).text();
  const plan = await app.request(`${ORIGIN}/sessions/${world.world.sessionId}/plan?scope=all&message=msg-2`, {
    headers,
  });
  const [, formToken = ''] = /name="form_token" value="([^"]+)"/.exec(queue + (await plan.text())) ?? [];

  const seen = new Map<string, { asked: Set<string>; denied: Set<string>; statuses: number[] }>();
  const visit = async (route: string, address: string, form?: Record<string, string>): Promise<void> => {
    asked = new Set();
    denied = new Set();
    const response = await app.request(`${ORIGIN}${address}`, {
      headers: { ...headers, origin: ORIGIN },
      ...(form === undefined
        ? {}
        : { method: 'POST', body: new URLSearchParams({ form_token: formToken, ...form }) }),
    });
    const before = seen.get(route);
    seen.set(route, {
      asked: asked.union(before?.asked ?? new Set()),
      denied: denied.union(before?.denied ?? new Set()),
      statuses: [...(before?.statuses ?? []), response.status],
    });
  };
  for (const [route, addresses] of Object.entries(pagesOf(world.world.sessionId, SAGA))) {
    for (const address of addresses) await visit(route, address);
  }
  if (formToken !== '') {
    for (const [route, [address, form]] of Object.entries(actsOf(world.world.sessionId, checkpoint)))
      await visit(route, address, form);
  }
  const routes = app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path}`);
  return { seen, routes };
};

/** `| GET / | yes | yes | no |` */
const documented = async (): Promise<Map<string, string>> => {
  const text = await readFile(join(PROJECT, 'docs/console.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `((?:GET|POST) [^`]+)` *\|([^\n]+)\|$/gm)];
  return new Map(
    rows.map(([, route = '', cells = '']) => [
      route,
      cells
        .split('|')
        .map((one) => one.trim())
        .join(' '),
    ]),
  );
};

test('every page is visited, asks only what it is for, and opens for whom the docs say', async () => {
  const everybody = await visitAll();
  expect(new Set(everybody.seen.keys())).toEqual(
    new Set(everybody.routes.filter((route) => !NO_PAGE.includes(route.split(' ')[1] ?? ''))),
  );
  for (const [route, { asked, statuses }] of everybody.seen) {
    expect(asked.size, route).toBeGreaterThan(0);
    for (const status of statuses) expect([200, 303, 404, 409], `${route} ${status}`).toContain(status);
  }

  const opens = new Map<string, string[]>();
  const reached = new Map<PersonRole, Set<string>>();
  for (const role of PERSON_ROLES) {
    const { seen } = await visitAll(role);
    const uses = new Set<string>();
    for (const [route, whole] of everybody.seen) {
      const found = seen.get(route);
      const isOpen = found !== undefined && !found.statuses.includes(403);
      opens.set(route, [...(opens.get(route) ?? []), isOpen ? 'yes' : 'no']);
      // It opens exactly when all that it needs is granted; a part that it can do without is left out.
      const needs = [...whole.asked].filter((name) => !mayInvoke(template, role, name));
      if (!isOpen) expect(needs.length, `${role} ${route}`).toBeGreaterThan(0);
      if (isOpen) for (const name of whole.asked) if (mayInvoke(template, role, name)) uses.add(name);
    }
    reached.set(role, uses);
  }
  const table = new Map([...opens].map(([route, cells]) => [route, cells.join(' ')]));
  expect(await documented()).toEqual(table);

  for (const role of PERSON_ROLES) {
    const granted = new Set(invokedBy(template, role));
    const unused = [...granted.difference(reached.get(role) ?? new Set())];
    expect(
      unused.filter((name) => !BY_COMMAND.includes(name)),
      role,
    ).toEqual([]);
  }
});

test('each function that only a command uses is granted to somebody, and asked for by no page', async () => {
  const { seen } = await visitAll();
  const asked = new Set([...seen.values()].flatMap((one) => [...one.asked]));
  const granted = new Set(PERSON_ROLES.flatMap((role) => invokedBy(template, role)));
  for (const name of BY_COMMAND) {
    expect(granted.has(name), name).toBe(true);
    expect(asked.has(name), name).toBe(false);
  }
});
