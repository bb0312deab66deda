import { defined } from '../../graph/defined.js';
import type { Input } from '../../graph/model.js';
import { singleLine } from '../../graph/printable-text.js';
import type { Registry } from '../../runtime/index.js';
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

interface ListedRegistry {
  readonly registry: string;
  readonly tools: readonly ListedEntry[];
  readonly workflows: readonly (ListedEntry & { readonly arguments: readonly ListedArgument[] })[];
  readonly prompts: readonly (ListedEntry & { readonly arguments: readonly ListedArgument[] })[];
  readonly resources: readonly (ListedEntry & { readonly uri: string })[];
}

interface ListedEntry {
  readonly name: string;
  readonly description?: string;
}

type ListedArgument = Pick<Input, 'name' | 'description' | 'required' | 'schema' | 'default'>;

/** Lists a registry: names, descriptions and arguments. The default of a secret argument is left out. */
function listedRegistry(
  file: string,
  { tools, workflows, prompts = {}, resources }: Registry,
): ListedRegistry {
  return {
    registry: file,
    tools: Object.entries(tools).map(([name, { description }]) => ({ name, description })),
    workflows: Object.entries(workflows).map(([name, { graph }]) => ({
      name,
      description: graph.description,
      arguments: graph.inputs.map(listedArgument),
    })),
    prompts: Object.entries(prompts).map(([name, { description, arguments: inputs }]) => ({
      name,
      ...defined({ description }),
      arguments: inputs.map(listedArgument),
    })),
    resources: Object.entries(resources).map(([name, { uri, description }]) => ({
      name,
      uri,
      ...defined({ description }),
    })),
  };
}

function listedArgument(input: Input): ListedArgument {
  const { name, description, required, schema, secret } = input;
  const isShown = input.default !== undefined && secret !== true;
  return { name, description, required, schema, ...(isShown ? { default: input.default } : {}) };
}

/** A listed registry as an outline, with a line for each entry and argument. */
function listingText({ registry, tools, workflows, prompts, resources }: ListedRegistry): string {
  const part = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`  ${title}:`, ...lines.map((line) => `    ${line}`)];
  const withArguments = ({ arguments: inputs, ...entry }: ListedRegistry['workflows'][number]) => [
    line(entry),
    ...inputs.map((input) => `  ${line({ ...input, name: input.required ? input.name : `${input.name}?` })}`),
  ];
  const all = [
    ...part('tools', tools.map(line)),
    ...part('workflows', workflows.flatMap(withArguments)),
    ...part('prompts', prompts.flatMap(withArguments)),
    ...part(
      'resources',
      resources.map(({ name, uri, ...rest }) => line({ ...rest, name: `${name} (${uri})` })),
    ),
  ];
  return `${[registry, ...all].join('\n')}\n`;
}

function line({ name, description }: ListedEntry): string {
  return singleLine(description === undefined || description === '' ? name : `${name}: ${description}`);
}
