/** The ways in which a call fails. */
import type { ToolRequest } from '../../../contract/tool-request.ts';
import type { Invoked } from '../../../core/saga/ports.ts';
import { committed, lost, rejected } from '../scripted-saga.ts';

export const refusal = (name: string, more: object): Invoked => ({
  Payload: { outcome: 'rejected', error: { name, message: 'no' }, ...more },
});
export const unsure = (more: object): Invoked => ({
  Payload: { outcome: 'unknown', error: { name: 'Unsure', message: 'it may have happened' }, ...more },
});
const died: Invoked = { Error: 'Runtime.ExitError', Cause: '' };

const isCommitted = (invoked: Invoked): boolean =>
  'Payload' in invoked && JSON.stringify(invoked.Payload).includes('"outcome":"committed"');

export interface FailingCall {
  serve: () => Invoked;
  /** It acts three seconds after the deadline. */
  serveLate: () => void;
  /** Until nobody waits for the answer any more. */
  waitForEnd: () => Promise<void>;
  /** People do something meanwhile. */
  interrupt: () => Promise<void>;
  chance: (share: number) => boolean;
}

export const FAULTS = {
  refuses: () => rejected(),
  refusesForNow: () => rejected(true),
  refusesUntilLater: () => refusal('Busy', { retryable: true, retryAfterSeconds: 30 }),
  throttles: () => refusal('Throttled', { retryable: true, reached: false, retryAfterSeconds: 1 }),
  isNotReached: () => refusal('Unreachable', { retryable: false, reached: false }),
  isThrottledByTheCloud: () => ({ Error: 'Lambda.TooManyRequestsException', Cause: '' }),
  isLostOnTheWay: async ({ waitForEnd }) => {
    await waitForEnd();
    return lost;
  },
  losesItsAnswer: async ({ serve, interrupt, waitForEnd }) => {
    serve();
    await interrupt();
    await waitForEnd();
    return lost;
  },
  actsLate: async ({ serveLate, waitForEnd, chance }) => {
    serveLate();
    if (chance(0.5)) await waitForEnd();
    return lost;
  },
  dies: () => died,
  actsAndDies: ({ serve }) => {
    serve();
    return died;
  },
  answersRubbish: ({ serve }) => {
    serve();
    return { Payload: 'hello' };
  },
  isDeliveredTwice: ({ serve, chance }) => {
    const [first, second] = [serve(), serve()];
    return chance(0.5) ? first : second;
  },
  actsAndIsUnsure: ({ serve }) => {
    serve();
    return unsure({ answered: true, externalRef: 'maybe' });
  },
  isUnsure: () => unsure({ answered: true }),
  breaksItsContract: ({ serve }) => {
    const served = serve();
    // It breaks its contract by its result. It does not say that it did what it refused.
    if (!isCommitted(served)) return served;
    return {
      Payload: { outcome: 'committed', result: null, error: { name: 'InvalidResult', message: 'x' } },
    };
  },
  actsAndSaysAbsent: ({ serve }) => {
    serve();
    return { Payload: { outcome: 'absent' } };
  },
  saysNoAmount: ({ serve }) => {
    serve();
    return committed({ amount: 'lots' });
  },
} satisfies Record<string, (call: FailingCall) => Invoked | Promise<Invoked>>;

type FaultName = keyof typeof FAULTS;

const OF_ANY_CALL: readonly FaultName[] = ['refuses', 'isNotReached', 'isLostOnTheWay', 'dies'];
const OF_CHANGES: readonly FaultName[] = [
  ...OF_ANY_CALL,
  'refuses',
  'refusesForNow',
  'throttles',
  'losesItsAnswer',
  'actsLate',
  'answersRubbish',
  'isDeliveredTwice',
];

/** Which come up for which operation. One that is named twice comes up more often. */
export const FAULTS_OF: Readonly<Record<ToolRequest['operation'], readonly FaultName[]>> = {
  execute: [
    ...OF_CHANGES,
    'refusesUntilLater',
    'isThrottledByTheCloud',
    'losesItsAnswer',
    'actsAndDies',
    'actsAndIsUnsure',
    'breaksItsContract',
  ],
  compensate: [...OF_CHANGES, 'actsAndSaysAbsent', 'actsAndSaysAbsent', 'saysNoAmount'],
  probe: [...OF_ANY_CALL, 'isUnsure', 'isUnsure'],
};
