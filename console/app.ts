/** The console: pages over what the functions answer. Every page works without script, and has a JSON twin. */
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { html } from 'hono/html';
import { errorRow } from '../contract/errors.ts';
import type { Act, Ask, Elsewhere, Show, Visit } from './context.ts';
import { createGate, headers } from './gate.ts';
import { showCatalog } from './pages/catalog.ts';
import { dayOf, ledgerRequest, showLedger } from './pages/ledger.ts';
import { rollBack, showPlan } from './pages/plan.ts';
import { answer, operate, showQueue } from './pages/queue.ts';
import { showSaga, showSagas } from './pages/saga.ts';
import { showSession } from './pages/session.ts';
import { showSessions } from './pages/sessions.ts';
import { shown } from './parts/markup.ts';
import { frame, type Page, type Viewer } from './parts/page.ts';
import { STYLE } from './parts/style.ts';

/** A form is short. */
const MAX_FORM_BYTES = 64 * 1024;

interface Failure {
  name: string;
  message: string;
}

export interface ConsoleOptions {
  ask: Ask;
  /** How a failed call is told. */
  failureOf: (error: unknown) => Failure;
  viewer: Viewer;
  by: string;
  /** Of the link that lets one person in. */
  token: string;
  /** `http://127.0.0.1:PORT`; called with each request. */
  origin: () => string;
  now?: () => Date;
}

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

const wantsJson = (c: Context): boolean =>
  c.req.query('format') === 'json' || (c.req.header('accept') ?? '').startsWith('application/json');

/** What the person can do about it decides the status: 404 nothing there, 409 refused, 502 a fault. */
const statusOf = (name: string): 400 | 404 | 409 | 502 => {
  const row = errorRow(name);
  if (row === undefined || row.kind === 'fault') return 502;
  return row.exitCode === 'notFound' ? 404 : row.exitCode === 'usage' ? 400 : 409;
};

const failurePage = ({ name, message }: Failure): Page => ({
  title: 'That did not work',
  body: html`<section class="card stop" role="alert"><h2>${shown(name)}</h2><p>${shown(message)}</p><p class="hint">${errorRow(name)?.advice ?? ''}</p></section>`,
  data: { error: { name, message } },
});

export const createConsole = (options: ConsoleOptions): Hono => {
  const { ask, failureOf, viewer, by, now = () => new Date() } = options;
  const gate = createGate(options.token, options.origin);
  const app = new Hono();

  const visitOf = (c: Context): Visit => ({
    ask,
    viewer,
    by,
    formToken: gate.formToken,
    now,
    isNotFound: (error) => errorRow(failureOf(error).name)?.exitCode === 'notFound',
    params: c.req.param(),
    query: c.req.query(),
  });

  const send = (c: Context, page: Page, status: 200 | 400 | 404 | 409 | 502 = 200) => {
    c.header('cache-control', 'no-store');
    return wantsJson(c) ? c.json(page.data, status) : c.html(frame(page, c.req.path, viewer), status);
  };

  app.use(headers(), gate.sameOrigin);
  app.get('/style.css', (c) => c.body(STYLE, 200, { 'content-type': 'text/css; charset=utf-8' }));
  app.get('/enter', gate.enter);
  app.use(gate.signedIn);

  for (const [path, show] of Object.entries(PAGES)) {
    app.get(path, async (c) => send(c, await show(visitOf(c))));
  }

  app.get('/ledger.csv', async (c) => {
    const { csv = '' } = await ask('query-ledger', {
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
      if (!gate.isFormToken(fields['form_token'])) return c.text('This form is not of this console.', 403);
      const done = await act({ ...visitOf(c), fields });
      // The address that a reload asks for again is that of a page.
      return isElsewhere(done) ? c.redirect(done.location, 303) : send(c, done);
    });
  }

  app.notFound((c) => send(c, failurePage({ name: 'NotFound', message: 'There is no such page.' }), 404));
  app.onError((error, c) => {
    const failure = failureOf(error);
    return send(c, failurePage(failure), statusOf(failure.name));
  });
  return app;
};
