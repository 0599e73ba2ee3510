/** What people do about a saga, in the queue and on its own page: answer an approval, repair what is left. */
import { html } from 'hono/html';
import type { AwaitedApproval, Observation } from '../../contract/saga-observation.ts';
import { declineText, isRetryable } from '../../present/saga-words.ts';
import { argumentsPart } from './arguments.ts';
import { byHandForm, effectFields } from './by-hand.ts';
import { money, reference } from './ledger-tables.ts';
import { form, type Markup, NOTHING, said, shown } from './markup.ts';

/** The exact call, what declining does, and the two answers. */
export const answerPart = (seen: Observation, asked: AwaitedApproval, formToken: string): Markup => {
  const hidden = {
    saga: seen.sagaId,
    step: asked.step,
    hash: asked.argumentsHash,
    epoch: asked.epoch === undefined ? undefined : String(asked.epoch),
  };
  return html`${asked.prompt === undefined ? NOTHING : html`<p>${asked.promptBy === 'agent' ? 'The agent writes: ' : ''}${shown(asked.prompt)}</p>`}
    <h3>It will be called with</h3>${argumentsPart(asked.arguments)}
    <p>${shown(declineText(seen))}</p>
    <div class="acts">${form('/queue/answer', formToken, { ...hidden, decision: 'approve' }, html`<button class="main" type="submit">Approve exactly this</button>`)}
    ${form('/queue/answer', formToken, { ...hidden, decision: 'reject' }, html`<div class="acts"><input name="note" aria-label="Reason" placeholder="Reason" maxlength="2000" /> <button class="danger" type="submit">Decline</button></div>`)}</div>`;
};

type Left = Observation['notCompensated'][number];

const formsFor = (seen: Observation, one: Left, formToken: string): Markup => {
  if (one.children === true) return NOTHING;
  const hidden = effectFields(seen, one);
  if (one.accepted === true) return html`<div class="acts">${byHandForm(formToken, hidden)}</div>`;
  return html`<div class="acts">${!isRetryable(one) ? NOTHING : form('/queue/operate', formToken, { ...hidden, action: 'retry' }, html`<button type="submit">Try the compensator again</button>`)}
    ${byHandForm(formToken, hidden)}
    ${form('/queue/operate', formToken, { ...hidden, action: 'skip' }, html`<div class="acts"><input name="evidence" required aria-label="Reason" placeholder="Reason" maxlength="2000" /> <button class="danger" type="submit">Accept as is</button></div>`)}</div>`;
};

/** Each effect that could not be undone, with what can be done about it. */
export const repairsPart = (seen: Observation, formToken: string): Markup =>
  html`${seen.notCompensated.map(
    (
      one,
    ) => html`<h3>${shown(one.path)} ${shown(one.step)}: ${shown(one.tool)} ${money(one.amount, one.currency)}</h3>
        <p>${one.externalRef === null && one.externalUrl === undefined ? 'Without a reference' : html`Reference ${reference(one.externalRef, one.externalUrl)}`}${one.idempotencyKey === undefined ? NOTHING : html`, key <code>${shown(one.idempotencyKey)}</code>`}. ${said(one.reason)} ${one.error === undefined || one.reason.includes(one.error.message) ? NOTHING : said(`${one.error.name}: ${one.error.message}`)}</p>
        ${formsFor(seen, one, formToken)}`,
  )}`;
