/** Keeps what a session's rewind says about its sagas within the size of a Lambda answer. Pure. */
import type { RewindAnswer, RewoundSaga } from '../../contract/rewind.ts';
import { MIB } from '../../contract/sizes.ts';
import { firstThatFit } from '../shared/bounded.ts';
import { jsonBytes } from '../shared/json-bytes.ts';

/** A Lambda answer has at most 6 MB, and the files need part of it. */
const MAX_BYTES = 4 * MIB;
/** Part of `MAX_BYTES` for one line per saga without its plan: about ten thousand lines. */
const MAX_LINES_BYTES = 2 * MIB;

type Told = Pick<RewindAnswer, 'sagas' | 'sagasNotListed'>;

/** A saga that stops the rewind is listed before the others. */
const isStopped = ({ status }: RewoundSaga): boolean => status === 'COMPENSATION_FAILED';

const withoutObservation = (saga: RewoundSaga): RewoundSaga => {
  const { observation: _, ...rest } = saga;
  return rest;
};

const lineOf = (saga: RewoundSaga): RewoundSaga => {
  const { definition: _definition, subject: _subject, ...rest } = saga;
  return { ...rest, plan: { undo: [], stands: [] } };
};

/** The part of a plan that fits. The rest is counted. */
const fittingPlan = (
  { undo, stands, letStand = [] }: RewoundSaga['plan'],
  told: ReadonlySet<object>,
): RewoundSaga['plan'] => {
  const kept = {
    undo: undo.filter((one) => told.has(one)),
    stands: stands.filter((one) => told.has(one)),
  };
  const keptLetStand = letStand.filter((one) => told.has(one));
  const letStandNotListed = letStand.length - keptLetStand.length;
  const undoNotListed = undo.length - kept.undo.length;
  const standsNotListed = stands.length - kept.stands.length;
  return {
    ...kept,
    ...(undoNotListed > 0 ? { undoNotListed } : {}),
    ...(standsNotListed > 0 ? { standsNotListed } : {}),
    ...(keptLetStand.length > 0 ? { letStand: keptLetStand } : {}),
    ...(letStandNotListed > 0 ? { letStandNotListed } : {}),
  };
};

/**
 * Leaves out what does not fit: observations first, then what is taken back, then what stands, then whole
 * sagas.
 */
export const fittingSagas = (sagas: readonly RewoundSaga[]): Told => {
  if (jsonBytes(sagas) <= MAX_BYTES) return { sagas: [...sagas] };
  const all = sagas.map(withoutObservation);
  if (jsonBytes(all) <= MAX_BYTES) return { sagas: all };
  const byWeight = [...all.filter(isStopped), ...all.filter((saga) => !isStopped(saga))];
  const lines = firstThatFit(byWeight.map(lineOf), { count: all.length, bytes: MAX_LINES_BYTES });
  const listed = new Set(byWeight.slice(0, lines.length));
  const plans = all.filter((saga) => listed.has(saga)).map(({ plan }) => plan);
  const steps = [
    ...plans.flatMap(({ stands }) => stands),
    ...plans.flatMap(({ letStand = [] }) => letStand),
    ...plans.flatMap(({ undo }) => undo),
  ];
  const told = new Set<object>(
    firstThatFit(steps, { count: steps.length, bytes: MAX_BYTES - jsonBytes(lines) }),
  );
  const left = all.filter((saga) => !listed.has(saga));
  return {
    sagas: all
      .filter((saga) => listed.has(saga))
      .map((saga) => ({ ...saga, plan: fittingPlan(saga.plan, told) })),
    ...(left.length === 0
      ? {}
      : {
          sagasNotListed: {
            sagas: left.length,
            undo: left.reduce((sum, { plan }) => sum + plan.undo.length, 0),
            stands: left.reduce((sum, { plan }) => sum + plan.stands.length, 0),
          },
        }),
  };
};
