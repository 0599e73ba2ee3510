/** Everything that waits for a person: approvals, sagas that nobody continues, and compensations that failed. */

import { html } from 'hono/html';
import type { AwaitedApproval, Observation } from '../../contract/saga-observation.ts';
import { MINUTE_MS } from '../../contract/times.ts';
import { mapAtOnce } from '../../core/shared/at-once.ts';
import { plural } from '../../core/shared/plural.ts';
import { nextForPeople } from '../../present/saga-next.ts';
import { sagaTitle } from '../../present/saga-words.ts';
import type { Act, Show, Visit } from '../context.ts';
import { type Further, failedData, failedPart, further, never } from '../further.ts';
import { alertPart } from '../parts/alert.ts';
import { choice } from '../parts/choice.ts';
import { money } from '../parts/ledger-tables.ts';
import { badge, facts, link, type Markup, NOTHING, path, query, shown, time } from '../parts/markup.ts';
import { warningsPart } from '../parts/plan-parts.ts';
import { answerPart, repairsPart } from '../parts/saga-acts.ts';
import { stepsPart } from '../parts/saga-steps.ts';
import { toldSaga } from '../parts/told-saga.ts';
import { waitText } from '../parts/waits.ts';

const MOST = 25;
const AT_ONCE = 4;

/** `3 min`, `5 h`, `2 days`: how long something waits, or has left. */
const span = (ms: number): string => {
  const minutes = Math.max(0, Math.round(ms / MINUTE_MS));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : plural(Math.round(hours / 24), 'day');
};

const waitsSince = ({ updatedAt }: Observation, now: Date): Markup =>
  html`${time(updatedAt, 'clock')}, for ${span(now.getTime() - Date.parse(updatedAt))}`;

const approvalPart = (seen: Observation, asked: AwaitedApproval, { formToken, now }: Visit): Markup => {
  const { sagaId } = seen;
  const left = Date.parse(asked.until) - now().getTime();
  return html`<section class="card warn"><h2>${shown(asked.tool)} ${money(asked.amount, asked.currency)} ${badge('approval', 'ask')}</h2>
    ${facts([
      ['Saga', link(path('sagas', sagaId), sagaTitle(seen))],
      ['Step', shown(asked.step)],
      ['Asked for by', shown(seen.requestedBy)],
      ['Waiting since', waitsSince(seen, now())],
      ['Until', html`${time(asked.until, 'clock')}, ${span(left)} left`],
    ])}
    ${answerPart(seen, asked, formToken)}
  </section>`;
};

const leftPart = (seen: Observation, { formToken, now }: Visit): Markup =>
  html`<section class="card stop"><h2>${link(path('sagas', seen.sagaId), sagaTitle(seen))} ${badge(seen.status)}</h2>
    ${facts([
      ['Asked for by', shown(seen.requestedBy)],
      ['Waiting since', waitsSince(seen, now())],
    ])}
    ${alertPart(seen)}
    ${repairsPart(seen, formToken)}
  </section>`;

/** The saga's agent did not go on. Its page shows what can be done. */
const idlePart = (seen: Observation, { now }: Visit): Markup =>
  html`<section class="card warn"><h2>${link(path('sagas', seen.sagaId), sagaTitle(seen))} ${badge('no next step', 'ask')}</h2>
    ${facts([
      ['Asked for by', shown(seen.requestedBy)],
      ['Waiting since', waitsSince(seen, now())],
    ])}
    <p>${waitText(seen) ?? NOTHING}</p>
  </section>`;

/** What waits, without the kinds of which there is none. */
const waitingHint = (counts: { approvals: number; idle: number; left: number }) => {
  const { approvals, idle, left } = counts;
  const parts = [
    ...(approvals === 0 ? [] : [plural(approvals, 'approval')]),
    ...(idle === 0 ? [] : [`${plural(idle, 'saga')} without a next step`]),
    ...(left === 0 ? [] : [plural(left, 'failed compensation')]),
  ];
  if (parts.length === 0) return NOTHING;
  const named =
    parts.length < 3 ? parts.join(' and ') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
  return html`<p class="hint">${named} ${approvals + idle + left === 1 ? 'waits' : 'wait'}.</p>`;
};

interface Broken {
  sagaId: string;
  broken: string;
}

/** Nothing else about the saga is shown, because it might not be true. */
const brokenPart = ({ sagaId, broken }: Broken): Markup =>
  html`<section class="card stop"><h2>${link(path('sagas', sagaId), sagaId)} ${badge('not as it was written', 'bad')}</h2><p>${shown(broken)}</p></section>`;

/** A broken saga does not hide the others. Undefined: it was removed since it was listed. */
const look = async (visit: Visit, sagaId: string): Promise<Observation | Broken | undefined> => {
  try {
    return await visit.ask('describe-saga', { sagaId, subject: true });
  } catch (error) {
    const broken = visit.brokenBy(error);
    if (broken !== undefined) return { sagaId, broken };
    if (visit.isNotFound(error) && !visit.query['saga']) return undefined;
    throw error;
  }
};

interface Listed {
  sagas: readonly { sagaId: string }[];
  cursor?: string | undefined;
}

/**
 * One page of each list, or a single saga. When only one of the lists continues, the other is not read again
 * from the start.
 */
const readLists = async ({ ask, query: { saga, awaiting, failed } }: Visit): Promise<[Listed, Listed]> => {
  if (saga) return [{ sagas: [{ sagaId: saga }] }, { sagas: [] }];
  const isFurther = Boolean(awaiting) || Boolean(failed);
  const read = async (
    status: 'AWAITING' | 'COMPENSATION_FAILED',
    cursor: string | undefined,
  ): Promise<Listed> => {
    if (isFurther && !cursor) return { sagas: [] };
    return ask('list-sagas', { status, limit: MOST, ...(cursor ? { cursor } : {}) });
  };
  return Promise.all([read('AWAITING', awaiting), read('COMPENSATION_FAILED', failed)]);
};

interface Asked {
  asked: AwaitedApproval;
}

const byDeadline = (one: Asked, other: Asked): number =>
  one.asked.until === other.asked.until ? byAmount(one, other) : one.asked.until < other.asked.until ? -1 : 1;

/** The largest first; currencies are not compared by their worth. */
const byAmount = (one: Asked, other: Asked): number =>
  Math.abs(Number(other.asked.amount ?? 0)) - Math.abs(Number(one.asked.amount ?? 0));

const orderPart = (asked: Visit['query'], approvals: number): Markup => {
  const by = asked['order'] === 'amount' ? 'amount' : 'deadline';
  const to = (order: string, words: string): Markup =>
    html`<a href="/queue${query({ ...asked, order: order === 'deadline' ? undefined : order, format: undefined })}"${order === by ? html` aria-current="true"` : NOTHING}>${words}</a>`;
  return approvals < 2
    ? NOTHING
    : html`<nav class="scopes" aria-label="Order of approvals">${to('deadline', 'Next deadline first')}${to('amount', 'Largest amount first')}</nav>`;
};

/** How much waits for a person, for the navigation: of each kind as many as one page has. */
export const queueCount: Show = async ({ ask }) => {
  const lists = await Promise.all(
    (['AWAITING', 'COMPENSATION_FAILED'] as const).map((status) =>
      ask('list-sagas', { status, limit: MOST }),
    ),
  );
  const count = lists.reduce((sum, { sagas }) => sum + sagas.length, 0);
  const hasMore = lists.some(({ cursor }) => cursor !== undefined);
  return {
    title: 'Queue',
    body: html`<p>${count}${hasMore ? ' or more' : ''}</p>`,
    data: { count, hasMore },
  };
};

export const showQueue: Show = async (visit) => {
  const { query: asked } = visit;
  const [waiting, failed] = await readLists(visit);
  // A saga that failed while the lists were read is in both.
  const sagaIds = new Set([...waiting.sagas, ...failed.sagas].map(({ sagaId }) => sagaId));
  const found = await mapAtOnce([...sagaIds], AT_ONCE, (sagaId) => look(visit, sagaId));
  const seen = found.flatMap((one) => (one === undefined || 'broken' in one ? [] : [one]));
  const broken = found.flatMap((one) => (one !== undefined && 'broken' in one ? [one] : []));
  // A child that waits has its own line in the list. What ends first comes first.
  const approvals = seen
    .flatMap((one) => (one.awaiting === undefined ? [] : [{ seen: one, asked: one.awaiting }]))
    .toSorted(asked['order'] === 'amount' ? byAmount : byDeadline);
  const idle = seen.filter((one) => one.awaiting === undefined && one.interactive?.asked === true);
  const left = seen.filter(({ status }) => status === 'COMPENSATION_FAILED');
  const count = approvals.length + idle.length + left.length + broken.length;
  const { cursor: awaiting } = waiting;
  const hasMore = (awaiting ?? failed.cursor) !== undefined;
  const isPart = Boolean(asked['saga']) || Boolean(asked['awaiting']) || Boolean(asked['failed']);
  const body = html`${orderPart(asked, approvals.length)}${waitingHint({ approvals: approvals.length, idle: idle.length, left: left.length })}
    ${approvals.map((one) => approvalPart(one.seen, one.asked, visit))}
    ${idle.map((one) => idlePart(one, visit))}
    ${left.map((one) => leftPart(one, visit))}
    ${broken.map(brokenPart)}
    ${count > 0 ? NOTHING : html`<p class="empty">${isPart || hasMore ? 'Nothing here waits for a person.' : 'Nothing waits for a person.'}</p>`}
    ${
      isPart || hasMore
        ? html`<p class="acts">${hasMore ? html`<a class="button" href="/queue${query({ awaiting, failed: failed.cursor, order: asked['order'] })}">More that waits</a>` : NOTHING}${isPart ? html`<a href="/queue">The whole queue</a>` : NOTHING}</p>`
        : NOTHING
    }`;
  return {
    title: 'Queue',
    body,
    data: {
      approvals: seen.filter(({ status }) => status === 'AWAITING'),
      left,
      ...(broken.length === 0 ? {} : { broken }),
      ...(hasMore ? { awaiting, failed: failed.cursor } : {}),
    },
  };
};

const text = (value: string | undefined): string | undefined => (value?.trim() === '' ? undefined : value);

/** An undo of a few effects mostly takes less. */
const WAIT_SECONDS = 5;

/** Where the saga stands after the answer, which is recorded whether or not this can be told. */
const lookAfter = (visit: Visit, sagaId: string): Promise<Further<Observation>> =>
  further(visit, visit.ask('describe-saga', { sagaId, subject: true, waitSeconds: WAIT_SECONDS }), never);

const afterPart = (after: Further<Observation>): Markup =>
  after.read === undefined
    ? failedPart('What happened next', after, 'The answer is recorded.')
    : html`<h2>What happened next</h2><p>${badge(after.read.status)} ${shown(nextForPeople(after.read))}</p>${stepsPart(after.read)}`;

const DECISIONS = ['approve', 'reject'] as const;

export const answer: Act = async (sent) => {
  const { ask, by, fields } = sent;
  const { saga = '', step = '', decision, hash, epoch } = fields;
  const note = text(fields['note']);
  const answered = await ask('answer', {
    sagaId: saga,
    stepId: step,
    decision: choice('decision', decision, DECISIONS),
    by,
    ...(hash === undefined ? {} : { argumentsHash: hash }),
    ...(epoch === undefined ? {} : { epoch: Number(epoch) }),
    ...(note === undefined ? {} : { note }),
  });
  const first = answered.answered;
  const after = await lookAfter(sent, saga);
  return {
    title: 'Answered',
    body: html`<p class="card done" role="status">${first.decision === 'approve' ? 'Approved' : 'Declined'} by ${shown(first.by)} at ${time(first.at, 'clock')}.</p>${warningsPart(answered.warnings ?? [])}
      ${afterPart(after)}
      <p>${link(path('sagas', saga), after.read === undefined ? 'The saga' : sagaTitle(after.read))} · <a href="/queue">The queue</a></p>`,
    data: { ...answered, ...failedData({ after }) },
  };
};

const ACTIONS = ['retry', 'resolve', 'skip'] as const;

export const operate: Act = async ({ ask, by, fields }) => {
  const { saga = '', step = '', epoch } = fields;
  const action = choice('action', fields['action'], ACTIONS);
  const evidence = text(fields['evidence']);
  const operated = await ask('operate-saga', {
    sagaId: saga,
    stepId: step,
    action,
    by,
    ...(epoch === undefined ? {} : { epoch: Number(epoch) }),
    ...(evidence === undefined ? {} : { evidence }),
  });
  return toldSaga(operated);
};
