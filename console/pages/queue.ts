/** Everything that waits for a person: approvals, and compensations that failed. */
import { html } from 'hono/html';
import { plural } from '../../cli/terminal/text.ts';
import type { AwaitedApproval, Observation } from '../../contract/saga-answers.ts';
import { mapAtOnce } from '../../core/shared/at-once.ts';
import type { Act, Show, Visit } from '../context.ts';
import { badge, form, json, link, type Markup, NOTHING, path, shown, time } from '../parts/markup.ts';

const MOST = 25;
const AT_ONCE = 4;

const approvalPart = (sagaId: string, asked: AwaitedApproval, { formToken }: Visit): Markup => {
  const hidden = {
    saga: sagaId,
    step: asked.step,
    hash: asked.argumentsHash,
    epoch: asked.epoch === undefined ? undefined : String(asked.epoch),
  };
  return html`<section class="card warn"><h2>${shown(asked.tool)} ${badge('approval', 'ask')}</h2>
    <p>${link(path('sagas', sagaId), sagaId)}, step ${shown(asked.step)}, until ${time(asked.until)}</p>
    ${asked.prompt === undefined ? NOTHING : html`<p>${asked.promptBy === 'agent' ? 'The agent writes: ' : ''}${shown(asked.prompt)}</p>`}
    <h3>It will be called with</h3>${json(asked.arguments ?? {})}
    ${form('/queue/answer', formToken, { ...hidden, decision: 'approve' }, html`<button class="main" type="submit">Approve exactly this</button>`)}
    ${form('/queue/answer', formToken, { ...hidden, decision: 'reject' }, html`<input name="note" aria-label="Why not" placeholder="Why not" maxlength="2000" /> <button class="danger" type="submit">Decline</button>`)}
  </section>`;
};

const leftPart = (seen: Observation, { formToken }: Visit): Markup =>
  html`<section class="card stop"><h2>${link(path('sagas', seen.sagaId), seen.sagaId)} ${badge(seen.status)}</h2>
    ${seen.notCompensated.map((one) => {
      const saga = one.sagaId ?? seen.sagaId;
      const hidden = { saga, step: one.step };
      return html`<h3>${shown(one.path)} ${shown(one.step)}: ${shown(one.tool)}</h3>
        <p>${one.externalRef === null ? 'Without a reference' : html`Reference ${shown(one.externalRef)}`}${one.idempotencyKey === undefined ? NOTHING : html`, key <code>${shown(one.idempotencyKey)}</code>`}. ${shown(one.reason)}</p>
        ${form('/queue/operate', formToken, { ...hidden, action: 'retry' }, html`<button type="submit">Try the compensator again</button>`)}
        ${form('/queue/operate', formToken, { ...hidden, action: 'resolve' }, html`<input name="evidence" required aria-label="Evidence" placeholder="What was done, and where it can be seen" maxlength="2000" /> <button type="submit">Undone by hand</button>`)}
        ${form('/queue/operate', formToken, { ...hidden, action: 'skip' }, html`<input name="evidence" required aria-label="Reason" placeholder="Why it stays" maxlength="2000" /> <button class="danger" type="submit">Leave it standing</button>`)}`;
    })}</section>`;

export const showQueue: Show = async (visit) => {
  const { ask } = visit;
  const [waiting, failed] = await Promise.all([
    ask('list-sagas', { status: 'AWAITING', limit: MOST }),
    ask('list-sagas', { status: 'COMPENSATION_FAILED', limit: MOST }),
  ]);
  const look = ({ sagaId }: { sagaId: string }) => ask('describe-saga', { sagaId });
  const asked = await mapAtOnce(waiting.sagas, AT_ONCE, look);
  const left = await mapAtOnce(failed.sagas, AT_ONCE, look);
  // A child that waits has a line of its own in the list.
  const approvals = asked.flatMap(({ sagaId, awaiting }) =>
    awaiting === undefined ? [] : [{ sagaId, asked: awaiting }],
  );
  const more =
    (waiting.cursor ?? failed.cursor) === undefined
      ? NOTHING
      : html`<p class="hint">There is more: work these first.</p>`;
  const body = html`<p class="hint">${plural(approvals.length, 'approval')} and ${plural(left.length, 'failed compensation')} wait.</p>
    ${approvals.map((one) => approvalPart(one.sagaId, one.asked, visit))}
    ${left.map((seen) => leftPart(seen, visit))}
    ${approvals.length + left.length === 0 ? html`<p class="empty">Nothing waits for a person.</p>` : NOTHING}${more}`;
  return { title: 'Queue', body, data: { approvals: asked, left } };
};

const text = (value: string | undefined): string | undefined => (value?.trim() === '' ? undefined : value);

export const answer: Act = async ({ ask, by, fields }) => {
  const { saga = '', step = '', decision, hash, epoch } = fields;
  const note = text(fields['note']);
  const answered = await ask('answer', {
    sagaId: saga,
    stepId: step,
    decision: decision === 'approve' ? 'approve' : 'reject',
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
  const { saga = '', step = '' } = fields;
  const action = ACTIONS.find((one) => one === fields['action']) ?? 'retry';
  const evidence = text(fields['evidence']);
  await ask('operate-saga', {
    sagaId: saga,
    stepId: step,
    action,
    by,
    ...(evidence === undefined ? {} : { evidence }),
  });
  return { location: path('sagas', saga) };
};
