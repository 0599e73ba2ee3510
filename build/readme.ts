/** The README of each package: what it is, and the first call. Pure. */
import type { PackagePlan } from './packages.ts';

const FIRST_CALL: Record<string, string> = {
  walkback: `\`\`\`ts
import { Walkback } from 'walkback';

const walkback = new Walkback();
\`\`\`

Tools for sagas are written with \`walkback/kit\` and tested with \`walkback/kit/testing\`.`,
  cli: `\`\`\`bash
npx walkback demo                         # the whole story in under a minute
npx walkback session start --root ~/work
npx walkback checkpoint --message msg-1
\`\`\`

It needs Linux, git 2.25, bash, curl and Node 20 or newer.`,
  cdk: `\`\`\`ts
import { Walkback } from '@walkback/cdk';

new Walkback(stack, 'Walkback', { e2bApiKeySecret, httpToolSecret });
\`\`\`

The bundles of the functions are in the package: synthesis builds nothing.`,
};

export const readmeOf = ({ directory, name, description }: PackagePlan): string =>
  `# ${name}\n\n${description}\n\n${FIRST_CALL[directory] ?? ''}\n`;
