/** What tests of tools and sagas import: `walkback/kit/testing`. */
export { memoryTombstones, type SafetyCase, ToolUnsafe, testToolIsSafe } from '../conformance.ts';
export type { InteractiveScript, ScriptedStep } from './interactive-script.ts';
export { describeCases, type SagaCase, type SagaTest, SagaUnsafe, testSaga } from './test-saga.ts';
