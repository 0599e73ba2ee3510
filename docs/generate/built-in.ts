/** The built-in catalog as the functions read it: made from the tools, so that code and catalog cannot drift. */
import { manifestOf } from '../../kit/manifest.ts';
import { templates } from '../../tools/templates/catalog.ts';
import { workspaceTools } from '../../tools/workspace/catalog.ts';
import { createUses } from '../../tools/workspace/uses.ts';

/** Of ports that nobody calls: only the declarations are read. */
const declared = () =>
  workspaceTools(
    createUses(
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nobody calls them
      new Proxy({} as Parameters<typeof createUses>[0], {
        get: () => () => undefined,
      }),
    ),
  );

export const builtInCatalog = (): string => {
  const tools = declared().map((tool) => manifestOf(tool, 'walkback-workspace-tools'));
  return `${JSON.stringify({ tools, definitions: templates }, undefined, 2)}\n`;
};
