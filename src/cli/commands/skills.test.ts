import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Workflow } from 'stepwright';
import { afterAll, expect, test } from 'vitest';
import { registryOf } from '../../../test/e2e/server/fixture/registry-of.js';
import { chain, compute, done, lit, step } from '../../runtime/engine/graph.fixture.js';
import { dispatched } from '../dispatched.fixture.js';

const root = mkdtempSync(path.join(tmpdir(), 'stepwright-skills-'));
afterAll(() => rmSync(root, { recursive: true }));

let registries = 0;

// A module is imported once.
const file = (): string => `registry-${registries}.mjs`;

const skills = (...args: readonly string[]) =>
  dispatched('skills', '--root', root, '--registry', file(), ...args);

/** Writes a registry of workflows with these descriptions, which are skills. */
function write(descriptions: Readonly<Record<string, string>>): void {
  const workflows = Object.entries(descriptions).map(([name, description]) => {
    class Made {}
    Workflow({ name, description })(Made);
    const nodes = chain(compute('a', lit(1)), done('out', step('a')));
    // A server needs a store for tasks, which its program sets.
    const graph = { inputs: [], nodes, expose: ['tool', 'skill'], task: true } as const;
    return { class: Made, graph };
  });
  const registry = JSON.stringify(registryOf({ tools: [], workflows }));
  registries += 1;
  writeFileSync(path.join(root, file()), `export const registry = ${registry};`);
}

test('skills are written once, and drift is found', async () => {
  write({ look_up: 'look something up', note: 'note something' });
  const lookUp = path.join('skills', 'look-up', 'SKILL.md');
  expect(await skills('--check')).toMatchObject({
    code: 1,
    err: expect.stringContaining(`${lookUp} is missing: run \`stepwright skills\``),
  });
  expect(await skills()).toMatchObject({
    code: 0,
    out: `${lookUp}\n${path.join('skills', 'note', 'SKILL.md')}\n`,
  });
  expect(readFileSync(path.join(root, lookUp), 'utf8')).toContain('Call the tool `w_look_up`');
  expect(await skills('--check')).toMatchObject({ code: 0, out: 'skills up to date: 2\n' });

  write({ look_up: 'look anything up' });
  expect(await skills('--check')).toMatchObject({
    code: 1,
    err: [
      `stepwright: ${path.join('skills', 'note', 'SKILL.md')} is of a workflow that was a skill before: remove it\n`,
      `stepwright: ${lookUp} is not up to date: run \`stepwright skills\`\n`,
    ].join(''),
  });
});

test('two workflows with one name of a skill are refused', async () => {
  write({ look_up: 'a', 'look-up': 'b' });
  expect(await skills()).toMatchObject({ code: 2, err: expect.stringContaining('the skill `look-up`') });
});
