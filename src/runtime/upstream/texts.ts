import { didYouMean } from '../../graph/names.js';

/** What the product says about upstream servers. */
export const upstreamTexts = {
  unknownServer: (server: string, near: string | undefined) =>
    `No upstream server '${server}' is configured: name it under 'upstream' in stepwright.config.json, and pass the servers to the program as 'upstream'${near === undefined ? '' : ` (${didYouMean(near)})`}`,
  notUpstream: () => 'The tool has no option `upstream`: it calls no upstream server',
  missingVariables: (server: string, variables: readonly string[]) =>
    `The upstream server '${server}' needs the environment ${variables.length === 1 ? 'variable' : 'variables'} ${variables.join(', ')}, which ${variables.length === 1 ? 'is' : 'are'} not set`,
  unavailable: (server: string, why: string) => `The upstream server '${server}' cannot be reached: ${why}`,
  lost: (server: string, tool: string) =>
    `The connection to the upstream server '${server}' ended during the call of '${tool}'`,
  refused: (server: string, tool: string, why: string) =>
    `The upstream server '${server}' refused the call of '${tool}': ${why}`,
  timedOut: (server: string, tool: string, limitMs: number) =>
    `The call of '${tool}' of the upstream server '${server}' timed out after ${limitMs} ms`,
  closed: (server: string) => `The upstream server '${server}' was closed`,
  ended: (server: string) => `upstream server '${server}': the connection ended`,
  said: (server: string, line: string) => `upstream server '${server}': ${line}`,
} as const;
