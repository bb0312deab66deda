import { listedRegistry, listingText } from '../../print/registry.js';
import { optionCommand, REGISTRY_HELP } from '../command-line.js';
import { REGISTRY_OPTIONS, withRegistries } from '../registries.js';

const OPTIONS = { ...REGISTRY_OPTIONS, json: { type: 'boolean' } } as const;

/** `stepwright list`: lists what the registries offer. */
export const listCommand = optionCommand(
  'stepwright list',
  `Usage: stepwright list [options]

Lists the tools, workflows with their arguments, prompts and resources of the project's registries.

Options:
  --json           print one JSON value
${REGISTRY_HELP}`,
  OPTIONS,
  0,
  (parsed, output) =>
    withRegistries('list', parsed.values, output, async ({ registries }) => {
      const listed = registries.map(({ file, registry }) => listedRegistry(file, registry));
      output.out(
        parsed.values.json ? `${JSON.stringify(listed, null, 2)}\n` : listed.map(listingText).join('\n'),
      );
      return 0;
    }),
);
