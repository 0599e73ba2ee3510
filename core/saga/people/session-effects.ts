/** The effects of a session's sagas that stand, whoever wants to know (L7). It only reads. */
import type { StandingEffect } from '../../../contract/rollback-answers.ts';
import type { PlacedSaga, SessionEffects } from '../../checkpoint/ports/effects.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import { readLedger } from '../ledger/read-ledger.ts';
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

const effectsOf = async (
  store: Store,
  sessionId: string,
  head: SagaHead,
  isMeant: (place: PlacedSaga) => boolean,
): Promise<StandingEffect[]> => {
  if (!isInteractive(head) && !isSagaMeant(head, sessionId, isMeant)) return [];
  if (!head.state.effects.some(stands)) return [];
  const stories = storiesOf(head, await readLedger(store, head.sagaId, head.seq));
  return stories
    .filter(({ effect }) => stands(effect))
    .filter(({ submitted }) => submitted === undefined || isStepMeant(submitted, head, sessionId, isMeant))
    .map(({ step, tool, externalRef, effect, submitted }) => ({
      sagaId: head.sagaId,
      status: head.state.status,
      messageId: submitted?.messageId ?? head.messageId ?? null,
      step,
      tool,
      externalRef,
      reversible: effect.kind !== 'irreversible' && effect.status !== 'skipped',
    }));
};

export const createSessionEffects =
  (store: Store): SessionEffects =>
  async (sessionId, isMeant) => {
    const heads = await sessionSagas(store, sessionId);
    return (
      await mapAtOnce(heads, SAGAS_AT_ONCE, (head) => effectsOf(store, sessionId, head, isMeant))
    ).flat();
  };
