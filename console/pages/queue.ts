/** Everything that waits for a person: approvals, and compensations that failed. */

import { html } from 'hono/html';
import { isRetryable } from '../../cli/retryable.ts';
import { plural } from '../../cli/terminal/text.ts';
import type { AwaitedApproval, Observation } from '../../contract/saga-answers.ts';
import { MINUTE_MS } from '../../contract/times.ts';
import { mapAtOnce } from '../../core/shared/at-once.ts';
import type { Act, Show, Visit } from '../context.ts';
import { byHandForm, effectFields } from '../parts/by-hand.ts';
import { choice } from '../parts/choice.ts';
import { money, reference } from '../parts/ledger-tables.ts';
import { badge, facts, form, json, link, type Markup, NOTHING, path, shown, time } from '../parts/markup.ts';

const MOST = 25;
const AT_ONCE = 4;

/** `3 min`, `5 h`, `2 days`: how long something waits, or has left. */
const span = (ms: number): string => {
  const minutes = Math.max(0, Math.round(ms / MINUTE_MS));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
};

const waitsSince = ({ updatedAt }: Observation, now: Date): Markup =>
  html`${time(updatedAt)}, for ${span(now.getTime() - Date.parse(updatedAt))}`;

/** Releases before asked without them. Nobody must believe that there are none. */
const NOT_KEPT = 'The arguments were not kept when it was asked. Do not approve it unless you know them.';

const approvalPart = (seen: Observation, asked: AwaitedApproval, { formToken, now }: Visit): Markup => {
  const { sagaId } = seen;
  const hidden = {
    saga: sagaId,
    step: asked.step,
    hash: asked.argumentsHash,
    epoch: asked.epoch === undefined ? undefined : String(asked.epoch),
  };
  const left = Date.parse(asked.until) - now().getTime();
  return html`<section class="card warn"><h2>${shown(asked.tool)} ${money(asked.amount, asked.currency)} ${badge('approval', 'ask')}</h2>
    ${facts([
      ['Saga', link(path('sagas', sagaId), sagaId)],
      ['Step', shown(asked.step)],
      ['Asked for by', shown(seen.requestedBy)],
      ['Waits since', waitsSince(seen, now())],
      ['Until', html`${time(asked.until)}, ${span(left)} left`],
    ])}
    ${asked.prompt === undefined ? NOTHING : html`<p>${asked.promptBy === 'agent' ? 'The agent writes: ' : ''}${shown(asked.prompt)}</p>`}
    <h3>It will be called with</h3>${asked.arguments === undefined ? html`<p>${NOT_KEPT}</p>` : json(asked.arguments)}
    <div class="acts">${form('/queue/answer', formToken, { ...hidden, decision: 'approve' }, html`<button class="main" type="submit">Approve exactly this</button>`)}
    ${form('/queue/answer', formToken, { ...hidden, decision: 'reject' }, html`<div class="acts"><input name="note" aria-label="Why not" placeholder="Why not" maxlength="2000" /> <button class="danger" type="submit">Decline</button></div>`)}</div>
  </section>`;
};

const leftPart = (seen: Observation, { formToken, now }: Visit): Markup =>
  html`<section class="card stop"><h2>${link(path('sagas', seen.sagaId), seen.sagaId)} ${badge(seen.status)}</h2>
    ${facts([
      ['Asked for by', shown(seen.requestedBy)],
      ['Waits since', waitsSince(seen, now())],
    ])}
    ${seen.notCompensated.map((one) => {
      const hidden = effectFields(seen, one);
      return html`<h3>${shown(one.path)} ${shown(one.step)}: ${shown(one.tool)} ${money(one.amount, one.currency)}</h3>
        <p>${one.externalRef === null ? 'Without a reference' : html`Reference ${reference(one.externalRef)}`}${one.idempotencyKey === undefined ? NOTHING : html`, key <code>${shown(one.idempotencyKey)}</code>`}. ${shown(one.reason)} ${one.error === undefined || one.reason.includes(one.error.message) ? NOTHING : shown(`${one.error.name}: ${one.error.message}`)}</p>
        ${
          one.children === true
            ? NOTHING
            : one.accepted === true
              ? html`<div class="acts">${byHandForm(formToken, hidden)}</div>`
              : html`<div class="acts">${!isRetryable(one) ? NOTHING : form('/queue/operate', formToken, { ...hidden, action: 'retry' }, html`<button type="submit">Try the compensator again</button>`)}
        ${byHandForm(formToken, hidden)}
        ${form('/queue/operate', formToken, { ...hidden, action: 'skip' }, html`<div class="acts"><input name="evidence" required aria-label="Why it may stay" placeholder="Why it may stay" maxlength="2000" /> <button class="danger" type="submit">Leave it standing</button></div>`)}</div>`
        }`;
    })}
  </section>`;

/** What waits, without what there is none of. */
const waitingHint = (approvals: number, left: number) => {
  const parts = [
    ...(approvals === 0 ? [] : [plural(approvals, 'approval')]),
    ...(left === 0 ? [] : [plural(left, 'failed compensation')]),
  ];
  if (parts.length === 0) return NOTHING;
  return html`<p class="hint">${parts.join(' and ')} ${approvals + left === 1 ? 'waits' : 'wait'}.</p>`;
};

export const showQueue: Show = async (visit) => {
  const { ask } = visit;
  const [waiting, failed] = await Promise.all([
    ask('list-sagas', { status: 'AWAITING', limit: MOST }),
    ask('list-sagas', { status: 'COMPENSATION_FAILED', limit: MOST }),
  ]);
  const look = ({ sagaId }: { sagaId: string }) => ask('describe-saga', { sagaId });
  const asked = await mapAtOnce(waiting.sagas, AT_ONCE, look);
  const left = await mapAtOnce(failed.sagas, AT_ONCE, look);
  // A child that waits has a line of its own in the list. What ends first comes first.
  const approvals = asked
    .flatMap((seen) => (seen.awaiting === undefined ? [] : [{ seen, asked: seen.awaiting }]))
    .toSorted((one, other) => (one.asked.until < other.asked.until ? -1 : 1));
  const more =
    (waiting.cursor ?? failed.cursor) === undefined
      ? NOTHING
      : html`<p class="hint">There is more: work these first.</p>`;
  const body = html`${waitingHint(approvals.length, left.length)}
    ${approvals.map((one) => approvalPart(one.seen, one.asked, visit))}
    ${left.map((seen) => leftPart(seen, visit))}
    ${approvals.length + left.length === 0 ? html`<p class="empty">Nothing waits for a person.</p>` : NOTHING}${more}`;
  return { title: 'Queue', body, data: { approvals: asked, left } };
};

const text = (value: string | undefined): string | undefined => (value?.trim() === '' ? undefined : value);

const DECISIONS = ['approve', 'reject'] as const;

export const answer: Act = async ({ ask, by, fields }) => {
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
  return {
    title: 'Answered',
    body: html`<p class="card done" role="status">${first === undefined ? NOTHING : html`${first.decision === 'approve' ? 'Approved' : 'Declined'} by ${shown(first.by)} at ${time(first.at)}.`}</p>
      <p>${link(path('sagas', saga), 'The saga')} · <a href="/queue">The queue</a></p>`,
    data: answered,
  };
};

const ACTIONS = ['retry', 'resolve', 'skip'] as const;

export const operate: Act = async ({ ask, by, fields }) => {
  const { saga = '', step = '', epoch } = fields;
  const action = choice('action', fields['action'], ACTIONS);
  const evidence = text(fields['evidence']);
  await ask('operate-saga', {
    sagaId: saga,
    stepId: step,
    action,
    by,
    ...(epoch === undefined ? {} : { epoch: Number(epoch) }),
    ...(evidence === undefined ? {} : { evidence }),
  });
  return { location: path('sagas', saga) };
};
