/** Keeps what a rewind of a session tells of its sagas within what a call of Lambda may answer. Pure. */
import type { RewindSessionAnswer, RewoundSaga } from '../../contract/rewind.ts';
import { MIB } from '../../contract/sizes.ts';
import { firstThatFit } from '../shared/bounded.ts';
import { jsonBytes } from '../shared/json-bytes.ts';

/** A call of Lambda answers 6 MB at most, and the files have their part in the same answer. */
const MAX_BYTES = 4 * MIB;
/** Of these, for a line of each saga without its plan: some ten thousand of them. */
const MAX_LINES_BYTES = 2 * MIB;

type Told = Pick<RewindSessionAnswer, 'sagas' | 'sagasNotListed'>;

/** One that stops the rewind is told before the others. */
const isStopped = ({ status }: RewoundSaga): boolean => status === 'COMPENSATION_FAILED';

const withoutObservation = (saga: RewoundSaga): RewoundSaga => {
  const { observation: _, ...rest } = saga;
  return rest;
};

const lineOf = (saga: RewoundSaga): RewoundSaga => ({ ...saga, plan: { undo: [], stands: [] } });

/** Of a plan, what is told. The rest is counted. */
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

/** What there is no room for is left out: observations first, then what is taken back, then what stands, then whole sagas. */
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
