/** The console: pages about what the functions answer. Every page works without script, and has a JSON twin. */
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { accepts } from 'hono/accepts';
import { getCookie } from 'hono/cookie';
import { isZone, UTC } from '../contract/zones.ts';
import { sameSecret } from '../core/shared/same-secret.ts';
import type { Act, Ask, DirectoryOf, Elsewhere, Show, Visit } from './context.ts';
import { type Failure, told } from './failure-words.ts';
import { fieldsOf } from './form.ts';
import { type ConsoleEnv, createGate, type Gate } from './gate.ts';
import { isAtWork, questionsOf } from './known-failures.ts';
import { refuseOtherMethods } from './methods.ts';
import { bisect, showBisect } from './pages/bisect.ts';
import { showBlame } from './pages/blame.ts';
import { showCatalog } from './pages/catalog.ts';
import { showComparison } from './pages/compare.ts';
import { openCopy } from './pages/copy.ts';
import { ledgerCsv, showLedger } from './pages/ledger.ts';
import {
  askedPage,
  failurePage,
  goingPage,
  type PageStatus,
  pageStatusOf,
  stillPage,
  waitingPage,
} from './pages/outcomes.ts';
import { rollBack, showPlan } from './pages/plan.ts';
import { answer, operate, queueCount, showQueue } from './pages/queue.ts';
import { revert } from './pages/revert.ts';
import { rewind } from './pages/rewind.ts';
import { showSaga, showSagas } from './pages/saga.ts';
import { showSearch } from './pages/search.ts';
import { showSession } from './pages/session.ts';
import { showSessions } from './pages/sessions.ts';
import { showUndo, undo } from './pages/undo.ts';
import { query } from './parts/markup.ts';
import { frame, type Page, type Viewer } from './parts/page.ts';
import { SCRIPT, ZONE_COOKIE } from './parts/script.ts';
import { STYLE } from './parts/style.ts';
import { createWork, type Outcome } from './work.ts';

interface PagesOptions {
  gate: Gate;
  /** How a failed call is described. */
  failureOf: (error: unknown) => Failure;
  now?: () => Date;
  patienceMs?: number;
  /** False: the next request may be served by another process, which knows nothing of this one. Default: true. */
  isOneProcess?: boolean;
  /** Default: no sandbox is on this machine. */
  directoryOf?: DirectoryOf;
  /** Runs around every answer, including that for an address without a page. */
  around?: MiddlewareHandler;
}

export interface ConsoleOptions extends Omit<PagesOptions, 'gate'> {
  ask: Ask;
  viewer: Viewer;
  by: string;
  /** The token of the link that lets one person in. */
  token: string;
  /** `http://127.0.0.1:PORT`. Called for each request. */
  origin: () => string;
}

const NOBODY: Viewer = { name: 'nobody is signed in', isVerified: true };

const PAGES: Readonly<Record<string, Show>> = {
  '/': showSessions,
  '/sessions/:id': showSession,
  '/sessions/:id/bisect': showBisect,
  '/queue': showQueue,
  '/queue/count': queueCount,
  '/search': showSearch,
  '/sagas': showSagas,
  '/sagas/:id': showSaga,
  '/sagas/:id/undo': showUndo,
  '/ledger': showLedger,
  '/catalog': showCatalog,
};

/** Pages that need a sandbox, and the text that is shown while they are made. */
const SLOW_PAGES: Readonly<Record<string, readonly [Show, string]>> = {
  '/sessions/:id/plan': [showPlan, 'Planning the way back'],
};

/**
 * Pages whose question has a request id. It is in the address while the question is answered, so whichever
 * process serves the next look joins it.
 */
const JOINED_PAGES: Readonly<Record<string, readonly [Show, string]>> = {
  '/sessions/:id/compare': [showComparison, 'Comparing'],
  '/sessions/:id/blame': [showBlame, 'Reading who wrote it'],
};

const ACTS: Readonly<Record<string, readonly [Act, string]>> = {
  '/sessions/:id/rollback': [rollBack, 'Rolling back'],
  '/sessions/:id/revert': [revert, 'Taking back'],
  '/sessions/:id/rewind': [rewind, 'Rewinding'],
  '/sessions/:id/copy': [openCopy, 'Building the review copy'],
  '/sessions/:id/bisect': [bisect, 'Searching for what broke it'],
  '/sagas/:id/undo': [undo, 'Telling the saga'],
  '/queue/answer': [answer, 'Answering'],
  '/queue/operate': [operate, 'Working on the saga'],
};

/** A request waits this long for the end, and then gets a page that says what is under way. */
const PATIENCE_MS = 800;

/**
 * A page that was left while it was made is made anew when it is asked for after this time. Tabs in the
 * background look once a minute.
 */
const LOOK_MS = 2 * 60_000;

/** A form belongs to the page above its address. */
const pageAbove = (path: string): string => path.replace(/\/[^/]*$/, '') || '/';

const isElsewhere = (done: Page | Elsewhere): done is Elsewhere => 'location' in done;

const wantsJson = (c: Context<ConsoleEnv>): boolean =>
  c.req.query('format') === 'json' ||
  accepts(c, { header: 'Accept', supports: ['text/html', 'application/json'], default: 'text/html' }) ===
    'application/json';

/** When the twin was asked for, the twin of the page that this leads to. */
const inFormat = (c: Context<ConsoleEnv>, { location }: Elsewhere): string =>
  c.req.query('format') === 'json' ? `${location}${location.includes('?') ? '&' : '?'}format=json` : location;

/** The script of the pages says it in a cookie. */
const zoneOf = (c: Context<ConsoleEnv>): string => {
  const zone = getCookie(c, ZONE_COOKIE);
  return zone !== undefined && isZone(zone) ? zone : UTC;
};

/** No browser and no proxy stores what people see, including refusals and the way to the sign-in. */
const notKept: MiddlewareHandler = async (c, next) => {
  await next();
  if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
};

/** The pages, behind a gate. */
export const createPages = ({
  gate,
  failureOf,
  now = () => new Date(),
  patienceMs = PATIENCE_MS,
  isOneProcess = true,
  directoryOf = async () => undefined,
  around,
}: PagesOptions): Hono<ConsoleEnv> => {
  const app = new Hono<ConsoleEnv>();
  const work = createWork({ patienceMs, now });
  const questions = questionsOf(failureOf);

  const visitOf = (c: Context<ConsoleEnv>): Visit => {
    const visitor = c.get('visitor');
    if (visitor === undefined) throw new Error('a page without a gate before it');
    return {
      ...visitor,
      now,
      directoryOf,
      ...questions,
      zone: zoneOf(c),
      params: c.req.param(),
      query: c.req.query(),
    };
  };

  const send = (c: Context<ConsoleEnv>, page: Page, status: PageStatus = 200) => {
    c.header('cache-control', 'no-store');
    const viewer = c.get('visitor')?.viewer ?? NOBODY;
    if (wantsJson(c)) return c.json(page.data, status);
    const instead = c.req.method === 'POST' ? pageAbove(c.req.path) : undefined;
    return c.html(frame(page, c.req.path, viewer, instead), status);
  };

  /** `of`: the form that began it. */
  const present = (c: Context<ConsoleEnv>, outcome: Outcome, doing: string, of = c.req.path) => {
    if (!outcome.isDone) return send(c, { place: of, ...goingPage(outcome, doing, now()) });
    // A redirect, so that a reload asks for the address of a page.
    const { result } = outcome;
    return isElsewhere(result) ? c.redirect(inFormat(c, result), 303) : send(c, { place: of, ...result });
  };

  if (around !== undefined) app.use(around);
  app.use(notKept, gate.headers, gate.sameOrigin);
  app.get('/console.js', (c) => c.body(SCRIPT, 200, { 'content-type': 'text/javascript; charset=utf-8' }));
  app.get('/style.css', (c) => c.body(STYLE, 200, { 'content-type': 'text/css; charset=utf-8' }));
  gate.addRoutes(app);
  app.use(gate.signedIn);

  for (const [path, show] of Object.entries(PAGES)) {
    app.get(path, async (c) => send(c, await show(visitOf(c))));
  }

  for (const [path, [show, doing]] of Object.entries(SLOW_PAGES)) {
    app.get(path, async (c) => {
      const visit = visitOf(c);
      // A program waits for the answer.
      if (wantsJson(c)) return send(c, await show(visit));
      const { pathname, search } = new URL(c.req.url);
      const what = ['GET', pathname, search];
      const outcome = await work.begin(visit.formToken, what, () => show(visit), LOOK_MS);
      // The next look makes it afresh.
      if (outcome.isDone) work.forget(visit.formToken, what);
      return present(c, outcome, doing);
    });
  }

  for (const [path, [show, doing]] of Object.entries(JOINED_PAGES)) {
    app.get(path, async (c) => {
      const visit = visitOf(c);
      // A program waits for the answer, and joins by the request id that it gives.
      if (wantsJson(c)) return send(c, await show(visit));
      const { request, ...question } = visit.query;
      const { pathname } = new URL(c.req.url);
      const own = request ?? `console-${crypto.randomUUID()}`;
      const at = (name: string): string => pathname + query({ ...question, request: name });
      const ask = async (): Promise<Page | Elsewhere> => {
        try {
          return await show({ ...visit, request: own });
        } catch (error) {
          if (failureOf(error).name !== 'StillRunning') throw error;
          return { location: at(own) };
        }
      };
      const what = ['GET', pathname, query(question)];
      const outcome = await work.begin(visit.formToken, what, ask, LOOK_MS, own);
      if (outcome.isDone) work.forget(visit.formToken, what);
      const result = outcome.isDone ? outcome.result : { location: at(outcome.name) };
      if (!isElsewhere(result)) return send(c, result);
      // From now on the address contains the request id.
      if (result.location !== at(request ?? '')) return c.redirect(result.location, 303);
      return outcome.isDone ? send(c, askedPage(doing), 202) : present(c, outcome, doing);
    });
  }

  app.get('/work/:id', async (c) => {
    const { formToken, params, query } = visitOf(c);
    const outcome = await work.look(formToken, params['id'] ?? '');
    if (outcome === undefined) {
      return send(
        c,
        failurePage({
          name: 'NotFound',
          message:
            'Results are kept for ten minutes, or until the console stops. The pages of sessions and sagas show their state.',
        }),
        404,
      );
    }
    return present(c, outcome, ACTS[query['of'] ?? '']?.[1] ?? 'Working', query['of']);
  });

  app.get('/ledger.csv', async (c) => {
    const csv = await ledgerCsv(visitOf(c).ask, c.req.query(), now());
    return c.body(csv, 200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="ledger.csv"',
      'cache-control': 'no-store',
    });
  });

  for (const [path, [act, doing]] of Object.entries(ACTS)) {
    app.post(path, async (c) => {
      const fields = await fieldsOf(c);
      const visit = visitOf(c);
      if (!sameSecret(fields['form_token'], visit.formToken)) {
        return c.text('This form belongs to another console session.', 403);
      }
      const what = ['POST', c.req.path, JSON.stringify(fields)];
      const run = () => act({ ...visit, fields });
      /** A search that needs more than one call of its function goes on in the next. */
      const runToTheEnd = async (): Promise<Page | Elsewhere> => {
        for (;;) {
          try {
            return await run();
          } catch (error) {
            if (fields['request'] === undefined || failureOf(error).name !== 'StillRunning') throw error;
          }
        }
      };
      const at = (id: string): string => `/work/${id}${query({ of: path })}`;
      // A redirect: a browser can go back to a page and reload it, but would ask before it sends a form
      // again.
      if (isOneProcess && !wantsJson(c))
        return c.redirect(at(work.start(visit.formToken, what, runToTheEnd)), 303);
      let outcome: Outcome;
      try {
        outcome = await work.begin(visit.formToken, what, run);
      } catch (error) {
        if (failureOf(error).name !== 'StillRunning') throw error;
        return send(c, stillPage(c.req.path, doing, fields), 202);
      }
      return outcome.isDone
        ? present(c, outcome, '')
        : c.redirect(inFormat(c, { location: at(outcome.id) }), 303);
    });
  }

  refuseOtherMethods(app, (c, takes) =>
    send(
      c,
      failurePage({ name: 'MethodNotAllowed', message: `This address takes ${takes}. Nothing was done.` }),
      405,
    ),
  );
  app.notFound((c) => send(c, failurePage({ name: 'NotFound', message: 'There is no such page.' }), 404));
  app.onError((error, c) => {
    const failure = told(failureOf(error));
    const status = pageStatusOf(failure.name);
    const { pathname, search } = new URL(c.req.url);
    const isPage = c.req.method === 'GET' && !pathname.startsWith('/work/');
    if (isPage && isAtWork(failure)) return send(c, waitingPage(failure), status);
    const back = c.req.method === 'GET' ? pathname + search : pageAbove(pathname);
    const again = status === 401 ? gate.signInAgain?.(back) : undefined;
    return send(c, failurePage(failure, again, pathname), status);
  });
  return app;
};

/** The console for one person of this machine. */
export const createConsole = ({
  ask,
  viewer,
  by,
  token,
  origin,
  ...more
}: ConsoleOptions): Hono<ConsoleEnv> =>
  createPages({ ...more, gate: createGate(token, origin, { ask, viewer, by }) });
