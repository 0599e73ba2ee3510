/**
 * Records, with evidence, what a person undid at the provider: a compensation that failed, or an effect that
 * was left standing.
 */
import { html } from 'hono/html';
import type { Observation } from '../../contract/saga-observation.ts';
import { form, type Markup } from './markup.ts';

/** The fields that say what a form is about. In a rewound saga, a step may have had an effect in each epoch. */
export const effectFields = (
  { sagaId, epoch }: Pick<Observation, 'sagaId' | 'epoch'>,
  one: Observation['notCompensated'][number],
): { saga: string; step: string; epoch?: string } => ({
  saga: one.sagaId ?? sagaId,
  step: one.step,
  ...(epoch === undefined || one.sagaId !== undefined ? {} : { epoch: String(one.epoch ?? 0) }),
});

export const byHandForm = (formToken: string, effect: ReturnType<typeof effectFields>): Markup =>
  form(
    '/queue/operate',
    formToken,
    { ...effect, action: 'resolve' },
    html`<div class="acts"><input name="evidence" required aria-label="Evidence" placeholder="What was done, and where to see it" maxlength="2000" size="36" /> <button type="submit">Undone by hand</button></div>`,
  );
