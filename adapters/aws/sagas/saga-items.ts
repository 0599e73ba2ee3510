/** Sagas and ledger entries as items, and back (docs/sagas.md, Data). Pure. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { LedgerRow } from '../../../contract/saga-answers.ts';
import { fromRow, isOutcome, toRow } from '../../../core/saga/ledger/ledger-row.ts';
import type { SagaHead } from '../../../core/saga/model/head.ts';
import type { LedgerEntry } from '../../../core/saga/model/ledger-entry.ts';
import type { PinnedStep } from '../../../core/saga/model/plan.ts';
import type { SagaState } from '../../../core/saga/model/state.ts';
import type { SagaOutline } from '../../../core/saga/ports.ts';
import { packEffects, unpackEffects } from '../../../core/saga/run/pack-state.ts';
import { pinSteps, type StepChunk } from '../../../core/saga/run/pinned-steps.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import { PLAIN_SAGA_FORMAT, SAGA_FORMAT } from '../item-format.ts';
import type { Item, Key } from '../table-reads.ts';

const digits = (value: number, width: number): string => String(value).padStart(width, '0');

export const ledgerKey = (sagaId: string): string => `SAGA#${sagaId}`;
export const headKey = (sagaId: string): Key => ({ pk: ledgerKey(sagaId), sk: 'HEAD' });
export const tokenKey = (sagaId: string): Key => ({ pk: ledgerKey(sagaId), sk: 'TOKEN' });
export const inputKey = (sagaId: string, inputHash: string): Key => ({
  pk: ledgerKey(sagaId),
  sk: `INPUT#${inputHash.slice(0, 16)}`,
});
export const stepsKey = (sagaId: string, planHash: string, chunk: number): Key => ({
  pk: ledgerKey(sagaId),
  sk: `STEPS#${planHash.slice(0, 16)}#${digits(chunk, 4)}`,
});
export const entryKey = (sagaId: string, seq: number): Key => ({ pk: ledgerKey(sagaId), sk: digits(seq, 8) });
export const versionKey = (kind: 'TOOL' | 'DEFINITION', name: string, version: string): Key => ({
  pk: `${kind}#${name}`,
  sk: `V#${version}`,
});
export const newestKey = (kind: 'TOOL' | 'DEFINITION', name: string): Key => ({
  pk: `CATALOG#${kind}`,
  sk: name,
});
export const tombstoneKey = (forwardKey: string): Key => ({ pk: `TOMBSTONE#${forwardKey}`, sk: 'META' });
/** In the partition of the tombstone, which is all that a tool may reach. */
export const claimKey = (forwardKey: string, attempt: number): Key => ({
  pk: `TOMBSTONE#${forwardKey}`,
  sk: `CALL#${attempt}`,
});

/** What the sweeper reads from the index: when a wait for a person, or a pause, ends. */
export const waitUntilOf = ({ wait, pauseUntilMs }: SagaState): number | undefined =>
  wait?.untilMs ?? pauseUntilMs ?? undefined;

/**
 * The head stays about one write unit for any number of steps: its effects are packed text, compressed. The whole state is
 * JSON, so that numbers and nulls come back as they were.
 */
export const headItem = (head: SagaHead): Item => {
  const { sagaId, state, ...rest } = head;
  const { effects, ...small } = state;
  return {
    ...headKey(sagaId),
    ...rest,
    format: effects.some(({ undo }) => undo !== undefined) ? SAGA_FORMAT : PLAIN_SAGA_FORMAT,
    status: state.status,
    waitUntilMs: waitUntilOf(state),
    state: JSON.stringify(small),
    effects: deflateRawSync(packEffects(effects), { level: 9 }),
  };
};

const bytesOf = (value: unknown): Uint8Array => {
  if (value instanceof Uint8Array) return value;
  throw new TypeError('effects are not bytes');
};

export const inflateEffects = (value: unknown): string => inflateRawSync(bytesOf(value)).toString();

/** We wrote it, so an unreadable item was changed since. `walkback ledger verify` shows where. */
const reading = <T>({ pk, sk }: Record<string, unknown>, read: () => T): T => {
  try {
    return read();
  } catch (cause) {
    throw new WalkbackError(
      'LedgerBroken',
      `${String(pk)} ${String(sk)} cannot be read: it is not what was written. An operator runs \`walkback ledger verify\` for that saga.`,
      { cause },
    );
  }
};

const toHead = (item: Record<string, unknown>): SagaHead => {
  const { pk, sk: _, format: _format, status: __, waitUntilMs: ___, state, effects, ...rest } = item;
  const small: Omit<SagaState, 'effects'> = JSON.parse(String(state));
  const unpacked = unpackEffects(inflateEffects(effects));
  const head = { ...rest, sagaId: String(pk).slice('SAGA#'.length), state: { ...small, effects: unpacked } };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by headItem
  return head as SagaHead;
};

export const readHead = (item: Record<string, unknown>): SagaHead => reading(item, () => toHead(item));

/** From the index by status. */
export const readOutline = ({ pk, statusSince, waitUntilMs }: Record<string, unknown>): SagaOutline => ({
  sagaId: String(pk).slice('SAGA#'.length),
  statusSince: String(statusSince),
  waitUntilMs: typeof waitUntilMs === 'number' ? waitUntilMs : null,
});

const dayOf = (entry: LedgerEntry): { day?: string } =>
  isOutcome(entry) ? { day: entry.at.slice(0, 10) } : {};

export const entryItem = (entry: LedgerEntry): Item => {
  const columns = Object.entries(toRow(entry)).filter(([, value]) => value !== null);
  return { ...entryKey(entry.sagaId, entry.seq), ...Object.fromEntries(columns), ...dayOf(entry) };
};

export const readEntry = (item: Record<string, unknown>): LedgerEntry => {
  const { pk: _, sk: __, day: ___, ...row } = item;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by entryItem
  return reading(item, () => fromRow(row as unknown as LedgerRow));
};

export const stepItems = (sagaId: string, planHash: string, steps: readonly PinnedStep[]): Item[] =>
  pinSteps(steps).chunks.map((chunk, position) => ({
    ...stepsKey(sagaId, planHash, position),
    steps: JSON.stringify(chunk.steps),
    proof: chunk.proof,
  }));

export const readChunk = (item: Record<string, unknown>): StepChunk => ({
  steps: JSON.parse(String(item['steps'])),
  proof: Array.isArray(item['proof']) ? item['proof'].map(String) : [],
});
