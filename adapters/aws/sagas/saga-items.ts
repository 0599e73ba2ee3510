/** Sagas and ledger entries as items, and back (docs/sagas.md, Data). Pure. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as z from 'zod';
import type { Json } from '../../../contract/json.ts';
import type { LedgerRow } from '../../../contract/ledger-query.ts';
import { fromRow, isOutcome, toRow } from '../../../core/saga/ledger/ledger-row.ts';
import type { SagaHead } from '../../../core/saga/model/head.ts';
import type { LedgerEntry } from '../../../core/saga/model/ledger-entry.ts';
import type { PinnedStep } from '../../../core/saga/model/plan.ts';
import type { ParkRecord } from '../../../core/saga/model/session-park.ts';
import type { RewindRecord } from '../../../core/saga/model/session-rewind.ts';
import { type SagaState, waitEndMs } from '../../../core/saga/model/state.ts';
import { pinSteps, type StepChunk } from '../../../core/saga/plan/pinned-steps.ts';
import type { SagaOutline, SessionSaga, WakeToken } from '../../../core/saga/ports.ts';
import { packEffects, unpackEffects } from '../../../core/saga/run/pack-state.ts';
import { SAGA_FORMAT } from '../item-format.ts';
import { checked, itemReader } from '../read-item.ts';
import type { Item, Key, Stored } from '../table-reads.ts';
import { packedState, stateText } from './packed-state.ts';
import { checkedEntry } from './stored-entries.ts';
import {
  definition,
  manifest,
  pinnedSteps,
  storedChunk,
  storedHead,
  storedInput,
  storedOutline,
  storedPark,
  storedRewind,
  storedSessionSaga,
  storedState,
  storedToken,
  storedVersion,
} from './stored-sagas.ts';

/** For a write that collides with others again and again. */
export const BUSY = { busy: 'The saga is being written by others. Call again.' };

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
export const sessionSagasKey = (sessionId: string): string => `SESSION#${sessionId}`;
export const rewindKey = (sessionId: string, requestId: string): Key => ({
  pk: `REWIND#${sessionId}`,
  sk: requestId,
});
export const parkKey = (sessionId: string, requestId: string): Key => ({
  pk: `PARK#${sessionId}`,
  sk: requestId,
});
export const versionKey = (kind: 'TOOL' | 'DEFINITION', name: string, version: string): Key => ({
  pk: `${kind}#${name}`,
  sk: `V#${version}`,
});
export const newestKey = (kind: 'TOOL' | 'DEFINITION', name: string): Key => ({
  pk: `CATALOG#${kind}`,
  sk: name,
});
export const tombstoneKey = (forwardKey: string): Key => ({ pk: `TOMBSTONE#${forwardKey}`, sk: 'META' });
/** In the partition of the tombstone, which is the only one that a tool may reach. */
export const claimKey = (forwardKey: string, attempt: number): Key => ({
  pk: `TOMBSTONE#${forwardKey}`,
  sk: `CALL#${attempt}`,
});

/** What the sweeper reads from the index: when a wait for a person or a pause ends. */
export const waitUntilOf = (state: SagaState): number | undefined => waitEndMs(state) ?? undefined;

/**
 * The head takes about one write unit for any number of steps: its effects are packed text, compressed. The
 * rest of the state is JSON, so that numbers and nulls are read back as they were, and compressed too
 * (packed-state.ts).
 */
export const headItem = (head: SagaHead): Item => {
  const { sagaId, state, ...rest } = head;
  const { effects, ...small } = state;
  return {
    ...headKey(sagaId),
    ...rest,
    format: SAGA_FORMAT,
    status: state.status,
    waitUntilMs: waitUntilOf(state),
    state: packedState(JSON.stringify(small)),
    effects: deflateRawSync(packEffects(effects), { level: 9 }),
  };
};

const CAUSE = 'It was changed since, or a newer release wrote it.';
const advice = ({ pk }: Stored): string =>
  `${CAUSE} An operator runs \`walkback ledger verify ${String(pk).replace(/^SAGA#/, '')}\`.`;
export const ofSaga = { table: 'Sagas', error: 'LedgerBroken', advice } as const;
const ofLedger = { table: 'Ledger', error: 'LedgerBroken', advice } as const;
const ofCatalog = {
  table: 'Sagas',
  error: 'ItemUnreadable',
  advice: () => `${CAUSE} Restore the item from a backup, or store the entry under a new version.`,
} as const;
const ofToken = {
  table: 'Sagas',
  error: 'ItemUnreadable',
  advice: () => `${CAUSE} Restore the item from a backup.`,
} as const;

const inflated = (effects: Uint8Array): string => inflateRawSync(effects).toString();

/** Checks only the state, so that the audit can tell it from the columns beside it. */
export const readState = ({ state, effects }: Stored): { state: SagaState; packed: string } => {
  const packed = inflated(storedHead.shape.effects.parse(effects));
  const small = checked(storedState, JSON.parse(stateText(state)));
  return { state: { ...small, effects: unpackEffects(packed) }, packed };
};

const looseHead = z.looseObject(storedHead.shape);

/**
 * A head of a newer release is only shown, with what this release understands. `checkFormat` prevents
 * everything else.
 */
export const isNewer = ({ format }: Stored): boolean => typeof format === 'number' && format > SAGA_FORMAT;

const shownState = ({ state, effects }: Stored): unknown => ({
  ...JSON.parse(stateText(state)),
  effects: unpackEffects(inflated(storedHead.shape.effects.parse(effects))),
});

export const readHead = itemReader(ofSaga, (item): SagaHead => {
  if (!isNewer(item)) looseHead.parse(item);
  const {
    pk,
    sk: _,
    format: _format,
    status: __,
    waitUntilMs: ___,
    state: ____,
    effects: _____,
    ...rest
  } = item;
  const state = isNewer(item) ? shownState(item) : readState(item).state;
  const head = { ...rest, sagaId: String(pk).slice('SAGA#'.length), state };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has seen it
  return head as unknown as SagaHead;
});

/** Reads what the index by status has. */
export const readOutline = itemReader(ofSaga, (item): SagaOutline => {
  const { pk, statusSince, waitUntilMs } = storedOutline.parse(item);
  return { sagaId: pk.slice('SAGA#'.length), statusSince, waitUntilMs };
});

const dayOf = (entry: LedgerEntry): { day?: string } =>
  isOutcome(entry) ? { day: entry.at.slice(0, 10) } : {};

export const entryItem = (entry: LedgerEntry): Item => {
  // `detail` has the person, so the proof is made when the entry is read.
  const { proof: _, ...row } = toRow(entry);
  const columns = Object.entries(row).filter(([, value]) => value !== null);
  return { ...entryKey(entry.sagaId, entry.seq), ...Object.fromEntries(columns), ...dayOf(entry) };
};

export const readEntry = itemReader(ofLedger, (item): LedgerEntry => {
  const { pk: _, sk: __, day: ___, ...row } = item;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what comes out of it is checked
  return checkedEntry(fromRow(row as unknown as LedgerRow));
});

export const stepItems = (sagaId: string, planHash: string, steps: readonly PinnedStep[]): Item[] =>
  pinSteps(steps).chunks.map((chunk, position) => ({
    ...stepsKey(sagaId, planHash, position),
    steps: JSON.stringify(chunk.steps),
    proof: chunk.proof,
  }));

export const readChunk = itemReader(ofSaga, (item): StepChunk => {
  const { steps, proof } = z.looseObject(storedChunk.shape).parse(item);
  return { steps: checked(pinnedSteps, JSON.parse(steps)), proof };
});

export const readInput = itemReader(
  ofSaga,
  (item): Json => JSON.parse(z.looseObject(storedInput.shape).parse(item).input),
);

export const readToken = itemReader(ofToken, (item): WakeToken => {
  const { sagaId, generation, step, enteredMs, retry, token } = storedToken.parse(item);
  return { sagaId, generation, step, enteredMs, retry, token };
});

const versionReader = <Entry>(schema: z.ZodType<Entry>) =>
  itemReader(ofCatalog, (item) => checked(schema, JSON.parse(storedVersion.parse(item).entry)));
export const readTool = versionReader(manifest);
export const readDefinition = versionReader(definition);

interface SagaOfSession {
  sagaId: string;
  sessionId: string;
  createdAt: string;
}

/** The item by which a session finds its sagas, in the order of their start. It never changes. */
export const sessionSagaItem = ({ sagaId, sessionId, createdAt }: SagaOfSession): Item => ({
  pk: sessionSagasKey(sessionId),
  sk: `${createdAt}#${sagaId}`,
  sagaId,
  createdAt,
});

/** Written together with the head. */
export const sessionSagaItems = ({ sagaId, sessionId, createdAt }: SagaHead): Item[] =>
  sessionId === undefined ? [] : [sessionSagaItem({ sagaId, sessionId, createdAt })];

export const readSessionSaga = itemReader(ofSaga, (item): SessionSaga => {
  const { sagaId, createdAt } = storedSessionSaga.parse(item);
  return { sagaId, createdAt };
});

export const readPark = itemReader(ofSaga, (item): ParkRecord => {
  const { sessionId, requestId, sagas } = storedPark.parse(item);
  return { sessionId, requestId, sagas };
});

export const readRewind = itemReader(ofSaga, (item): RewindRecord => {
  const { pk: _, sk: __, ...record } = storedRewind.parse(item);
  return record;
});
