import { didYouMean } from '../../graph/names.js';

/** What the product says about upstream servers. */
export const upstreamTexts = {
  unknownServer: (server: string, near: string | undefined) =>
    `No upstream server '${server}' is configured: name it under 'upstream' in stepwright.config.json, and pass the servers to the program as 'upstream'${near === undefined ? '' : ` (${didYouMean(near)})`}`,
  notUpstream: () => 'The tool has no option `upstream`: it calls no upstream server',
  missingVariables: (server: string, variables: readonly string[]) =>
    `The upstream server '${server}' needs the environment ${variables.length === 1 ? 'variable' : 'variables'} ${variables.join(', ')}, which ${variables.length === 1 ? 'is' : 'are'} not set`,
  needlessPlain: (server: string, variables: readonly string[]) =>
    `'plain' of the upstream server '${server}' names ${variables.join(', ')}, which none of its texts has as \`\${NAME}\`: remove ${variables.length === 1 ? 'it' : 'them'}`,
  unavailable: (server: string, why: string) => `The upstream server '${server}' cannot be reached: ${why}`,
  lost: (server: string, tool: string, how?: string) =>
    `The connection to the upstream server '${server}' ended during the call of '${tool}'${how === undefined ? '' : `: ${how}`}`,
  exited: (
    command: string,
    { code, signal }: { readonly code: number | null; readonly signal: string | null },
    lines: readonly string[],
  ) => {
    const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
    const said = lines.length === 0 ? 'it wrote nothing to stderr' : 'the end of its stderr:';
    return [`\`${command}\` ${how}; ${said}`, ...lines.map((line) => `  ${line}`)].join('\n');
  },
  refused: (server: string, tool: string, why: string) =>
    `The upstream server '${server}' refused the call of '${tool}': ${why}`,
  timedOut: (server: string, tool: string, limitMs: number) =>
    `The call of '${tool}' of the upstream server '${server}' timed out after ${limitMs} ms`,
  unavailableWorkflow: (workflow: string, first: string, others: number, server: string) =>
    `Workflow '${workflow}' is unavailable: ${first}${others === 0 ? '' : ` (and ${others} more)`}; run \`npx stepwright pull ${server}\`, and correct the workflow`,
  availableWorkflow: (workflow: string) =>
    `Workflow '${workflow}' is available again: upstream servers have what it needs`,
  compatibleDrift: (server: string, tool: string, what: string) =>
    `Tool '${tool}' of the upstream server '${server}' ${what}, which no workflow depends on: run \`npx stepwright pull ${server}\``,
  unchecked: (server: string, why: string) =>
    `The tools of the upstream server '${server}' could not be compared with the recorded ones: ${why}`,
  notRecorded: (server: string, tool: string, input: string) =>
    `The cassette has no call, or no further call, of '${tool}' of the upstream server '${server}' with the input ${input}: record it again with \`npx stepwright pull --record\` or \`npx stepwright run --record FILE\``,
  notCassette: () =>
    'The file is not a cassette of this version: `npx stepwright pull --record` and `npx stepwright run --record FILE` write one',
  noDouble: (server: string, tool: string) =>
    `There is no double of '${tool}' of the upstream server '${server}': add one with \`double\``,
  noAnswer: (server: string, tool: string, hasSchema: boolean) =>
    `The double of '${tool}' of the upstream server '${server}' has no answer, and ${hasSchema ? 'no value can be made up from the output schema' : 'the tool has no output schema'}: give it one`,
  noTool: (name: string, near: string | undefined) =>
    `There is no tool '${name}' to double${near === undefined ? '' : ` (${didYouMean(near)})`}`,
  noUpstreamClass: (name: string) =>
    `${name} is not a tool of an upstream server: pass a class that \`stepwright pull\` has written`,
  ended: (server: string) => `upstream server '${server}': the connection ended`,
  said: (server: string, line: string) => `upstream server '${server}': ${line}`,
} as const;

/** What went wrong, with its cause: `fetch` says only in the cause why it failed. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message;
}
