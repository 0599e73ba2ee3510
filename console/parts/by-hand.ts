/** What a person undid at the provider is recorded with evidence: of a compensation that failed, or of what was left standing. */
import { html } from 'hono/html';
import { form, type Markup } from './markup.ts';

export const byHandForm = (formToken: string, effect: { saga: string; step: string }): Markup =>
  form(
    '/queue/operate',
    formToken,
    { ...effect, action: 'resolve' },
    html`<div class="acts"><input name="evidence" required aria-label="Evidence" placeholder="What was done, and where to see it" maxlength="2000" size="36" /> <button type="submit">Undone by hand</button></div>`,
  );
