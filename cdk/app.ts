import { App, Tags } from 'aws-cdk-lib';
import { readSettings } from './settings.ts';
import { WalkbackStack } from './walkback-stack.ts';

const app = new App();
const stack = new WalkbackStack(app, 'Walkback', { settings: readSettings(app.node) });
Tags.of(stack).add('application', 'walkback');
app.synth();
