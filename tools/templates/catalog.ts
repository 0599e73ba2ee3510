/** The templates that come with Walkback. */
import type { SagaDefinition } from '../../core/saga/model/plan.ts';
import { mergeQueue } from './merge-queue.ts';

export const templates: readonly SagaDefinition[] = [mergeQueue];
