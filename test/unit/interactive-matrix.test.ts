import { interactiveCases, testInteractive } from '../support/interactive-matrix.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

testInteractive(
  sampled(interactiveCases, { every: 25, minimum: 20, offset: printedSeed('interactive sagas') }),
);
