/** What a role's policy lets a person invoke is what the HTTP API lets that role ask for: both come from the rows, and neither has more. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isPeopleFunction, PEOPLE_ROWS, PERSON_ROLES, rolesFor } from '../../contract/people.ts';
import { loadTemplate, PROJECT } from '../../local/template.ts';
import { invokedBy } from '../support/policies.ts';

test.each(PERSON_ROLES)('%s: the policy and the routes name the same functions', async (role) => {
  const granted = invokedBy(await loadTemplate(), role);
  const routes = PEOPLE_ROWS.map(({ name }) => name)
    .filter(isPeopleFunction)
    .filter((name) => rolesFor(name).includes(role));
  expect(routes.length).toBeGreaterThan(0);
  expect(new Set(granted)).toEqual(new Set(routes));
});

test('each route of the API is of some role, and each function of a role is a route', async () => {
  const { paths } = JSON.parse(await readFile(join(PROJECT, 'docs/openapi.json'), 'utf8')) as {
    paths: Record<string, unknown>;
  };
  const template = await loadTemplate();
  const granted = PERSON_ROLES.flatMap((role) => invokedBy(template, role));
  const routes = Object.keys(paths).filter((path) => path !== '/openapi.json');
  expect(new Set(routes)).toEqual(new Set(granted.map((name) => `/v1/${name}`)));
});
