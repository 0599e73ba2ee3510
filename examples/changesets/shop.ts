/** A small shop in three repositories, and what its lead did in it before the others came. Scripts for a sandbox, run in the projects root. */

export const PROJECTS_ROOT = '/home/user/shop';
export const REPOSITORIES = ['api', 'web', 'docs'] as const;

/** Git ignores it, so no checkpoint holds it and no rollback deletes it. */
export const NOT_CAPTURED = 'web/settings.local';

export const BUILD_SHOP = `set -eu
start() {
  mkdir -p "$1" && cd "$1" && git init -q -b main
  git config user.name 'Shop Lead' && git config user.email lead@example.com
}
save() { git add -A && git commit -q -m "$1"; }

(start api
  mkdir src
  cat > src/routes.js <<'END'
import * as handlers from './handlers.js';

export const routes = [
  ['GET', '/orders', handlers.orders],
  ['POST', '/charge', handlers.charge],
];

export const limits = { bodyKiB: 64 };

export const logLevel = 'info';
END
  printf 'export const orders = () => [];\\nexport const charge = () => "paid";\\n' > src/handlers.js
  save 'Orders and charges')

(start web
  mkdir src
  cat > src/client.js <<'END'
const post = (path, body) => fetch(path, { method: 'POST', body });

export const pay = (order) => post('/charge', order);

export const show = (amount) => amount.toFixed(2);

export const list = () => fetch('/orders');
END
  cat > check.sh <<'END'
#!/bin/sh
# Each path that the pages call is a route of the API, and each setting that they need is set.
cd "$(dirname "$0")" || exit 1
for path in $(grep -oh "'/[a-z]*'" src/*.js | tr -d "'"); do
  grep -q "'$path'" ../api/src/routes.js || { echo "no route for $path"; exit 1; }
done
if grep -q settings.currency src/client.js; then
  grep -qs '^currency=' settings.default settings.local || { echo 'no currency in settings.default'; exit 1; }
fi
END
  chmod 755 check.sh
  printf 'settings.local\\n' > .gitignore
  save 'Call the API')

(start docs
  printf '# API\\n\\nGET /orders lists orders.\\n\\nPOST /charge takes a payment.\\n' > api.md
  ln -s api.md README.md
  save 'Describe the API')
`;

/** What the lead did, to be taken back when it is no longer wanted. Nothing of it is committed. */
export const DEBUG = {
  messageId: 'msg-1',
  text: 'Log everything while we look for the lost orders.',
  script: `set -eu
sed -i "s/logLevel = 'info'/logLevel = 'debug'/" api/src/routes.js
printf '\\nconsole.debug("client loaded");\\n' >> web/src/client.js
printf 'Logs are verbose for now.\\n' > docs/logs.md`,
};
