/** The construct in a stack of a test's own, with props of a test's own; functions are not bundled. */
import { App, Aspects, Stack } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { Walkback, type WalkbackProps } from '../../cdk/walkback.ts';
import type { Template } from '../../local/template.ts';

export const SYNTH_TIMEOUT_MS = 120_000;

export const synthesise = (
  propsOf: (stack: Stack) => WalkbackProps,
  context: Record<string, unknown> = {},
): { stack: Stack; walkback: Walkback; template: Template } => {
  const app = new App({ context: { ...context, 'aws:cdk:bundling-stacks': [] } });
  const stack = new Stack(app, 'Walkback');
  const walkback = new Walkback(stack, 'Walkback', propsOf(stack));
  Aspects.of(app).add(new AwsSolutionsChecks());
  return { stack, walkback, template: app.synth().getStackByName('Walkback').template as Template };
};
