/** Finds the effects of a session's sagas (L7). It only reads. */
import type { SessionEffect } from '../../../contract/saga-lists.ts';
import type { PlacedSaga, SessionEffects } from '../../checkpoint/ports/effects.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import { readLedger } from '../entries/read-ledger.ts';
import type { SagaHead } from '../model/head.ts';
import type { EffectRecord, EffectStatus } from '../model/state.ts';
import type { SagaStore } from '../ports.ts';
import { isSagaMeant, isStepMeant, sessionSagas } from './session-sagas.ts';
import { storiesOf } from './stories.ts';

const SAGAS_AT_ONCE = 8;

const TAKEN_BACK: readonly EffectStatus[] = ['rejected', 'undone', 'resolved'];

const stands = ({ kind, status }: EffectRecord): boolean => kind !== 'read' && !TAKEN_BACK.includes(status);

type Store = Pick<SagaStore, 'getHead' | 'listBySession' | 'pageEntries'>;

/** The steps of an interactive saga have messages of their own. */
const isInteractive = ({ state }: SagaHead): boolean => state.interactive !== undefined;

const isOutside = ({ kind }: EffectRecord): boolean => kind !== 'read';

/** The effects of one saga. `isTold`: which of them. */
const effectsOf = async (
  store: Pick<SagaStore, 'pageEntries'>,
  sessionId: string,
  head: SagaHead,
  isMeant: (place: PlacedSaga) => boolean,
  isTold: (effect: EffectRecord) => boolean,
): Promise<SessionEffect[]> => {
  if (!isInteractive(head) && !isSagaMeant(head, sessionId, isMeant)) return [];
  if (!head.state.effects.some(isTold)) return [];
  const stories = storiesOf(head, await readLedger(store, head.sagaId, head.seq));
  return stories
    .filter(({ effect }) => isTold(effect))
    .filter(({ submitted }) => submitted === undefined || isStepMeant(submitted, head, sessionId, isMeant))
    .map(({ step, tool, externalRef, externalUrl, money, effect, submitted, residue }) => ({
      sagaId: head.sagaId,
      status: head.state.status,
      messageId: submitted?.messageId ?? head.messageId ?? null,
      step,
      tool,
      externalRef,
      ...(externalUrl === undefined ? {} : { externalUrl }),
      ...money,
      reversible: effect.kind !== 'irreversible' && effect.status !== 'skipped',
      stands: stands(effect),
      ...(residue === undefined ? {} : { residue }),
      ...(effect.status === 'rejected' ? { rejected: true as const } : {}),
    }));
};

/** The effects of one saga, also those that were taken back. */
export const effectsOfSaga = (
  store: Pick<SagaStore, 'pageEntries'>,
  sessionId: string,
  head: SagaHead,
  messageId: string | undefined,
): Promise<SessionEffect[]> =>
  effectsOf(
    store,
    sessionId,
    head,
    (place) => messageId === undefined || place.messageId === messageId,
    isOutside,
  );

export const createSessionEffects =
  (store: Store): SessionEffects =>
  async (sessionId, isMeant) => {
    const heads = await sessionSagas(store, sessionId);
    const found = await mapAtOnce(heads, SAGAS_AT_ONCE, (head) =>
      effectsOf(store, sessionId, head, isMeant, stands),
    );
    return found.flat().map(({ stands: _true, ...effect }) => effect);
  };
