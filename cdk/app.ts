import { App, Aspects, Stack, Tags } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { printBundleSizes } from './bundle-sizes.ts';
import { readSettings, stackNameOf } from './settings.ts';
import { Walkback } from './walkback.ts';

const app = new App();
const stack = new Stack(app, 'Walkback', {
  stackName: stackNameOf(app),
  description: 'Walkback: the undo layer for AI agents',
});
new Walkback(stack, 'Walkback', readSettings(stack));
Tags.of(stack).add('application', 'walkback');
// A finding without a justification is an error of `cdk synth`, and of test/infra/nag.test.ts.
Aspects.of(app).add(new AwsSolutionsChecks());
printBundleSizes(app.synth().directory);
