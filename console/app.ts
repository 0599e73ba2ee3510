/** The console: pages over what the functions answer. Every page works without script, and has a JSON twin. */
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { html } from 'hono/html';
import { errorRow } from '../contract/errors.ts';
import { statusOf } from '../contract/http-status.ts';
import { sameSecret } from '../local/e2b/guard.ts';
import type { Act, Ask, Elsewhere, Show, Visit } from './context.ts';
import { type ConsoleEnv, createGate, type Gate } from './gate.ts';
import { showCatalog } from './pages/catalog.ts';
import { dayOf, ledgerRequest, showLedger } from './pages/ledger.ts';
import { rollBack, showPlan } from './pages/plan.ts';
import { answer, operate, showQueue } from './pages/queue.ts';
import { showSaga, showSagas } from './pages/saga.ts';
import { showSession } from './pages/session.ts';
import { showSessions } from './pages/sessions.ts';
import { link, shown } from './parts/markup.ts';
import { frame, type Page, type Viewer } from './parts/page.ts';
import { STYLE } from './parts/style.ts';

/** A form is short. */
const MAX_FORM_BYTES = 64 * 1024;

interface Failure {
  name: string;
  message: string;
}

interface PagesOptions {
  gate: Gate;
  /** How a failed call is told. */
  failureOf: (error: unknown) => Failure;
  now?: () => Date;
}

export interface ConsoleOptions extends Omit<PagesOptions, 'gate'> {
  ask: Ask;
  viewer: Viewer;
  by: string;
  /** Of the link that lets one person in. */
  token: string;
  /** `http://127.0.0.1:PORT`; called with each request. */
  origin: () => string;
}

const NOBODY: Viewer = { name: 'nobody is signed in', isVerified: true };

const PAGES: Readonly<Record<string, Show>> = {
  '/': showSessions,
  '/sessions/:id': showSession,
  '/sessions/:id/plan': showPlan,
  '/queue': showQueue,
  '/sagas': showSagas,
  '/sagas/:id': showSaga,
  '/ledger': showLedger,
  '/catalog': showCatalog,
};

const ACTS: Readonly<Record<string, Act>> = {
  '/sessions/:id/rollback': rollBack,
  '/queue/answer': answer,
  '/queue/operate': operate,
};

const isElsewhere = (done: Page | Elsewhere): done is Elsewhere => 'location' in done;

const wantsJson = (c: Context<ConsoleEnv>): boolean =>
  c.req.query('format') === 'json' || (c.req.header('accept') ?? '').startsWith('application/json');

/** Of a page. What goes on still has a page that says so. */
const pageStatusOf = (name: string): PageStatus => {
  const status = statusOf(name);
  return PAGE_STATUSES.find((one) => one === status) ?? 502;
};

const PAGE_STATUSES = [200, 202, 400, 401, 403, 404, 409, 413, 429, 502, 503] as const;
type PageStatus = (typeof PAGE_STATUSES)[number];

/** `again`: where to sign in, when that is what is missing. */
const failurePage = ({ name, message }: Failure, again?: string): Page => ({
  title: 'That did not work',
  body: html`<section class="card stop" role="alert"><h2>${shown(name)}</h2><p>${shown(message)}</p>${
    again === undefined
      ? html`<p class="hint">${errorRow(name)?.advice ?? ''}</p>`
      : html`<p>${link(again, 'Sign in again')}</p>`
  }</section>`,
  data: { error: { name, message } },
});

/** The pages, behind a gate. */
export const createPages = ({ gate, failureOf, now = () => new Date() }: PagesOptions): Hono<ConsoleEnv> => {
  const app = new Hono<ConsoleEnv>();

  const visitOf = (c: Context<ConsoleEnv>): Visit => {
    const visitor = c.get('visitor');
    if (visitor === undefined) throw new Error('a page without a gate before it');
    return {
      ...visitor,
      now,
      isNotFound: (error) => errorRow(failureOf(error).name)?.exitCode === 'notFound',
      params: c.req.param(),
      query: c.req.query(),
    };
  };

  const send = (c: Context<ConsoleEnv>, page: Page, status: PageStatus = 200) => {
    c.header('cache-control', 'no-store');
    const viewer = c.get('visitor')?.viewer ?? NOBODY;
    return wantsJson(c) ? c.json(page.data, status) : c.html(frame(page, c.req.path, viewer), status);
  };

  app.use(gate.headers, gate.sameOrigin);
  app.get('/style.css', (c) => c.body(STYLE, 200, { 'content-type': 'text/css; charset=utf-8' }));
  gate.addRoutes(app);
  app.use(gate.signedIn);

  for (const [path, show] of Object.entries(PAGES)) {
    app.get(path, async (c) => send(c, await show(visitOf(c))));
  }

  app.get('/ledger.csv', async (c) => {
    const { csv = '' } = await visitOf(c).ask('query-ledger', {
      ...ledgerRequest(c.req.query(), dayOf(now())),
      format: 'csv',
      limit: 1000,
    });
    return c.body(csv, 200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="ledger.csv"',
      'cache-control': 'no-store',
    });
  });

  for (const [path, act] of Object.entries(ACTS)) {
    app.post(path, bodyLimit({ maxSize: MAX_FORM_BYTES }), async (c) => {
      const body = await c.req.parseBody();
      const fields = Object.fromEntries(
        Object.entries(body).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
      );
      const visit = visitOf(c);
      if (!sameSecret(fields['form_token'], visit.formToken)) {
        return c.text('This form is not of this console.', 403);
      }
      const done = await act({ ...visit, fields });
      // The address that a reload asks for again is that of a page.
      return isElsewhere(done) ? c.redirect(done.location, 303) : send(c, done);
    });
  }

  app.notFound((c) => send(c, failurePage({ name: 'NotFound', message: 'There is no such page.' }), 404));
  app.onError((error, c) => {
    const failure = failureOf(error);
    const status = pageStatusOf(failure.name);
    const { pathname, search } = new URL(c.req.url);
    const back = c.req.method === 'GET' ? pathname + search : '/';
    const again = status === 401 ? gate.signInAgain?.(back) : undefined;
    return send(c, failurePage(failure, again), status);
  });
  return app;
};

/** The console of one person of this machine. */
export const createConsole = ({
  ask,
  viewer,
  by,
  token,
  origin,
  ...more
}: ConsoleOptions): Hono<ConsoleEnv> =>
  createPages({ ...more, gate: createGate(token, origin, { ask, viewer, by }) });
