/**
 * What an undo or a rewind takes back in a whole tree. A step that runs sagas is followed by what those sagas
 * did.
 */
import type { UndoPlan } from '../../../contract/saga-answers.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import { isFinal, isLetStand, isUndoable } from '../decide/effects.ts';
import { readLedger, type ToldEntry } from '../entries/read-ledger.ts';
import type { NamedChild } from '../model/children.ts';
import { isChildOf } from '../model/head.ts';
import type { EffectRecord } from '../model/state.ts';
import type { SagaStore } from '../ports.ts';
import { namedIn } from '../prepare/prepare-children.ts';
import { type Story, storiesOf } from '../view/stories.ts';
import { undoPlanOf } from '../view/undo-plan.ts';

type Reads = Pick<SagaStore, 'getHead' | 'pageEntries'>;

type Standing = UndoPlan['stands'];

const AT_ONCE = 8;

const planWith = (undo: UndoPlan['undo'], stands: Standing, letStand: Standing): UndoPlan => ({
  undo,
  stands,
  ...(letStand.length > 0 && { letStand }),
});

const matters = (effect: EffectRecord): boolean =>
  isUndoable(effect) || isFinal(effect) || isLetStand(effect) || effect.children === true;

/**
 * The plan of one child. Its steps are named with the steps above them (`refund/mail`) and with their saga,
 * because branches may have steps of the same name.
 */
const planOfChild = async (
  store: Reads,
  parentId: string,
  { step, effect }: Story,
  { sagaId }: NamedChild,
): Promise<UndoPlan> => {
  const head = await store.getHead(sagaId);
  // When another saga has taken the id, it is not a child.
  if (
    head === undefined ||
    !head.state.effects.some(matters) ||
    !isChildOf(head, parentId, effect.startSeq)
  ) {
    return { undo: [], stands: [] };
  }
  const entries = await readLedger(store, sagaId, head.seq);
  const { undo, stands, letStand = [] } = await treePlanOf(store, sagaId, entries, storiesOf(head, entries));
  const below = <One extends { step: string; sagaId?: string | undefined }>(one: One): One => ({
    ...one,
    step: `${step}/${one.step}`,
    sagaId: one.sagaId ?? sagaId,
  });
  return planWith(undo.map(below), stands.map(below), letStand.map(below));
};

/**
 * The plan of the children of one step, the last child first. Children that share no resource are taken back
 * at the same time.
 */
const planBelow = async (
  store: Reads,
  sagaId: string,
  entries: readonly ToldEntry[],
  story: Story,
): Promise<UndoPlan> => {
  const named = namedIn(entries.find(({ seq }) => seq === story.effect.startSeq));
  const plans = await mapAtOnce(named, AT_ONCE, (child) => planOfChild(store, sagaId, story, child));
  return planWith(
    plans.toReversed().flatMap(({ undo }) => undo),
    plans.flatMap(({ stands }) => stands),
    plans.flatMap(({ letStand = [] }) => letStand),
  );
};

/** `stories`: the effects that are taken back. */
export const treePlanOf = async (
  store: Reads,
  sagaId: string,
  entries: readonly ToldEntry[],
  stories: readonly Story[],
): Promise<UndoPlan> => {
  const undo: UndoPlan['undo'] = [];
  const standsBelow: UndoPlan['stands'] = [];
  const letStandBelow: Standing = [];
  const { stands, letStand = [] } = undoPlanOf(stories);
  for (const story of stories.toReversed()) {
    const own = undoPlanOf([story]).undo;
    if (story.effect.children !== true) {
      undo.push(...own);
      continue;
    }
    const below = await planBelow(store, sagaId, entries, story);
    const isPart = below.stands.length > 0 || below.undo.some(({ partly }) => partly === true);
    undo.push(...own.map((one) => ({ ...one, ...(isPart ? { partly: true } : {}) })), ...below.undo);
    standsBelow.unshift(...below.stands);
    letStandBelow.unshift(...(below.letStand ?? []));
  }
  return planWith(undo, [...stands, ...standsBelow], [...letStand, ...letStandBelow]);
};
