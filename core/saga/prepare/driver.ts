/** What the caller brings to a move of a saga: the data that `decide` asks for, and the price of an outcome. */
import type { Next, SagaEvent } from '../decide/saga-events.ts';
import type { Fact } from '../model/ledger-entry.ts';
import type { SagaState } from '../model/state.ts';
import type { Price } from './price.ts';
import type { Reading } from './reading.ts';

/** What `decide` asks its caller for. */
type ForCaller = Extract<Next, { next: `prepare${string}` }>;

export const isForCaller = (next: Next): next is ForCaller => next.next.startsWith('prepare');

/** Prepares what `decide` asked for. `facts`: decided by this move and not stored yet. */
export type Prepare = (
  reading: Reading,
  state: SagaState,
  facts: readonly Fact[],
  next: ForCaller,
) => Promise<SagaEvent>;

const PRICES_NOTHING: Price = (_reading, _state, _step, event) => Promise.resolve(event);

/**
 * What a caller that drives a saga brings (prepare-next.ts). It loads the code that evaluates and checks
 * arguments.
 */
export interface Driver {
  prepare: Prepare;
  price: Price;
}

/** Commands of people and the sweeper only record facts (decide.ts), so they prepare no step. */
const preparesNothing: Prepare = () => Promise.reject(new RangeError('only who drives a saga starts steps'));

export const BYSTANDER: Driver = { prepare: preparesNothing, price: PRICES_NOTHING };
