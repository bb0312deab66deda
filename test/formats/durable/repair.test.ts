import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { applyEdits } from '../../../src/cli/commands/validate.js';
import { parseWorkflows } from '../../../src/formats/index.js';
import { canonicalGraph } from '../../../src/graph/canonical.js';
import { hasErrors } from '../../../src/graph/diagnostics/diagnostic.js';
import { isNightly } from '../../nightly.js';

const FOLDER = path.join(import.meta.dirname, '../../../examples/durable/workflows');
const WORKFLOWS = readdirSync(FOLDER).map((file) => readFileSync(path.join(FOLDER, file), 'utf8'));

const parse = (text: string) => parseWorkflows(text, { file: 'f.yaml', format: 'yaml' });

/** The text after the edits of all diagnostics, as often as there are some. */
async function repaired(text: string): Promise<string> {
  for (let round = 0; round < 10; round += 1) {
    const { text: next, repairs } = applyEdits(text, (await parse(text)).diagnostics);
    if (repairs.length === 0) return next;
    text = next;
  }
  return text;
}

async function identityOf(text: string): Promise<string | undefined> {
  const [workflow] = (await parse(text)).workflows;
  return workflow && canonicalGraph(workflow.graph);
}

/** A mistake: what is replaced, wherever it is written, and by what. */
interface Mistake {
  readonly what: string;
  readonly at: RegExp;
  readonly instead: (match: string) => string;
}

/** Swaps two letters in the middle. */
const swapped = (word: string): string =>
  word.replace(
    /^(\S{1,4}?)(\w)(\w)(?=\w)/,
    (_, before: string, one: string, other: string) => before + other + one,
  );
const dropped = (word: string): string => word.slice(0, 2) + word.slice(3);

const MISTAKES: readonly Mistake[] = [
  {
    what: 'a misspelt key',
    at: /(?<=^ +)(?:needs_state|output_to|command|message|parameters|instructions|updates|required)(?=:)/gm,
    instead: swapped,
  },
  {
    what: 'a key without a letter',
    at: /(?<=^ +)(?:needs_state|command|message|tool|items|agent|default|sequential)(?=:)/gm,
    instead: dropped,
  },
  {
    what: 'a misspelt type',
    at: /(?<=type: )(?:shell|mcp_call|prompt|delegate|foreach|condition|set_state|return|string|number)$/gm,
    instead: swapped,
  },
  { what: 'a misspelt prompt type', at: /(?<=prompt_type: ")\w+/g, instead: dropped },
  { what: 'an empty needs_state', at: /(?<=needs_state: )\["[^\]]+\]/g, instead: () => '[]' },
  { what: 'a missing field in needs_state', at: /(?<=needs_state: \["\w+"), "\w+"/g, instead: () => '' },
  { what: 'no needs_state', at: /^ +needs_state: \[".*\n/gm, instead: () => '' },
  { what: 'a misspelt state field', at: /(?<=state\.)\w{6,}/g, instead: swapped },
  { what: 'a misspelt input', at: /(?<=inputs\.)\w+/g, instead: swapped },
  { what: 'a misspelt filter', at: /(?<=\| )(?:default|tojson|length|parse_json|first)/g, instead: swapped },
  { what: 'a version that is a number', at: /(?<=version: )"1\.0\.0"/g, instead: () => '1.0' },
  { what: 'two types', at: /\bprompt_type\b/g, instead: () => 'type' },
  {
    what: 'a name of an agent in another case',
    at: /(?<=agent: ")@\w+/g,
    instead: (name) => name.slice(1).toUpperCase(),
  },
  { what: 'a misspelt task', at: /(?<=task: ")\w+/g, instead: swapped },
  {
    what: 'a condition without braces',
    at: /(?<=(?:if|when): ")\{\{ [^}]* \}\}/g,
    instead: (text) => text.slice(3, -3),
  },
  { what: 'an input without its root', at: /inputs\.(?=\w)/g, instead: () => '' },
  { what: 'a state field without its root', at: /state\.(?=\w)/g, instead: () => '' },
  {
    what: 'a step without a type',
    at: /^ +type: (?:shell|mcp_call|delegate|foreach|set_state)\n/gm,
    instead: () => '',
  },
  { what: 'a missing value', at: /^ +(?:command|tool|items|task|if|value): "?.*\n/gm, instead: () => '' },
  { what: 'a quote without its end', at: /(?<=output_to: "\w+)"/g, instead: () => '' },
  { what: 'a repeated id', at: /(?<=id: ")(?!get-user-request)[\w-]+/g, instead: () => 'get-user-request' },
  { what: 'another field for a result', at: /(?<=output_to: ")\w+/g, instead: () => 'elsewhere' },
];

/** Texts with one mistake each. */
function mutations(text: string): { readonly what: string; readonly text: string }[] {
  return MISTAKES.flatMap(({ what, at, instead }) =>
    [...text.matchAll(at)].map((match) => {
      const [word] = match;
      const after = text.slice(match.index + word.length);
      return { what, text: text.slice(0, match.index) + instead(word) + after };
    }),
  );
}

/** So many files are repaired, of one mutation in so many. */
const [FILES, EACH] = isNightly ? [200, 1] : [15, 4];

describe('the edits of diagnostics', () => {
  test('repair most files with one mistake', { timeout: 120_000 }, async () => {
    const identities = new Map<string, string | undefined>();
    for (const text of WORKFLOWS) identities.set(text, await identityOf(text));
    const all = WORKFLOWS.flatMap((text) => mutations(text).map((each) => ({ ...each, original: text })));
    const broken: typeof all = [];
    for (const each of all.filter((_, index) => index % EACH === 0))
      if (hasErrors((await parse(each.text)).diagnostics)) broken.push(each);
    const step = Math.max(1, Math.floor(broken.length / FILES));
    const sample = broken.filter((_, index) => index % step === 0).slice(0, FILES);
    expect(sample).toHaveLength(FILES);
    let [loads, same] = [0, 0];
    for (const { text, original } of sample) {
      const identity = await identityOf(await repaired(text));
      const isSame = identity !== undefined && identity === identities.get(original);
      if (identity !== undefined) loads += 1;
      if (isSame) same += 1;
    }
    expect(loads).toBeGreaterThanOrEqual(0.6 * FILES);
    expect(same).toBeGreaterThanOrEqual(0.6 * FILES);
  });

  const name = fc.constantFrom('user', 'count', 'files', 'plan');
  const value = fc.oneof(
    fc.constantFrom(
      'Hello',
      '{{ inputs.path }}',
      '{{ inputs.path | upper }} and more',
      "it's {{ inputs.path }}",
    ),
    name.map((field) => `{{ state.${field} }}`),
  );
  const fields = (text: string): string[] =>
    [...text.matchAll(/state\.(\w+)/g)].map(([, field]) => field ?? '');
  const step = fc.oneof(
    value.map((message) => ({ type: 'prompt', needs_state: fields(message), message, prompt_type: 'text' })),
    value.map((text) => ({ type: 'mcp_call', needs_state: fields(text), tool: 'a.b', parameters: { text } })),
    fc.record({ type: fc.constant('set_state'), updates: fc.dictionary(name, fc.integer(), { minKeys: 1 }) }),
    fc.constant({ type: 'shell', command: 'cat {{ inputs.path | shq }}', fail_on_error: true }),
    fc.constant({ type: 'wait', duration_seconds: 3 }),
  );
  const document = fc
    .record({
      steps: fc.array(step, { minLength: 1, maxLength: 6 }),
      isJson: fc.boolean(),
      twice: fc.boolean(),
    })
    .map(({ steps, isJson, twice }) => {
      const data = {
        name: 'w',
        version: '1.0.0',
        inputs: { path: { type: 'string', required: true } },
        initial_state: { user: 'Ann', count: 0, files: [], plan: null },
        steps: steps.map((each, index) => ({ id: `s${index}`, ...each })),
      };
      const text = isJson ? JSON.stringify(data, null, 2) : stringify(data);
      return twice ? text.replace(/\bprompt_type\b/g, 'type') : text;
    });

  test('never change the meaning of a valid file', async () => {
    await fc.assert(
      fc.asyncProperty(document, async (text) => {
        const identity = await identityOf(text);
        expect(identity).toBeDefined();
        expect(await identityOf(await repaired(text))).toBe(identity);
      }),
      { numRuns: isNightly ? 100 : 10 },
    );
  });
});
