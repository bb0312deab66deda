import { oneLine } from '../../../graph/printable-text.js';
import { thrownText } from '../../tools/exceptions.js';

/** What the tools of the product say. */
export const factoryTexts = {
  missingVariables: (names: readonly string[]) =>
    `The ${names.length === 1 ? 'environment variable' : 'environment variables'} ${names.join(', ')} of the service ${names.length === 1 ? 'is' : 'are'} not set`,
  noResponse: (method: string, origin: string, error: unknown) =>
    `${method} got no response from ${origin}: ${thrownText(error)}`,
  status: (method: string, path: string, status: number, text: string) =>
    `${method} ${path} was answered with ${status}${text === '' ? '' : `: ${oneLine(text)}`}`,
  badSegment: (name: string, text: string) =>
    `Input '${name}' is part of the path, and cannot be ${JSON.stringify(text)}`,
  tooManyRows: (most: number) => `The query has more than ${most} rows: add a LIMIT, or raise \`maxRows\``,
  queryFailed: (error: unknown) => `The query failed: ${thrownText(error)}`,
} as const;
