/** The templates that come with Walkback. */
import type { SagaDefinition } from '../../core/saga/model/plan.ts';
import { assignment } from './assignment.ts';
import { delegate } from './delegate.ts';
import { mergeQueue } from './merge-queue.ts';
import { message } from './message.ts';
import { spawnAgent } from './spawn-agent.ts';

export const templates: readonly SagaDefinition[] = [spawnAgent, assignment, delegate, mergeQueue, message];
