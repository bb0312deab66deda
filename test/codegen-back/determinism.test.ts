import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { nightlyTest, smoke } from '../nightly.js';
import { createProject, type Project, stepwright } from './project.fixture.js';

/** Text of several lines in every form that a registry contains, and names that locales sort in their own ways. */
const files: Readonly<Record<string, string>> = {
  'src/zod-tools.ts': `import { Tool } from 'stepwright';
import { z } from 'zod';
@Tool({ name: 'add-line', title: 'Add \\
a line', description: \`Adds a line,
  or several of them\`, input: z.object({ line: z.string().describe(\`The line,
without its end\`), 'ä': z.string().default(\`first
second\`), 'Z': z.number().optional() }), output: z.object({ id: z.string() }) })
export class AddLine {
  execute({ line }: { line: string }): { id: string } {
    return { id: line };
  }
}
`,
  'src/imported.ts': `import { Tool } from 'stepwright';
import { z } from 'zod';
const input = z.object({ lines: z.array(z.string()).describe(\`The
lines\`) });
@Tool({ name: 'Item-count', description: 'Counts', input, output: z.object({ count: z.number() }) })
export class Count {
  execute({ lines }: { lines: string[] }): { count: number } {
    return { count: lines.length };
  }
}
`,
  'src/typed-tools.ts': `import { Tool } from 'stepwright';
import type { Page } from './types/page.js';
@Tool({ name: 'find-page', description: 'Finds a page' })
export class FindPage {
  execute({ kind }: Page): Promise<{ kind: 'note' | 'journal'; path: string }> {
    return Promise.resolve({ kind: kind ?? 'note', path: '' });
  }
}
@Tool({ name: 'item_apples', description: 'Sorted by code' })
export class Apples {
  /**
   * Never called.
   */
  execute(input: { kind: 'journal' | 'note' | 'draft'; when?: Partial<Record<'b' | 'a', Page>> }): void {
    void input;
  }
}
`,
  'src/types/page.ts': `/**
 * A page
 * of the graph.
 *
 * It has a name.
 */
export interface Page {
  /**
   * Its name, which
   * may be long.
   *
   * @example first
   * second
   * @minLength 1
   */
  name: string;
  /** One
   * of two. */
  kind?: 'journal' | 'note';
}
`,
  'src/steps.ts': `export function upper(text: string): string {
  // A comment
  return text
    .toUpperCase();
}
export const lower = (text: string): string => {
  return \`\${text.toLowerCase()}
\`;
};
`,
  'src/workflow.ts': `import { Arg, ask, call, done, message, prompt, Prompt, Resource, Step, Workflow } from 'stepwright';
import { lower, upper } from './steps.js';
import { FindPage } from './typed-tools.js';
import { AddLine } from './zod-tools.js';

@Resource({ name: 'intro', description: 'How it works', file: './intro.md' })
export class Intro {
  static readonly uri = 'resource://author/intro';
}

@Workflow({ name: 'add-task', description: \`Adds a task.

  It is kept.\`, instructions: [Intro] })
export class AddTask {
  @Arg({ description: \`What
needs doing\` }) task!: Arg<string>;

  @Step({ guidance: \`Pick the page
  for {task}\` }) found = call(FindPage, { name: this.task });
  @Step() loud = upper(this.task);
  @Step() quiet = lower(this.loud);
  @Step() sure = ask.confirm(\`Add \${this.quiet}
to \${this.found.path}?\`);
  @Step() added = call(AddLine, { line: \`TODO \${this.task}
  \${this.sure ? \`yes
    indeed\` : 'no'} \\
  end\`, ä: this.found.kind === 'note' ? 'a' : 'b' });
  output = done({ id: this.added.id });
}
`,
  'src/intro.md': '# Intro\n\nSeveral\nlines.\n',
};

let projects: Project[] = [];
afterEach(async () => {
  for (const project of projects) await project.remove();
  projects = [];
});

interface Clone {
  /** Of all files of the project, the configuration included. */
  readonly lineEnd?: '\n' | '\r\n';
  readonly isReversed?: boolean;
  readonly prefix?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const OUT = 'generated/registry.ts';

async function clone({ lineEnd = '\n', isReversed = false, prefix }: Clone = {}): Promise<Project> {
  const entries = Object.entries(files).map(
    ([file, text]) => [file, text.replaceAll('\n', lineEnd)] as const,
  );
  const project = await createProject(Object.fromEntries(isReversed ? entries.reverse() : entries), prefix);
  projects.push(project);
  return project;
}

async function codegen(
  { root }: { readonly root: string },
  args: readonly string[] = [],
  { env }: Clone = {},
) {
  const { code, stdout, stderr } = await stepwright(['codegen', ...args], root, env);
  expect({ code, stdout, stderr }).toMatchObject({ code: 0, stderr: '' });
  return readFile(path.join(root, OUT), 'utf8');
}

// Each test starts Node processes with a compiler in them.
describe('two clones of a project have the same registry', { timeout: 240_000 }, () => {
  test.each(
    smoke([
      [
        'all of it',
        {
          prefix: '§ A path (with spaces)-',
          isReversed: true,
          lineEnd: '\r\n',
          env: { TZ: 'Asia/Kolkata', LC_ALL: 'sv_SE.UTF-8' },
        },
      ],
      ['another path', { prefix: '§ A path (with spaces)-' }],
      ['files made in another order', { isReversed: true }],
      ['another time zone', { env: { TZ: 'Pacific/Chatham' } }],
      ['another locale', { env: { LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' } }],
      ['line ends of Windows', { lineEnd: '\r\n' }],
    ] as const),
  )('with %s', async (_, other) => {
    const expected = await codegen(await clone(), [], { env: { TZ: 'UTC', LC_ALL: 'C' } });
    expect(expected).not.toContain('\r');
    const project = await clone(other);
    // Without a cache, then one that is filled, and what it says again.
    expect(await codegen(project, ['--no-cache'], other)).toBe(expected);
    await rm(path.join(project.root, OUT));
    expect(await codegen(project, [], other)).toBe(expected);
    await rm(path.join(project.root, OUT));
    expect(await codegen(project, [], other)).toBe(expected);
  });

  nightlyTest('with a cache of other sources', async () => {
    const expected = await codegen(await clone());
    const project = await clone();
    const edits = Object.entries({
      'src/types/page.ts': (text: string) => text.replace("'journal' | 'note'", "'note' | 'journal' | 'x'"),
      'src/typed-tools.ts': (text: string) =>
        text.replace("'journal' | 'note' | 'draft'", "'draft' | 'note'"),
      'src/imported.ts': (text: string) => text.replace('`The', '`All'),
    });
    for (const [file, edit] of edits) {
      await project.write({ [file]: edit(files[file] ?? '') });
      expect(await codegen(project)).not.toBe(expected);
      await project.write({ [file]: files[file] ?? '' });
      expect(await codegen(project)).toBe(expected);
    }
  });
});
