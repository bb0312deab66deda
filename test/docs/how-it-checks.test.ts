import { createServer, type Registry, type ServerSettings } from 'stepwright/runtime';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { formatGithub, formatJson } from '../../src/graph/diagnostics/format.js';
import { applyRepair, sharedClasses } from './diagnostic-examples.js';
import { page } from './fences.js';
import { examplesWith, fenceNamed, pageProject } from './pages.js';

const PAGE = 'docs/how-it-checks.md';
const shown = (name: string): string => fenceNamed(PAGE, name).body;

describe('the output of codegen', () => {
  let found: Awaited<ReturnType<typeof examplesWith>>;

  beforeAll(async () => {
    const file = 'examples/logseq/weekly-review.workflow.ts';
    found = await examplesWith(file, applyRepair(page(file), shown(file)));
  }, 300_000);

  test('for three faults is on the page', () => {
    expect(found.said).toBe(shown('said'));
  });

  test('for one of them is the same as JSON', () => {
    const third = found.diagnostics.slice(2);
    expect(formatJson(third)).toBe(shown('json'));
    expect(formatGithub(third)).toBe(shown('github'));
  });
});

describe('the error of the server', { timeout: 300_000 }, () => {
  /** The error of the server at start, after `change` of the page's project. */
  const refusal = async (
    settings: ServerSettings,
    change: (write: (file: string, text: string) => Promise<void>) => Promise<void> = async () => {},
  ): Promise<string> => {
    const { load, write, remove } = await pageProject(PAGE);
    onTestFinished(remove);
    await change(write);
    const { registry } = await load('generated/registry.ts');
    const { built } = await load('src/built.ts');
    const workflows = settings.workflows ?? [built as never];
    try {
      createServer(registry as Registry, { ...settings, workflows } as never);
    } catch (error) {
      return `${(error as Error).message}\n`;
    }
    throw new Error('the server started');
  };

  test('for a class that has changed since codegen ran', async () => {
    const changed = sharedClasses().replace('Adds a line to a page', 'Adds a line');
    const said = await refusal({ workflows: [] }, (write) => write('src/tools.ts', changed));
    expect(said).toBe(shown('stale'));
  });

  test('for a built workflow that does not fit its tools', async () => {
    expect(await refusal({})).toBe(shown('refused'));
  });
});
