import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { JsonObject } from '../../../graph/json.js';
import { parseWorkflows } from '../../spec-files.js';
import { specSchema } from '../dialects.js';
import { keysOf, STEP_TYPES } from './keys.js';

const FOLDER = path.join(import.meta.dirname, '../../../../examples/durable/workflows');

const validate = new Ajv({ strict: false, allErrors: true }).compile(
  specSchema({ tools: [], workflows: [] }),
);

/** Whether the schema for editors accepts a document. */
const accepts = (document: unknown): boolean => validate(document);

/** The codes of the errors that the reader reports. */
async function errorsOf(document: unknown): Promise<string[]> {
  const text = stringify(document);
  const { diagnostics } = await parseWorkflows(text, { file: 'f', format: 'yaml' });
  return diagnostics.flatMap(({ code, severity }) => (severity === 'error' ? [code] : []));
}

const VALUES: JsonObject = {
  ...{ description: 'd', needs_state: [], when: '{{ true }}', output_to: 'x', timeout: '30s' },
  ...{ if: '{{ true }}', updates: { x: 1 }, items: '{{ [1] }}', task: 'one', agent: '@task', inputs: {} },
  ...{ sequential: true, concurrency: 3, max_iterations: 5, on_child_error: 'continue', value: { a: 1 } },
  ...{ target: 'first', on_limit: 'continue', command: 'ls', argv: ['-l'], env: { A: 'b' } },
  ...{ fail_on_error: true, tool: 'a.b', parameters: { a: '{{ inputs.a }}' }, message: 'Hello' },
  ...{ prompt_type: 'choice', options: ['a', 'b'], validation: { pattern: 'a' }, duration_seconds: 3 },
  ...{ instructions: 'Do', response_schema: { type: 'array' }, else: [] },
};
// biome-ignore lint/suspicious/noThenProperty: a key of the dialect
const ARM: JsonObject = { then: [{ id: 'in', type: 'set_state', updates: { x: 2 } }] };

function documentWith(step: JsonObject, more: JsonObject = {}): JsonObject {
  const steps = [{ id: 'first', type: 'set_state', updates: { x: 0 } }, step];
  const tasks = { one: { steps: [{ id: 'done', type: 'return', value: 1 }] } };
  return { name: 'w', inputs: { a: { type: 'string' } }, steps, tasks, ...more };
}

/** A step with all its keys but those that exclude others. */
function wholeStep(type: string, without: readonly string[] = []): JsonObject {
  const keys = keysOf(type as (typeof STEP_TYPES)[number]).filter((key) => !without.includes(key));
  const values = Object.fromEntries(
    keys.flatMap((key) => (key in VALUES ? [[key, VALUES[key] ?? null]] : [])),
  );
  return { ...values, ...(type === 'condition' ? ARM : {}), id: 'step', type };
}

const ALTERNATIVES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  foreach: [['concurrency'], ['sequential', 'agent']],
  prompt: [['validation']],
};

describe('the schema for editors and the reader', () => {
  test.each(readdirSync(FOLDER))('accept %s', (file) => {
    expect(accepts(parse(readFileSync(path.join(FOLDER, file), 'utf8')))).toBe(true);
  });

  const steps = STEP_TYPES.flatMap((type) =>
    (ALTERNATIVES[type] ?? [[]]).map((without) => ({ type, without })),
  );

  test.each(steps)('accept every key of $type without $without', async ({ type, without }) => {
    const document = documentWith(wholeStep(type, without));
    expect(accepts(document)).toBe(true);
    expect(await errorsOf(document)).toEqual([]);
  });

  test.each(STEP_TYPES)('refuse other keys of %s, and a step without its own', async (type) => {
    const other = documentWith({ ...wholeStep(type, ALTERNATIVES[type]?.[0]), other: 1 });
    expect(accepts(other)).toBe(false);
    expect(await errorsOf(other)).toEqual(['SW5005']);
    const bare = documentWith({ id: 'step', type });
    expect(accepts(bare)).toBe(false);
    expect(await errorsOf(bare)).toContain('SW5007');
  });

  test.each([
    { version: '1.0' },
    { version: 1 },
    { inputs: { a: { type: 'text' } } },
    { inputs: { a: {} } },
    { steps: [] },
    { tasks: { one: {} } },
    { other: 1 },
    { allow_nested_agents: 'yes' },
  ])('refuse %j', async (more) => {
    const document = documentWith(wholeStep('shell'), more as JsonObject);
    expect(accepts(document)).toBe(false);
    expect(await errorsOf(document)).not.toEqual([]);
  });
});
