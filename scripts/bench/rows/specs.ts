import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Tool } from 'stepwright';
import { parseWorkflows } from 'stepwright/formats';
import { createServer } from 'stepwright/runtime';
import { parseDocument } from 'yaml';
import { lowerSpec } from '../../../src/formats/spec-files.js';
import { readText } from '../../../src/formats/text/read-text.js';
import { YAML_OPTIONS } from '../../../src/formats/text/read-yaml.js';
import { builtPackage } from '../../../test/built-package.js';
import { registryOf } from '../../../test/e2e/server/fixture/registry-of.js';
import { inTurns, timed } from '../measure.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';
import { hostileTexts, repeatedKeys, SEARCH, specText } from '../wire/spec-texts.js';

const REGISTERED = { tools: new Map([['search_hotels', SEARCH]]), resources: new Map() };

/**
 * Spec files: a large one from its text to a checked graph, beside the `yaml` package on the same text; keys that are
 * repeated; texts that are refused; many files in a new process; one of many served files that changes.
 */
export async function specs(sizes: Sizes): Promise<Row[]> {
  return [
    ...(await largeFile(sizes)),
    ...(await refusals(sizes)),
    await manyFiles(sizes),
    ...(await changedFile(sizes)),
  ];
}

async function largeFile(sizes: Sizes): Promise<Row[]> {
  const { nodes } = sizes.specs;
  const [text, repeated] = [specText(nodes), repeatedKeys(nodes)];
  const file = { file: 'large.yaml', format: 'yaml' } as const;
  const check = () => parseWorkflows(text, { ...file, registered: REGISTERED });
  const { workflows, diagnostics } = await check();
  if (workflows.length !== 1) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  const costs = await inTurns(
    {
      yaml: timed(1, sizes.goMs, () => parseDocument(text, YAML_OPTIONS)),
      read: timed(1, sizes.goMs, () => readText(text, file)),
      lowered: timed(1, sizes.goMs, () => lowerSpec(text, file)),
      all: timed(1, sizes.goMs, check),
      repeated: timed(1, sizes.goMs, () => lowerSpec(repeated, file)),
      yamlRepeated: timed(1, sizes.goMs, () => parseDocument(repeated, YAML_OPTIONS)),
    },
    sizes,
  );
  const unit = 'µs';
  const peer = { name: 'yaml', value: costs.yaml };
  const atMost = 1.3;
  return [
    row({
      name: `spec file of ${nodes} nodes, read`,
      ...{ unit, ours: costs.read, peer, target: { of: 'ratio', atMost } },
    }),
    row({ name: `spec file of ${nodes} nodes, to a graph`, unit, ours: costs.lowered, peer }),
    row({ name: `spec file of ${nodes} nodes, to a checked graph`, unit, ours: costs.all, peer }),
    row({
      name: `spec file of ${nodes} nodes, its check`,
      ...{ unit, ours: costs.all - costs.lowered, target: { of: 'ours', atMost: 40_000 } },
    }),
    row({
      name: `spec file, ${nodes} keys that are repeated`,
      ...{ unit, ours: costs.repeated, peer: { name: 'yaml', value: costs.yamlRepeated } },
      target: { of: 'ratio', atMost },
    }),
  ];
}

async function refusals(sizes: Sizes): Promise<Row[]> {
  const texts = hostileTexts(sizes.specs.hostile);
  const samples: Record<string, ReturnType<typeof timed>> = {};
  for (const { name, format, text } of texts) {
    const read = () => parseWorkflows(text, { file: 'hostile', format });
    const { workflows, diagnostics } = await read();
    if (workflows.length > 0 || diagnostics.length === 0) throw new Error(`${name} are not refused`);
    samples[name] = timed(1, sizes.goMs, read);
  }
  const costs = await inTurns(samples, sizes);
  return texts.map(({ name }) =>
    row({
      name: `spec file refused: ${name}`,
      ...{ unit: 'µs', ours: costs[name] ?? Number.NaN, target: { of: 'ours', atMost: 20_000 } },
    }),
  );
}

/** Loads files, and prints the CPU time of it in µs, that of the modules included. */
const LOAD = `
const { user, system } = process.cpuUsage();
const { loadWorkflowFiles } = await import(process.argv[1]);
const files = process.argv.slice(3);
const { workflows } = await loadWorkflowFiles(files, { root: process.argv[2] });
if (workflows.length !== files.length) throw new Error('a file has no workflow');
const { user: userAfter, system: systemAfter } = process.cpuUsage();
console.log(userAfter + systemAfter - user - system);
`;

/** Parses the same files with the `yaml` package, and prints the CPU time of it in µs. */
const PARSE = `
const { user, system } = process.cpuUsage();
const { readFile } = await import('node:fs/promises');
const { parseDocument } = await import(process.argv[1]);
for (const file of process.argv.slice(3)) parseDocument(await readFile(process.argv[2] + '/' + file, 'utf8'));
const { user: userAfter, system: systemAfter } = process.cpuUsage();
console.log(userAfter + systemAfter - user - system);
`;

async function manyFiles({ specs: { files, nodesOfEach }, rounds }: Sizes): Promise<Row> {
  const root = mkdtempSync(path.join(tmpdir(), 'stepwright-specs-'));
  const names = Array.from({ length: files }, (_, index) => `flow-${index}.yaml`);
  for (const [index, name] of names.entries())
    writeFileSync(path.join(root, name), specText(nodesOfEach, `flow_${index}`));
  const module = path.join(builtPackage(), 'dist/formats/index.js');
  const sample = (program: string, imported: string) => (): number => {
    const args = ['--input-type=module', '--eval', program, imported, root, ...names];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return Number(stdout);
  };
  try {
    // Processes are never warm.
    const samples = { ours: sample(LOAD, module), yaml: sample(PARSE, import.meta.resolve('yaml')) };
    const { ours, yaml } = await inTurns(samples, { rounds, warmUpMs: 0 });
    return row({
      name: `${files} spec files of ${nodesOfEach} nodes, in a new process`,
      ...{ unit: 'µs', ours, peer: { name: 'yaml', value: yaml } },
    });
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** How many changes are measured. */
const CHANGES = 5;

/** The CPU time and the longest stall of a server from the change of one of its files to its new lists. */
async function changedFile({ specs: { served, nodesOfEach } }: Sizes): Promise<Row[]> {
  const root = mkdtempSync(path.join(tmpdir(), 'stepwright-served-'));
  const write = (index: number, nodes: number): void =>
    writeFileSync(path.join(root, `flow-${index}.yaml`), specText(nodes, `flow_${index}`));
  for (let index = 0; index < served; index += 1) write(index, nodesOfEach);
  class Search {
    execute(input: object): object {
      return input;
    }
  }
  Tool({ name: 'search_hotels', description: 'Searches hotels' })(Search as never);
  const { inputSchema: input, outputSchema: output } = SEARCH;
  const registry = registryOf({ tools: [{ class: Search, input, output }] } as never);
  let onLoaded = (): void => {};
  const server = createServer(registry, {
    specs: { root, files: ['*.yaml'] },
    log: (_text, { event }) => event === 'specs.loaded' && onLoaded(),
  });
  // The watcher does not keep a process.
  const alive = setInterval(() => {}, 1_000);
  const costs: { readonly cpu: number; readonly stall: number }[] = [];
  try {
    await server.start();
    for (let change = 1; change <= CHANGES; change += 1) {
      const loaded = new Promise<void>((resolve) => {
        onLoaded = resolve;
      });
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const before = process.cpuUsage();
      write(0, nodesOfEach + change);
      await loaded;
      const { user, system } = process.cpuUsage(before);
      delay.disable();
      costs.push({ cpu: user + system, stall: delay.max / 1_000 });
    }
  } finally {
    clearInterval(alive);
    await server.stop();
    rmSync(root, { recursive: true });
  }
  const least = (values: readonly number[]): number => Math.min(...values);
  const name = `one of ${served} served spec files changes`;
  return [
    row({
      name,
      unit: 'µs',
      ours: least(costs.map(({ cpu }) => cpu)),
      target: { of: 'ours', atMost: 50_000 },
    }),
    row({
      name: `${name}, longest stall`,
      ...{ unit: 'µs', ours: least(costs.map(({ stall }) => stall)), target: { of: 'ours', atMost: 20_000 } },
    }),
  ];
}
