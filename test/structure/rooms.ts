import type { Import } from './source-files.js';

/**
 * The rooms of ARCHITECTURE.md. A room imports only rooms above it. `entry` stands for the files that assemble what
 * a package entry point offers: the command line and the test kit use the product as its users do.
 */
export const ROOMS = [
  'src/graph',
  'src/plan',
  'src/check',
  'src/print',
  'src/infer',
  'src/decorators',
  'src/formats',
  'src/runtime/engine',
  'src/runtime/secrets',
  'src/runtime/upstream',
  'src/codegen',
  'src/runtime/tools',
  'src/runtime/runs',
  'src/runtime/trace',
  'src/runtime/server',
  'src/runtime/transports',
  'src/runtime/protocol/upstream',
  'src/runtime/protocol/sdk2',
  'src/runtime/protocol/sdk1',
  'src/opentelemetry',
  'src/temporal',
  'entry',
  'src/testing',
  'src/eslint',
  'src/bundlers',
  'src/studio',
  'src/cli',
] as const;

export type Room = (typeof ROOMS)[number];

const ENTRY_POINTS = new Set(['src/index.ts', 'src/runtime/index.ts', 'src/codegen/index.ts']);

/** Rooms that run in places without Node: the packages they may use. */
const PURE: Partial<Record<Room, readonly string[]>> = {
  'src/graph': ['zod', '@noble/hashes'],
  'src/plan': [],
  'src/check': [],
  'src/print': ['@dagrejs/dagre'],
  'src/infer': [],
  'src/runtime/engine': [],
};

/** Packages that one place in the product adapts, so that everything else is free of them. */
const ADAPTED: readonly { readonly name: string; readonly place: RegExp }[] = [
  { name: '@modelcontextprotocol/sdk', place: /^src\/runtime\/protocol\/sdk1\// },
  { name: '@modelcontextprotocol/server', place: /^src\/runtime\/protocol\/sdk2\// },
  { name: '@modelcontextprotocol/client', place: /^src\/runtime\/protocol\/upstream\// },
  { name: '@opentelemetry/api', place: /^src\/opentelemetry\// },
  { name: '@photostructure/sqlite', place: /^src\/runtime\/runs\/store\/sqlite\/driver\.ts$/ },
  ...['client', 'worker', 'workflow', 'common', 'activity'].map((name) => ({
    name: `@temporalio/${name}`,
    place: /^src\/temporal\//,
  })),
  { name: 'ts-morph', place: /^src\/codegen\/source\// },
];

const RUNS = 'src/runtime/runs/';

/** Folders of `runs`, each of which imports only those before it; the empty name is the room's top level. */
const RUNS_FOLDERS = ['store', 'run', 'actions', '', 'operate'];

function folderOfRuns(file: string): number {
  const [folder = '', ...rest] = file.slice(RUNS.length).split('/');
  return RUNS_FOLDERS.indexOf(rest.length === 0 ? '' : folder);
}

const COMMANDS = 'src/cli/commands/';

/** Commands reach stores by the ports of `runs`. */
const SQLITE = 'src/runtime/runs/store/sqlite/';

/** It loads the store that a name is of, whichever room that is in. */
const STORE_NAMES = 'src/runtime/runs/operate/run-stores.ts';

/** What `--help` must not wait for. */
const HEAVY = /^src\/(cli\/commands|codegen|runtime)\//;

/** The room a file of the product stands in, or `undefined` where it stands in none. */
export function roomOf(file: string): Room | undefined {
  if (ENTRY_POINTS.has(file)) return 'entry';
  return ROOMS.find((room) => file.startsWith(`${room}/`));
}

/** What is wrong with an import of the product's own code, as a sentence, or `undefined`. */
export function importFault(link: Import): string | undefined {
  const room = roomOf(link.from);
  if (room === undefined) return `${link.from} stands in no room`;
  return link.to.startsWith('src/') ? roomFault(link, room) : packageFault(link, room);
}

function roomFault(link: Import, room: Room): string | undefined {
  const target = roomOf(link.to);
  const said = `${link.from} imports ${link.to}`;
  if (target === undefined) return `${said}, which stands in no room`;
  const opensStore = link.from === STORE_NAMES && link.how === 'lazy' && target === 'src/temporal';
  if (ROOMS.indexOf(target) > ROOMS.indexOf(room) && !opensStore)
    return `${said}: ${target} stands below ${room}`;
  if (link.from.startsWith('src/runtime/') && link.to.startsWith('src/codegen/')) {
    return `${said}: nothing at run time loads codegen`;
  }
  if (room === 'src/codegen' && (target === 'src/runtime/engine' || target === 'src/runtime/secrets')) {
    return `${said}: codegen runs nothing`;
  }
  if (room === 'src/runtime/tools' && target === 'src/runtime/engine' && !link.to.endsWith('/contract.ts')) {
    return `${said}: tools know no run, only the engine's contract`;
  }
  if (room === 'src/runtime/runs' && room === target && folderOfRuns(link.to) > folderOfRuns(link.from)) {
    return `${said}: folders of runs import only those below them`;
  }
  if (room === 'src/cli' && link.to.startsWith(SQLITE) && !link.from.includes('.test.')) {
    return `${said}: a command opens a store with openStore`;
  }
  if (room === 'src/cli' && link.how === 'value' && !link.from.startsWith(COMMANDS) && HEAVY.test(link.to)) {
    return `${said}: a command is loaded when it runs, with import()`;
  }
  return undefined;
}

function packageFault(link: Import, room: Room): string | undefined {
  const said = `${link.from} imports ${link.to}`;
  if (isOf('stepwright', link.to)) return `${said}: the product's own files import each other by path`;
  const adapted = ADAPTED.find((entry) => isOf(entry.name, link.to));
  if (adapted !== undefined && !adapted.place.test(link.from)) return `${said}, which has one adapter`;
  const allowed = PURE[room];
  if (allowed !== undefined && !allowed.some((name) => isOf(name, link.to))) {
    return `${said}: ${room} runs where there is no Node, and uses ${allowed.join(', ') || 'no packages'}`;
  }
  return undefined;
}

/** Names a package that the product imports and its users would not get, or `undefined`. */
export function undeclaredPackage(link: Import, dependencies: readonly string[]): string | undefined {
  if (link.to.startsWith('src/') || link.to.startsWith('node:')) return undefined;
  return dependencies.some((name) => isOf(name, link.to)) ? undefined : `${link.from} imports ${link.to}`;
}

function isOf(name: string, specifier: string): boolean {
  return specifier === name || specifier.startsWith(`${name}/`);
}

/** The files that import each other in a circle, for types as well, and those between two circles. */
export function cycles(imports: readonly Import[]): string[] {
  let left = imports.filter(({ how }) => how !== 'lazy');
  for (;;) {
    const from = new Set(left.map((link) => link.from));
    const to = new Set(left.map((link) => link.to));
    const kept = left.filter((link) => from.has(link.to) && to.has(link.from));
    if (kept.length === left.length) return [...from].sort();
    left = kept;
  }
}
