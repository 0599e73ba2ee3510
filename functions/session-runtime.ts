/** The part of the composition root that wires the stores of sessions, searches, words and bundles. */
import { createBundleStore } from '../adapters/aws/bundles.ts';
import { createSearchStore } from '../adapters/aws/sessions/search-store.ts';
import { createSessionStore } from '../adapters/aws/sessions/session-store.ts';
import { createWordStore } from '../adapters/aws/sessions/word-store.ts';
import type { SearchStore } from '../core/checkpoint/ports/searches.ts';
import type { BundleStore, SessionStore } from '../core/checkpoint/ports/stores.ts';
import type { WordStore } from '../core/checkpoint/ports/words.ts';
import { type Runtime, required } from './runtime.ts';

export const sessionStore = ({ env }: Runtime): SessionStore =>
  createSessionStore({ tableName: required(env, 'WALKBACK_SESSIONS_TABLE') });

export const bundleStore = ({ env }: Runtime): BundleStore =>
  createBundleStore({ bucket: required(env, 'WALKBACK_BUCKET') });

export const searchStore = ({ env }: Pick<Runtime, 'env'>): SearchStore =>
  createSearchStore({ tableName: required(env, 'WALKBACK_SESSIONS_TABLE') });

export const wordStore = ({ env }: Pick<Runtime, 'env'>): WordStore =>
  createWordStore({ tableName: required(env, 'WALKBACK_SESSIONS_TABLE') });
