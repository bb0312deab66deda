import { didYouMean } from '../../graph/names.js';

/** What the product says about upstream servers. */
export const upstreamTexts = {
  unknownServer: (server: string, near: string | undefined) =>
    `No upstream server '${server}' is configured: name it under 'upstream' in stepwright.config.json, and pass the servers to the program as 'upstream'${near === undefined ? '' : ` (${didYouMean(near)})`}`,
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
  unavailableWorkflow: (workflow: string, first: string, others: number, server: string) =>
    `Workflow '${workflow}' is unavailable: ${first}${others === 0 ? '' : ` (and ${others} more)`}; run \`npx stepwright pull ${server}\`, and correct the workflow`,
  noAnswer: (server: string, tool: string, hasSchema: boolean) =>
    `The double of '${tool}' of the upstream server '${server}' has no answer, and ${hasSchema ? 'no value can be made up from the output schema' : 'the tool has no output schema'}: give it one`,
  noTool: (name: string, near: string | undefined) =>
    `There is no tool '${name}' to double${near === undefined ? '' : ` (${didYouMean(near)})`}`,
} as const;

/** What went wrong, with its cause: `fetch` says only in the cause why it failed. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message;
}
