/**
 * The starting files and the edits of the demo's agent: shell scripts for its sandbox, run in the projects
 * root. Data only. The repositories hold things that are easily lost: a symlink, an executable, a private
 * file, an empty directory, and untracked, ignored, staged and unstaged work.
 */

export const PROJECTS_ROOT = '/home/user/projects';

export const REPOSITORIES = ['api', 'web', 'infra', 'docs'] as const;

/** Ignored and not included: Walkback neither captures nor deletes it, so it is not part of the proof. */
export const NOT_CAPTURED = ['web/dist'];

/** Ignored, but captured because the session includes it. */
export const INCLUDED = ['.env'];

export const BUILD_REPOSITORIES = `
set -eu
start() {
  mkdir -p "$1" && cd "$1" && git init -q -b main
  git config user.name 'Demo Agent' && git config user.email agent@example.com
}
save() { git add -A && git commit -q -m "$1"; }

(start api
  mkdir -p src bin uploads
  printf 'routes.get("/charge", charge);\\nroutes.post("/refund", refund);\\n' > src/routes.js
  printf '#!/bin/sh\\nexec node src/routes.js\\n' > bin/serve && chmod 755 bin/serve
  ln -s bin/serve serve
  printf '.env\\n' > .gitignore
  save 'Serve charge and refund'
  printf '{ "name": "api", "version": "1.4.0" }\\n' > package.json
  save 'Release 1.4.0'
  printf 'DATABASE_PASSWORD=correct-horse\\n' > .env && chmod 600 .env)

(start web
  mkdir -p src dist
  printf 'export const pay = () => fetch("/charge");\\n' > src/client.js
  printf 'dist/\\n' > .gitignore
  save 'Call the API'
  printf 'export const title = "Shop";\\n' > src/title.js
  save 'Add a title'
  printf 'bundle\\n' > dist/bundle.js
  printf 'export const title = "Our shop";\\n' > src/title.js && git add src/title.js
  printf 'look at the title again\\n' > notes.txt)

(start infra
  printf 'replicas = 2\\n' > prod.tf
  printf '#!/bin/sh\\nterraform apply\\n' > deploy.sh && chmod 755 deploy.sh
  save 'Two replicas'
  printf 'token = "s3cr3t"\\n' > prod.tfvars && chmod 600 prod.tfvars)

(start docs
  printf '# API\\n\\nPOST /charge takes a payment.\\n' > api.md
  ln -s api.md README.md
  save 'Describe the API')
`;

/** One state-changing operation of the agent. A checkpoint is taken before it. */
export interface Operation {
  tool: string;
  messageId: string;
  says: string;
  script: string;
}

export const WORK: readonly Operation[] = [
  {
    tool: 'call-1',
    messageId: 'msg-1',
    says: 'rename /charge to /payments in three of them',
    script: `set -eu
sed -i s,/charge,/payments, api/src/routes.js web/src/client.js docs/api.md`,
  },
  {
    tool: 'call-2',
    messageId: 'msg-2',
    says: 'commit in api; a branch, half staged, in web',
    script: `set -eu
git -C api commit -q -am 'Call it payments'
git -C web switch -q -c payments
git -C web add src/client.js
printf '// TODO: retry\\n' >> web/src/client.js`,
  },
  {
    tool: 'call-3',
    messageId: 'msg-3',
    says: 'add retries in web, twenty replicas in infra',
    script: `set -eu
printf 'export const retry = (call) => call().catch(call);\\n' > web/src/retry.js
sed -i 's/replicas = 2/replicas = 20/' infra/prod.tf
git -C infra commit -q -am 'Twenty replicas'`,
  },
  {
    tool: 'call-4',
    messageId: 'msg-4',
    says: 'by mistake: rm -rf, git reset --hard, new junk',
    script: `set -eu
git -C api reset -q --hard HEAD~2
rm -rf api/src api/.env api/uploads web/src docs/api.md docs/README.md
printf 'junk\\n' > docs/core.1234
git -C infra rm -q prod.tf
chmod 644 infra/prod.tfvars`,
  },
];

/** The message that is rolled back to: everything before the agent went wrong. */
export const GOOD_MESSAGE = 'msg-2';

export const NEW_PATH: Operation = {
  tool: 'call-5',
  messageId: 'msg-5',
  says: 'add retries again, in web only this time',
  script: `set -eu
printf 'export const retry = (call, times = 3) => call().catch(() => retry(call, times - 1));\\n' > web/src/retry.js
git -C web add src/retry.js`,
};
