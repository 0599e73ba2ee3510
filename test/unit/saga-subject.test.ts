/** What a saga is called, and what declining its approval undoes. */
import { describe, expect, test } from 'vitest';
import type { Observation } from '../../contract/saga-observation.ts';
import type { LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import { subjectOf } from '../../core/saga/view/subject.ts';
import { declineText, sagaTitle } from '../../present/saga-words.ts';

const base = { sagaId: 's', at: '2026-01-02T10:00:00.000Z', actor: 'engine', prevHash: '', hash: '' };
const step = (tool: string) => ({ stepIndex: 0, step: tool, tool, version: '1', epoch: 0 });
const entries = (...facts: object[]): LedgerEntry[] =>
  facts.map((fact, seq) => ({ ...base, seq, ...fact }) as unknown as LedgerEntry);
const started = (tool: string, given: object) => ({
  direction: 'forward',
  status: 'started',
  ...step(tool),
  arguments: given,
});
const committed = (tool: string, more: object) => ({
  direction: 'forward',
  status: 'committed',
  ...step(tool),
  ...more,
});

describe('the title of a saga', () => {
  const title = (definition: string | undefined, ...facts: object[]): string => {
    const subject = subjectOf(entries(...facts));
    return sagaTitle({ sagaId: 'saga-1', definition, subject });
  };

  test('has the template, what was moved, and what it is about', () => {
    expect(
      title(
        'refund@2',
        started('verify_return', { orderId: '2001', note: 'broken' }),
        committed('verify_return', {}),
        started('issue_refund', { paymentIntent: 'pi_1', amount: 25_000 }),
        committed('issue_refund', { amount: '250.00', currency: 'EUR', externalRef: 're_1' }),
        committed('open_ticket', { externalRef: 't_1' }),
      ),
    ).toBe('Refund 250.00 EUR, order 2001');
  });

  test.each<[string, string, string | undefined, object[]]>([
    [
      'the tool without a template',
      'Issue refund 5.00 EUR, re_1',
      undefined,
      [committed('issue_refund', { amount: '5.00', currency: 'EUR', externalRef: 're_1' })],
    ],
    [
      'the reference of what took effect first',
      'Open ticket, t_1',
      undefined,
      [started('look', {}), committed('open_ticket', { externalRef: 't_1' })],
    ],
    [
      'what an approval would move',
      'Pay 9.00 EUR, invoice 7',
      undefined,
      [
        {
          direction: 'approval',
          status: 'requested',
          ...step('pay'),
          arguments: { invoice_number: 7 },
          amount: '9.00',
          currency: 'EUR',
        },
      ],
    ],
    ['a bare id as it is', 'Cancel, 12', undefined, [started('cancel', { id: 12 })]],
    ['the template alone where nothing has begun', 'Refund approved', 'refund-approved@1', []],
    ['the id of the saga where nothing is known', 'saga-1', undefined, []],
    // Not an id: too long, or not a text.
    ['no long text', 'Call', undefined, [started('call', { orderId: 'x'.repeat(65), userId: { a: 1 } })]],
  ])('has %s', (_, words, definition, facts) => {
    expect(title(definition, ...facts)).toBe(words);
  });
});

describe('what declining does', () => {
  const seen = (more: object): Observation =>
    ({ committed: [], notCompensated: [], ...more }) as unknown as Observation;
  const refund = {
    step: 'refund',
    tool: 'issue_refund',
    externalRef: 're_1',
    amount: '50.15',
    currency: 'EUR',
  };

  test('is said with the amounts that it undoes', () => {
    expect(declineText(seen({ committed: [refund] }))).toBe(
      'This saga already did issue_refund 50.15 EUR (re_1). Declining undoes it, as far as anything can.',
    );
    expect(declineText(seen({}))).toBe('This saga has done nothing yet. Declined, it ends.');
  });

  test('is another thing where an agent submits the steps: what it did stands', () => {
    const interactive = { what: 'step', onIdle: 'ask' };
    expect(declineText(seen({ committed: [refund], interactive }))).toBe(
      'Declined, the step does not happen, and what the saga did before stands: issue_refund 50.15 EUR (re_1).',
    );
    expect(declineText(seen({ interactive }))).toBe('Declined, the step does not happen.');
  });
});
