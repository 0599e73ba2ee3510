/** What docs/api.md says of types that the client names and does not declare. */
import { expect, expectTypeOf, test } from 'vitest';
import type { Answer, Request } from '../../client/index.ts';
import type { CheckpointAnswer, ListedCopy, ListedSession } from '../../contract/checkpoint-answers.ts';
import type { AnswerOf } from '../../contract/functions.ts';
import type { RequestOf } from '../../contract/invoke.ts';
import type { LedgerRow } from '../../contract/ledger-query.ts';
import type { RollbackAnswer, StandingEffect } from '../../contract/rollback-answers.ts';
import type { SagaSummary } from '../../contract/saga-lists.ts';
import { keyOf, namedTypes } from '../../docs/generate/named-types.ts';

type One<Rows extends readonly unknown[] | undefined> = NonNullable<Rows>[number];

test('each type of the contract is what the reference says that it is', () => {
  expectTypeOf<CheckpointAnswer>().toEqualTypeOf<Answer<'checkpoint'>>();
  expectTypeOf<RollbackAnswer>().toEqualTypeOf<Answer<'rollback'>>();
  expectTypeOf<StandingEffect>().toEqualTypeOf<One<Answer<'rollback'>['effects']>>();
  expectTypeOf<LedgerRow>().toEqualTypeOf<One<Answer<'query-ledger'>['entries']>>();
  expectTypeOf<SagaSummary>().toEqualTypeOf<One<Answer<'list-sagas'>['sagas']>>();
  expectTypeOf<ListedSession>().toEqualTypeOf<One<Answer<'list-sessions'>['sessions']>>();
  expectTypeOf<ListedCopy>().toEqualTypeOf<One<Answer<'list-copies'>['copies']>>();
  expectTypeOf<AnswerOf<'diff'>>().toEqualTypeOf<Answer<'diff'>>();
  expectTypeOf<RequestOf<'diff'>>().toEqualTypeOf<Request<'diff'>>();
});

test('types are followed through what is shown: parameters, bases and imports, not bodies and not private members', () => {
  const files: Record<string, string> = {
    'a/shown.ts':
      "import type { Base } from './base.ts';\nimport type { Far as Near } from '../b/far.ts';\nimport type { Other } from 'package';\n" +
      'interface Hidden { next: Hidden; own: Promise<Deep> }\ntype Deep = { [Key in Names]: Key };\ntype Names = string;\ntype Unseen = 1;\n' +
      'export interface Shown<Given> extends Base { near: Near; given: Given; other: Other }\n' +
      'export const make = (of: Hidden): void => { const a: Unseen = 1; };\n' +
      'export class Kept { #secret: Unseen; go(): Shown<1> { return this.#secret as Unseen; } }\n',
    'a/base.ts': 'export interface Base { base: true }\n',
  };
  const shown = ['Shown', 'make', 'Kept'].map((name) => ({ path: 'a/shown.ts', name }));
  const { inside, outside } = namedTypes(shown, 'a/', (path) => files[path] ?? '');
  expect(inside.map(({ name }) => name).toSorted()).toEqual(['Base', 'Deep', 'Hidden', 'Names']);
  expect(outside.map(keyOf)).toEqual(['b/far.ts Far']);
});
