import { interactiveCases, testInteractive } from '../support/interactive-matrix.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

testInteractive(
  sampled(interactiveCases, { every: 49, minimum: 10, offset: printedSeed('interactive sagas') }),
);
