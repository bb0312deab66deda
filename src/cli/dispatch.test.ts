import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { dispatched as run } from './dispatched.fixture.js';

describe('stepwright', () => {
  test('--help names every command', async () => {
    const { code, out, err } = await run('--help');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const command of ['codegen', 'check', 'graph', 'list', 'run', 'serve', 'runs', 'explain']) {
      expect(out).toMatch(new RegExp(`^ {2}${command} `, 'm'));
    }
    expect(await run('-h')).toEqual({ code, out, err });
  });

  test('without a command prints the help as an error', async () => {
    const { code, out, err } = await run();
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toBe((await run('--help')).out);
  });

  test('graph of a file says how its workflows are drawn', async () => {
    const { code, err } = await run('graph', 'flights.yaml');
    expect(code).toBe(2);
    expect(err).toContain('let codegen read `flights.yaml` by `specs` in the configuration');
  });

  test.each(['postgres:x', 'sqlite:', 'runs.db', 'temporal://'])(
    'serve --store %s names what it takes',
    async (store) => {
      const { code, err } = await run('serve', '--store', store);
      expect(code).toBe(2);
      expect(err).toContain(
        `--store is 'memory', 'sqlite:PATH' or 'temporal://HOST:PORT/NAMESPACE?taskQueue=QUEUE', not '${store}'`,
      );
    },
  );

  test('--version prints the version of the package', async () => {
    const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    expect(await run('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });

  test.each([
    [['codgen'], 'there is no command `codgen` (did you mean `codegen`?); '],
    [
      ['deploy'],
      'there is no command `deploy` (known: `init`, `dev`, `codegen`, `check`, `pull`, `sign-in`, `graph`, `list`, `run`, `validate`, `serve`, `worker` and ',
    ],
    [['generate'], 'there is no command `generate` (did you mean `codegen`?); '],
    [['help', 'grahp'], 'there is no command `grahp` (did you mean `graph`?); '],
    [['constructor'], 'there is no command `constructor` (known: '],
    [['--codegen'], '`stepwright` has no option `--codegen` (did you mean `codegen`?); '],
    [['--dry-run'], '`stepwright` has no option `--dry-run` (known: `--help`, `--version`); '],
    [
      ['graph', 'w', '--formt', 'text'],
      '`stepwright graph` has no option `--formt` (did you mean `--format`?); ',
    ],
    [['explain', '--json'], '`stepwright explain` has no option `--json` (known: `--help`); '],
    [['--verison'], 'has no option `--verison` (did you mean `--version`?); '],
    [['codegen', '--chek'], '`stepwright codegen` has no option `--chek` (did you mean `--check`?); '],
    [['codegen', '--toString'], 'has no option `--toString` (known: `--root`, '],
    [['codegen', '--check=yes'], 'option `--check` of `stepwright codegen` takes no value'],
    [['codegen', '--root'], 'option `--root` of `stepwright codegen` needs a value'],
    [['codegen', '--root='], 'option `--root` of `stepwright codegen` needs a value'],
    [['codegen', '--root', '--check'], 'option `--root` of `stepwright codegen` needs a value'],
    [['codegen', 'src'], 'takes no argument, and was given `src`'],
    [
      ['codegen', '--format', 'jsno'],
      '`--format` of `stepwright codegen` takes pretty, json or github, not `jsno` (did you mean `json`?)',
    ],
    [['check', '--format=xml'], '`--format` of `stepwright check` takes pretty, json or github, not `xml`'],
    [['check', '--check'], '`stepwright check` has no option `--check`'],
    [['check', '--root', 'no/such/folder'], 'there is no folder `no/such/folder`'],
    [['graph'], '`stepwright graph` needs the name of a workflow'],
    [['graph', 'a', 'b'], '`stepwright graph` takes one argument, and was given `b`'],
    [
      ['graph', 'a', '--format', 'png'],
      '`--format` of `stepwright graph` takes text, mermaid, svg or html, not `png`',
    ],
    [['graph', 'a', '--root', 'no/such/folder'], 'there is no folder `no/such/folder`'],
    [['explain'], '`stepwright explain` needs a code, such as `SW3001` or `E_TIMEOUT`'],
    [['explain', 'SW301'], 'there is no code `SW301` (did you mean `SW3'],
    [['explain', 'E_TIMEUOT'], 'there is no code `E_TIMEUOT` (did you mean `E_TIMEOUT`?)'],
    [
      ['explain', '__proto__'],
      'there is no code `__proto__`; `docs/diagnostics/README.md` and `docs/run-time-codes.md` of the package list all',
    ],
    [['explain', 'SW3001', 'SW3002'], '`stepwright explain` takes one argument, and was given `SW3002`'],
    [['codegen', '--root', 'no/such/folder'], 'there is no folder `no/such/folder`'],
  ])('answers %j with one line and exit code 2', async (args, text) => {
    const { code, out, err } = await run(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(text);
    expect(err).toMatch(/^stepwright: [^\n]+\n$/);
  });

  test.each([
    ['check', '--no-cache', '--config', 'no-such-config.json'],
    ['validate', '--root', 'docs', 'no-such-file.yaml'],
  ])('%s has --json, as run has it', async (...args) => {
    const { code, out } = await run(...args, '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out.split('\n', 1)[0] ?? '')).toMatchObject({ code: expect.stringMatching(/^SW/) });
  });

  test('codegen --help names its options', async () => {
    const { code, out } = await run('codegen', '--help');
    expect(code).toBe(0);
    for (const option of ['--check', '--root DIR', '--config FILE']) expect(out).toContain(option);
  });

  test('check --help, graph --help and explain --help list their arguments', async () => {
    expect((await run('check', '--help')).out).toContain('--format FORMAT');
    expect((await run('graph', '--help')).out).toContain('--registry FILE');
    expect((await run('explain', '--help')).out).toContain('stepwright explain CODE');
  });

  test.each(['codegen', 'check', 'graph', 'explain'])('%s -h prints its help', async (command) => {
    const help = await run(command, '--help');
    expect(help).toMatchObject({ code: 0, err: '' });
    expect(await run(command, '-h')).toEqual(help);
    expect(await run('help', command)).toEqual(help);
  });

  test.each(['SW3001', 'sw3001', '3001'])('explain %s prints its page', async (code) => {
    const page = await readFile(new URL('../../docs/diagnostics/SW3001.md', import.meta.url), 'utf8');
    expect(await run('explain', code)).toEqual({ code: 0, out: page, err: '' });
  });

  test.each(['E_TIMEOUT', 'e_timeout'])('explain %s prints its section of the page', async (code) => {
    const page = await readFile(new URL('../../docs/run-time-codes.md', import.meta.url), 'utf8');
    const [, section = ''] = /^### (E_TIMEOUT\n.*?)\n#/ms.exec(page) ?? [];
    expect(await run('explain', code)).toEqual({ code: 0, out: `# ${section}`, err: '' });
  });

  test('the package includes the pages', async () => {
    const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
    expect((JSON.parse(manifest) as { files: string[] }).files).toContain('docs');
  });
});

describe('an internal error', () => {
  const fault = new RangeError('Maximum call stack size exceeded\n    at somewhere');
  beforeEach(() => vi.resetModules());
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.doUnmock('../codegen/codegen.js');
    vi.resetModules();
  });

  test('is reported with a request to report it, without a stack', async () => {
    vi.stubEnv('STEPWRIGHT_DEBUG', '');
    vi.doMock('../codegen/codegen.js', () => ({ runCodegen: () => Promise.reject(fault) }));
    const { code, out, err } = await run('codegen', '--no-cache');
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toMatch(
      /^stepwright: internal error: Maximum call stack size exceeded\n.*please report it.*\n$/,
    );
  });

  test('shows its stack with STEPWRIGHT_DEBUG', async () => {
    vi.stubEnv('STEPWRIGHT_DEBUG', '1');
    vi.doMock('../codegen/codegen.js', () => ({ runCodegen: () => Promise.reject(fault) }));
    expect((await run('check', '--no-cache')).err).toContain('dispatch.test.ts:');
  });
});
