/** What people are told of a saga fits an event and an alert, whatever its texts are made of. */
import { describe, expect, test } from 'vitest';
import type { Observation } from '../../contract/saga-observation.ts';
import { KIB } from '../../contract/sizes.ts';
import { escalation } from '../../core/saga/run/escalation.ts';
import { noticeOf } from '../../core/saga/view/notice.ts';
import { jsonBytes } from '../../core/shared/json-bytes.ts';

const COUNT = 60;
/** An error's message has 4,000 characters, and six bytes each at most. */
const EVENT_BYTES = 256 * KIB - 24 * KIB - KIB;
const EXECUTION = 'arn:aws:states:eu-west-1:000000000000:execution:walkback-saga:one';

/** Texts of the largest sizes that a ledger has. */
const seenOf = (character: string, more: Partial<Observation> = {}): Observation => {
  const textOf = (length: number) => character.repeat(Math.ceil(length / character.length)).slice(0, length);
  const one = (n: number) => ({
    step: `s${n}`,
    tool: 't'.repeat(48),
    externalRef: textOf(500).toWellFormed(),
    amount: '1'.repeat(50),
    currency: 'EUR',
  });
  return {
    sagaId: 's'.repeat(64),
    status: 'COMPENSATION_FAILED',
    requestedBy: `a${textOf(1999)}`.toWellFormed(),
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    committed: Array.from({ length: COUNT }, (_, n) => one(n)),
    compensated: [],
    notCompensated: Array.from({ length: COUNT }, (_, n) => ({
      ...one(n),
      reason: `r${textOf(999)}`.toWellFormed(),
      idempotencyKey: 'k'.repeat(80),
      resourceKey: textOf(500).toWellFormed(),
      path: 'p'.repeat(500),
      sagaId: 'c'.repeat(64),
    })),
    results: [],
    failed: {
      step: 'last',
      tool: 't',
      outcome: 'rejected',
      error: { name: 'E', message: `m${textOf(3999)}`.toWellFormed() },
    },
    advice: '',
    ...more,
  };
};

describe.each(['e', '漢', '😀', '"', '\u0001'])('of texts of %j', (character) => {
  test('what could not be undone is told in one event, which says how many more there are', () => {
    const notice = noticeOf(seenOf(character), 'https://console.example');
    if (notice === undefined) throw new Error('nobody is told');
    expect(jsonBytes(notice)).toBeLessThanOrEqual(EVENT_BYTES);
    expect(notice.references.length).toBeGreaterThan(10);
    expect(notice.references.length).toBeLessThanOrEqual(50);
    expect(notice.references.length + notice.more).toBe(COUNT);
    expect(notice.text.match(/^- /gm)).toHaveLength(notice.references.length);
    expect(notice.text).toContain(`... and ${notice.more} more`);
  });

  test('so is a question', () => {
    const awaiting = {
      kind: 'approval' as const,
      step: 's',
      tool: 't',
      version: '1',
      arguments: {},
      argumentsHash: 'a'.repeat(64),
      until: '2026-01-02T00:00:00.000Z',
      prompt: character.repeat(2000),
      promptBy: 'agent' as const,
    };
    const notice = noticeOf(seenOf(character, { status: 'AWAITING', awaiting }), 'https://console.example');
    expect(jsonBytes(notice)).toBeLessThanOrEqual(EVENT_BYTES);
    expect((notice?.references.length ?? 0) + (notice?.more ?? 0)).toBe(COUNT);
  });

  test('the alert has whole characters, and fits the state that carries it', () => {
    const { message } = escalation(seenOf(character), {
      execution: EXECUTION,
      consoleUrl: 'https://console.example',
    });
    expect(message.isWellFormed()).toBe(true);
    expect(jsonBytes(message)).toBeLessThanOrEqual(201 * KIB);
  });
});
