import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { skillFolder } from '../../graph/names.js';
import { noProgress } from '../../runtime/runs/request.js';
import type { StepwrightServer } from '../../runtime/server/stepwright-server.js';
import { untypedServer } from '../../runtime/transports/start-server.js';
import { Misuse, optionCommand, REGISTRY_HELP } from '../command-line.js';
import { REGISTRY_OPTIONS, withRegistries } from '../registries.js';

const OPTIONS = { ...REGISTRY_OPTIONS, out: { type: 'string' }, check: { type: 'boolean' } } as const;

/** A file that a command before has written. */
const WRITTEN = /^ {2}stepwright: /m;

/** `stepwright skills`: writes the skills of workflows as files, or compares them. */
export const skillsCommand = optionCommand(
  'stepwright skills',
  `Usage: stepwright skills [options]

Writes the workflows with \`expose: ['skill']\` as skills, each in a folder with \`SKILL.md\`, for hosts that read skills
from files. A server also serves them. Workflows with scopes are left out.

Options:
  --out DIR        the folder of the skills, relative to the root (default: skills)
  --check          write no file; the exit code is 1 if one differs, is missing, or is of a workflow that is gone
${REGISTRY_HELP}`,
  OPTIONS,
  0,
  ({ values }, output) =>
    withRegistries('skills', values, output, async ({ registries, options }) => {
      const { root = '.', out = 'skills', check = false } = values;
      const folder = path.resolve(root, out);
      const texts = new Map<string, string>();
      // Tasks need a store, which the program of the server may set: no run is started here.
      for (const { registry } of registries)
        for (const { name, text } of await skillsOf(
          untypedServer(registry, { store: 'memory', ...options }),
        )) {
          if (texts.has(name))
            throw new Misuse(
              `stepwright: two workflows are the skill \`${name}\`: rename one of them, or name a registry with \`--registry\``,
            );
          texts.set(name, text);
        }
      const changed = [...texts].filter(([name, text]) => contentOf(folder, name) !== text);
      const obsolete = (existsSync(folder) ? readdirSync(folder) : []).filter(
        (name) => !texts.has(name) && WRITTEN.test(contentOf(folder, name) ?? ''),
      );
      const shown = (name: string): string => path.join(out, name, 'SKILL.md');
      for (const name of obsolete)
        output.err(`stepwright: ${shown(name)} is of a workflow that was a skill before: remove it\n`);
      for (const [name, text] of changed) {
        if (check) {
          const what = contentOf(folder, name) === undefined ? 'is missing' : 'is not up to date';
          output.err(`stepwright: ${shown(name)} ${what}: run \`stepwright skills\`\n`);
          continue;
        }
        mkdirSync(path.join(folder, name), { recursive: true });
        writeFileSync(path.join(folder, name, 'SKILL.md'), text);
        output.out(`${shown(name)}\n`);
      }
      if (changed.length === 0) output.out(`skills up to date: ${texts.size}\n`);
      return obsolete.length > 0 || (check && changed.length > 0) ? 1 : 0;
    }),
);

/** The skills that a server lists. It is not started: no tool and no other server is needed for them. */
async function skillsOf(server: StepwrightServer) {
  const skills: { readonly name: string; readonly text: string }[] = [];
  const request = {
    local: true,
    requestId: 'skills',
    signal: new AbortController().signal,
    progress: noProgress,
  };
  for (let cursor: string | undefined; ; ) {
    const { resources, nextCursor } = server.listResources(cursor);
    for (const { uri } of resources) {
      const folder = skillFolder(uri);
      if (folder === undefined) continue;
      const { contents } = await server.readResource(uri, request);
      for (const content of contents)
        if ('text' in content) skills.push({ name: path.posix.basename(folder), text: content.text });
    }
    if (nextCursor === undefined) return skills;
    cursor = nextCursor;
  }
}

function contentOf(folder: string, name: string): string | undefined {
  const file = path.join(folder, name, 'SKILL.md');
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
