import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dispatched } from '../../src/cli/dispatched.fixture.js';
import { sharedClasses } from '../docs/diagnostic-examples.js';
import { type TempProject, tempProject } from '../docs/temp-project.js';

const NOTE = `import { Arg, call, done, Step, Workflow } from 'stepwright';
import { AddLine, FindPage } from '../tools.js';

@Workflow({ name: 'note', description: 'note something' })
export class Note {
  @Arg({ description: 'Text' }) text!: Arg<string>;
  @Step() page = call(FindPage, { name: 'Inbox' });
  @Step() line = call(AddLine, { path: this.page.path, text: this.text });
  output = done({ line: this.line.line });
}
`;

const TEXT = `note: note something
arguments:
- text: string
steps:
- page: call find-page
  with: { name: "Inbox" }
- line: call add-line
  with: { path: page.path, text }
- output: return { line: line.line }
`;

const MERMAID = `flowchart TD
  n0["page<br/>call find-page"]
  n1["line<br/>call add-line"]
  n2(["output<br/>return { line: line.line }"])
  n0 --> n1
  n1 --> n2
`;

describe('stepwright graph', { timeout: 120_000 }, () => {
  let project: TempProject;

  beforeAll(async () => {
    project = await tempProject();
    await project.write('tools.ts', sharedClasses());
    await project.write('one/note.ts', NOTE);
    await project.write('two/note.ts', NOTE);
    await project.write('broken/note.ts', NOTE.replace('this.text', 'this.txt'));
    const registry = (name: string): object => ({
      include: ['tools.ts', `${name}/*.ts`],
      out: `generated/${name}.registry.ts`,
    });
    const config = (...names: string[]): string => JSON.stringify({ registries: names.map(registry) });
    await project.write('stepwright.config.json', config('one', 'two'));
    await project.write('one.json', config('one'));
    await project.write('broken.json', config('broken'));
  });

  afterAll(() => project.remove());

  const graph = (...args: readonly string[]) => dispatched('graph', '--root', project.root, ...args);

  test('prints a workflow as an outline, or as a chart', async () => {
    expect(await graph('note', '--config', 'one.json')).toEqual({ code: 0, out: TEXT, err: '' });
    const chart = await graph('note', '--config', 'one.json', '--format', 'mermaid');
    expect(chart).toEqual({ code: 0, out: MERMAID, err: '' });
  });

  test('prints that of the given registry if several have it', async () => {
    expect(await graph('note')).toEqual({
      code: 2,
      out: '',
      err: 'stepwright: workflow `note` is in generated/one.registry.ts and generated/two.registry.ts; choose one with `--registry`\n',
    });
    expect(await graph('note', '--registry', 'two')).toEqual({ code: 0, out: TEXT, err: '' });
  });

  test('suggests the nearest name', async () => {
    const said = async (...args: string[]): Promise<string> =>
      (await graph(...args, '--config', 'one.json')).err;
    expect(await said('not')).toBe('stepwright: there is no workflow `not` (did you mean `note`?)\n');
    expect(await said('note', '--registry', 'on')).toBe(
      'stepwright: there is no registry `on` with workflows in it (did you mean `one`?)\n',
    );
  });

  test('prints errors in the sources instead', async () => {
    const { code, out, err } = await graph('note', '--config', 'broken.json');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('broken/note.ts:8:67 - error');
  });
});
