/** The console in process: over answers by name, with a cookie for whoever came in. */
import { describeFailure } from '../../cli/failure.ts';
import { createConsole } from '../../console/app.ts';
import type { Ask } from '../../console/context.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { listedSession } from './listed-session.ts';

export const ORIGIN = 'http://127.0.0.1:4500';
export const NASTY = '<img src=x onerror=alert(1)>"\'\u202egnp.exe\u0007';

export const session = (sessionId: string) =>
  listedSession(sessionId, {
    headCheckpointId: 'cp-00000001-0123abcd',
    projectsRoot: `/root/${NASTY}`,
    metadata: { agent: NASTY },
    expiresAt: 1_800_000_000,
  });

export const NO_SAGA = { 'list-sagas': () => ({ sagas: [] }) };

interface Call {
  name: string;
  input: unknown;
}

interface FetchInit {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  form?: Record<string, string>;
}

/** What pages of a session ask beside. */
const QUIET: Readonly<Record<string, () => unknown>> = { progress: () => ({ progress: null }) };

/** Answers by name; what is not there is a fault. */
export const made = (
  answers: Readonly<Record<string, (input: never) => unknown>>,
  {
    origin = ORIGIN,
    ...more
  }: {
    patienceMs?: number;
    isOneProcess?: boolean;
    origin?: string;
    now?: () => Date;
    directoryOf?: (sandboxId: string, path: string) => Promise<string | undefined>;
  } = {},
) => {
  const calls: Call[] = [];
  const ask = (async (name: string, input: never) => {
    calls.push({ name, input });
    const answer = answers[name] ?? QUIET[name];
    if (answer === undefined) throw new WalkbackError('InternalError', `nobody answers ${name}`);
    return answer(input);
  }) as Ask;
  const app = createConsole({
    ask,
    failureOf: describeFailure,
    viewer: { name: NASTY, isVerified: false },
    by: 'rita',
    token: 'the-link',
    origin: () => origin,
    ...more,
  });
  const fetchOnly = async (path: string, { headers, form, ...init }: FetchInit = {}) =>
    app.request(`${origin}${path}`, {
      ...init,
      headers: { host: new URL(origin).host, ...headers },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
  /** With what a form leads to: what it began, and where its plan is told. */
  const fetchPage = async (path: string, init: FetchInit = {}) => {
    let answer = await fetchOnly(path, init);
    for (;;) {
      const place = answer.headers.get('location') ?? '';
      const isOfForm = /^\/work\/|[?&](?:request|confirmed)=/.test(place);
      if (!isOfForm || (init.form === undefined && !path.startsWith('/work/'))) return answer;
      answer = await fetchOnly(place, { headers: init.headers ?? {} });
    }
  };
  const enter = async () => {
    const entered = await fetchPage('/enter?token=the-link');
    const [cookie = ''] = (entered.headers.get('set-cookie') ?? '').split(';');
    return { cookie };
  };
  return { calls, fetchPage, fetchOnly, enter };
};

export const tokenIn = (text: string): string => /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? '';
