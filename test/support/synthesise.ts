import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, type AppProps, Aspects, Stack } from 'aws-cdk-lib';
import { VALIDATE_AGAINST_DEFAULT_RULES } from 'aws-cdk-lib/cx-api';
import { AwsSolutionsChecks } from 'cdk-nag';
import { Walkback, type WalkbackProps } from '../../cdk/walkback.ts';
import type { Template } from '../../local/template.ts';

let temporary: string | undefined;

/** Removes what was written until now; CDK reads it when it is asked for findings. After each file: see vitest.config.ts. */
export const discardSynthesised = (): void => {
  if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  temporary = undefined;
};

const outputDirectory = (): string => {
  temporary ??= mkdtempSync(join(tmpdir(), 'walkback-synth-'));
  return mkdtempSync(join(temporary, 'out-'));
};

/** A template that breaks CloudFormation's schemas is an error, as with `cdk synth`; it takes seconds. */
export const VALIDATED: AppProps = {
  context: { [VALIDATE_AGAINST_DEFAULT_RULES]: true },
  builtinCloudFormationValidation: true,
};

/** An app that leaves nothing behind. */
export const createApp = (props: AppProps): App => new App({ ...props, outdir: outputDirectory() });

/**
 * The construct in a stack of a test's own, with props of a test's own; functions are not bundled. With `validate`, a template
 * that breaks CloudFormation's schemas is an error, as with `cdk synth`; it takes seconds. So do the rules of AwsSolutions, `findings`.
 */
export const synthesise = (
  propsOf: (stack: Stack) => WalkbackProps,
  context: Record<string, unknown> = {},
  { validate = false, findings = false }: { validate?: boolean; findings?: boolean } = {},
): { stack: Stack; walkback: Walkback; template: Template } => {
  const app = createApp({
    context: { [VALIDATE_AGAINST_DEFAULT_RULES]: validate, ...context, 'aws:cdk:bundling-stacks': [] },
    builtinCloudFormationValidation: validate,
  });
  const stack = new Stack(app, 'Walkback');
  const walkback = new Walkback(stack, 'Walkback', propsOf(stack));
  if (findings) Aspects.of(app).add(new AwsSolutionsChecks());
  return { stack, walkback, template: app.synth().getStackByName('Walkback').template as Template };
};
