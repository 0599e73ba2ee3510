/**
 * Three agents. Each is a program that acts in the sandbox of its fork and knows what it was told ($TOLD); where a model would
 * decide, a script does. What it does is real: processes, files and commits.
 */
import type { Request } from 'walkback';

export type Commitment = Request<'verify-commitments'>['commitments'][number];

export interface Agent {
  name: string;
  task: string;
  /** Bash, run in the projects root. */
  program: string;
  /** What its work has to keep, beside `SHOP_WORKS`. */
  promise: Commitment;
}

/** Across two repositories, so no one of them can be merged alone. */
export const SHOP_WORKS: Commitment = {
  id: 'shop-works',
  description: 'the pages call only what the API has, and their settings are set',
  command: 'sh web/check.sh',
};

const ada: Agent = {
  name: 'ada',
  task: 'Say /payments instead of /charge, everywhere.',
  program: `set -eu
sed -i s,/charge,/payments, api/src/routes.js web/src/client.js docs/api.md
git -C docs -c user.name=Ada -c user.email=ada@example.com commit -q -m 'Call it payments' api.md
sh web/check.sh`,
  promise: {
    id: 'says-payments',
    description: 'nothing says /charge any more',
    command: '! grep -rn --exclude-dir=.git /charge api web docs',
  },
};

/** At first it puts the setting where git ignores it: that works at its own desk, and nowhere else. */
const bo: Agent = {
  name: 'bo',
  task: 'Show amounts with their currency.',
  program: `set -eu
sed -i 's/amount.toFixed(2);/amount.toFixed(2) + settings.currency;/' web/src/client.js
case "$TOLD" in
  *settings.default*) echo currency=EUR > web/settings.default ;;
  *) echo currency=EUR > web/settings.local ;;
esac
sh web/check.sh`,
  promise: {
    id: 'shows-currency',
    description: 'amounts are shown with their currency',
    command: 'grep -q settings.currency web/src/client.js',
  },
};

/** What the lead tells bo when its promise is broken in a fresh copy. */
export const GUIDANCE =
  'Git ignores web/settings.local, so only you have it. Put the currency into web/settings.default.';

/** The line that it changes is one of those that ada changes. Run again, it resolves what is between markers. */
const cleo: Agent = {
  name: 'cleo',
  task: 'Limit how often somebody may pay, and describe it.',
  program: `set -eu
routes=api/src/routes.js
if grep -q '^<<<<<<< ' $routes; then
  awk '/^<<<<<<< / { side = 1; next }
    side && /^(\\|\\|\\|\\|\\|\\|\\||=======)/ { side = 2; next }
    side && /^>>>>>>> / { side = 0; next }
    side < 2' $routes > "$HOME/mended"
  sed s,/charge,/payments, "$HOME/mended" > $routes
else
  sed -i "s/handlers.charge]/handlers.charge, { perMinute: 10 }]/" $routes
  printf '# Limits\\n\\nTen payments a minute.\\n' > docs/limits.md
fi
sh web/check.sh`,
  promise: {
    id: 'limits-payments',
    description: 'payments are limited',
    command:
      "grep -q 'perMinute: 10' api/src/routes.js && ! grep -rn --exclude-dir=.git '^<<<<<<< ' api web docs",
  },
};

export const TEAM: readonly Agent[] = [ada, bo, cleo];
