import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { applyEdits } from '../../../src/cli/commands/validate.js';
import { parseWorkflows, type SpecWorkflows } from '../../../src/formats/index.js';
import { parseGraph } from '../../../src/graph/schema/parse-graph.js';
import { said } from '../spec-file.fixture.js';

const ORIGINAL = path.join(import.meta.dirname, 'original');
const REPAIRED = path.join(import.meta.dirname, '../../../examples/durable/workflows');

function read(folder: string, file: string): string {
  return readFileSync(path.join(folder, file), 'utf8');
}

function parse(text: string, file: string): Promise<SpecWorkflows> {
  return parseWorkflows(text, { file, format: 'yaml' });
}

const files = readdirSync(ORIGINAL);

describe('the workflows of the specification', () => {
  test('are four', () => {
    expect(files).toEqual([
      'analyze-codebase.yaml',
      'deploy-service.yaml',
      'interactive-planning.yaml',
      'pr-automation.yaml',
    ]);
    expect(readdirSync(REPAIRED)).toEqual(files);
  });

  test.each(files)('%s is a graph once it is repaired', async (file) => {
    const { workflows, diagnostics } = await parse(read(REPAIRED, file), file);
    expect(diagnostics.filter(({ code }) => code !== 'SW5037')).toEqual([]);
    expect(workflows.map(({ graph }) => parseGraph(JSON.parse(JSON.stringify(graph))).ok)).toEqual([true]);
  });

  test.each(files)('%s loads after the edits of its diagnostics', async (file) => {
    let text = read(ORIGINAL, file);
    for (let round = 0; round < 3; round += 1)
      text = applyEdits(text, (await parse(text, file)).diagnostics).text;
    const { workflows, diagnostics } = await parse(text, file);
    expect(workflows).toHaveLength(1);
    expect(diagnostics.filter(({ edit }) => edit !== undefined)).toEqual([]);
  });

  test('have the faults that are known', async () => {
    const { diagnostics } = await parse(read(ORIGINAL, 'interactive-planning.yaml'), 'f.yaml');
    expect(said(diagnostics)).toEqual([
      'f.yaml:28:5 SW5036 `type` is written twice: this one is read as `prompt_type` (write `prompt_type`)',
      'f.yaml:63:37 SW5040 step `execute-research` declares the state field `user_request`, and does not read it (remove `user_request` from its `needs_state`)',
      'f.yaml:129:45 SW5040 step `finalize-plan` declares the state field `user_request`, and does not read it (remove `user_request` from its `needs_state`)',
      'f.yaml:154:47 SW4033 step `approve-plan` reads the state\'s field `user_request`, which it does not declare (write `needs_state: ["final_plan", "user_request"]`)',
      'f.yaml:159:5 SW5036 `type` is written twice: this one is read as `prompt_type` (write `prompt_type`)',
      'f.yaml:251:30 SW4033 step `return-findings` reads the state\'s field `search_results`, which it does not declare (write `needs_state: ["analysis", "search_results"]`)',
    ]);
  });
});
