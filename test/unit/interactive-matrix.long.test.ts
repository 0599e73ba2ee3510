import { interactiveCases, testInteractive } from '../support/interactive-matrix.ts';
import { sampled } from '../support/sampling.ts';

testInteractive(sampled(interactiveCases, { every: 1, minimum: 400 }));
