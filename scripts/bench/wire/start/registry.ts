import { writeFileSync } from 'node:fs';
import { Tool } from 'stepwright';
import {
  fingerprint,
  fromMetadata,
  readMetadata,
  registryChecksum,
} from '../../../../src/decorators/metadata.js';

/** Writes the tools of both servers whose start is measured, and what codegen writes about them beside their classes. */
export function writeTools(file: string, count: number): void {
  const tools = Array.from({ length: count }, (_, index) => ({
    name: `tool-${index}`,
    description: `Does task ${index}`,
    inputSchema: {
      type: 'object',
      properties: {
        project: { type: 'string', description: 'The project', minLength: 1, maxLength: 100 },
        count: { type: 'integer', minimum: 0, maximum: 100 + index },
        style: { type: 'string', enum: ['formal', 'casual'] },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: ['project'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: { id: { type: 'string' }, sizes: { type: 'array', items: { type: 'number' } } },
      required: ['id', 'sizes'],
      additionalProperties: false,
    },
  }));
  const entries = tools.map(({ name, ...entry }) => ({
    name,
    ...entry,
    fingerprint: printOf(name, entry.description),
  }));
  const table = Object.fromEntries(entries.map(({ name, ...entry }) => [name, entry]));
  const checksum = registryChecksum({ tools: table, resources: {}, workflows: {} });
  writeFileSync(
    file,
    JSON.stringify({ tools, checksum, fingerprints: entries.map((entry) => entry.fingerprint) }),
  );
}

function printOf(name: string, description: string): string {
  @Tool({ name, description })
  class Task {
    execute() {
      return { id: name };
    }
  }
  const metadata = readMetadata(Task);
  if (metadata === undefined) throw new Error('the decorator recorded nothing');
  return fingerprint(fromMetadata(metadata));
}
