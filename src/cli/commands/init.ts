import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { packageFile, packageVersion } from '../../formats/own-files.js';
import { relativePath } from '../../formats/source-record.js';
import { Misuse, optionCommand, texts } from '../command-line.js';
import { openTerminal } from './terminal.js';

/** `stepwright init [FOLDER]`: writes a project to begin with. */
export const initCommand = optionCommand(
  'stepwright init',
  `Usage: stepwright init [FOLDER] [options]

Writes a project: two tools, a workflow that asks a question, a test, and the settings of editors, hosts, CI and Docker.
FOLDER is made if it is not there (default: the working directory). A file that exists is never replaced: then no file is
written. A project in YAML keeps a \`package.json\` and a \`.gitignore\` that are there.

Options:
  --yaml           a project without TypeScript: a workflow in YAML over another MCP server
  --yes            write without asking
  --help           show this
`,
  { yaml: { type: 'boolean' }, yes: { type: 'boolean' } } as const,
  1,
  async ({ values, args }, output) => {
    const [folder = '.'] = args;
    const root = path.resolve(folder);
    if (existsSync(root) && !statSync(root).isDirectory())
      throw new Misuse(`stepwright: \`${folder}\` is a file: name a folder`);
    const template = values.yaml === true ? 'yaml' : 'typescript';
    const files = projectFiles(template, { name: packageName(root), package: packageSource(root) });
    const names = [...files.keys()].sort();
    const isThere = (name: string): boolean => existsSync(path.join(root, name));
    // `npm install` has made one, or a repository has: a workflow in YAML needs neither.
    if (template === 'yaml')
      for (const name of ['package.json', '.gitignore'].filter(isThere)) files.delete(name);
    const existing = names.filter((name) => files.has(name) && isThere(name));
    if (existing.length > 0) {
      output.err(
        `stepwright: \`${folder}\` has ${existing.join(', ')}: no file was written. \`stepwright init\` writes ${names.join(', ')}; name an empty folder\n`,
      );
      return 1;
    }
    if (values.yes !== true && process.stdin.isTTY) {
      const terminal = openTerminal(output);
      const reply = await terminal.ask(`Write ${files.size} files to ${root}? [Y/n]`);
      terminal.close();
      if (!/^(y|yes)?$/i.test(reply?.trim() ?? 'n')) return 1;
    }
    const report = (name: string): void =>
      output.out(`${texts.written(path.posix.join(folder.replaceAll('\\', '/'), name))}\n`);
    for (const [name, text] of files) {
      mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
      writeFileSync(path.join(root, name), text);
      report(name);
    }
    const enter = root === process.cwd() ? '' : `cd ${/\s/.test(folder) ? `"${folder}"` : folder} && `;
    if (template === 'yaml') {
      const { checkDataProject } = await import('../../codegen/data-project.js');
      const { written } = await checkDataProject({ root });
      for (const name of written) report(name);
    }
    const install = files.has('package.json') ? 'npm install && ' : '';
    output.out(`\nNext: ${enter}${install}${NEXT[template]}\n`);
    return 0;
  },
);

/** What is typed after the files are written. */
const NEXT = {
  typescript: 'npm test',
  yaml: 'npx stepwright run add-note --arg "line=Buy bread"',
} as const;

/** The files of a template by their names in a project: `_` at the start of a name replaces a dot. */
function projectFiles(
  template: keyof typeof NEXT,
  values: Readonly<Record<string, string>>,
): Map<string, string> {
  const folder = packageFile(`templates/${template}`);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    files.map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      const target = path
        .relative(folder, file)
        .split(path.sep)
        .join('/')
        .replace(/(^|\/)_/g, '$1.');
      const text = readFileSync(file, 'utf8').replace(/\{\{(\w+)\}\}/g, (match, key) => values[key] ?? match);
      return [target, text];
    }),
  );
}

/** What a project asks for: this version, or the file that this package was installed from. */
function packageSource(root: string): string {
  const modules = path.dirname(packageFile('.'));
  try {
    const lock = JSON.parse(readFileSync(path.join(modules, '.package-lock.json'), 'utf8'));
    const [, file] = /^file:(.*\.tgz)$/.exec(lock.packages['node_modules/stepwright'].resolved) ?? [];
    const tarball = path.resolve(path.dirname(modules), file ?? '');
    if (file !== undefined && existsSync(tarball)) return `file:${relativePath(root, tarball)}`;
  } catch {
    // It was not installed by npm.
  }
  return `^${packageVersion()}`;
}

/** A name for the package in a folder. */
function packageName(root: string): string {
  const name = path
    .basename(root)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' ? 'workflows' : name;
}
