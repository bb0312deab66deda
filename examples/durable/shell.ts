import { spawn } from 'node:child_process';

/** What a command printed. */
export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
}

/** Commands that the example does not run: nobody has their registry or repository. Each is a stub, and says so. */
const STUBS: readonly (readonly [RegExp, string])[] = [
  [/^docker (build|run|push) /, 'stub of docker\n'],
  [/npm run lint:score$/, 'stub of the linter\nScore: 96\n'],
  [/^cd \/tmp\/repo && npm test$/, 'stub of the tests\n'],
];

/** Runs a command of a step as its agent does: in a shell, with the limit of the step. @param seconds the limit. */
export async function runCommand(command: string, seconds: number): Promise<CommandResult> {
  const stub = STUBS.find(([pattern]) => pattern.test(command.trim()));
  if (stub !== undefined) return { stdout: stub[1], stderr: '', exit_code: 0 };
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: seconds * 1_000,
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === null) reject(new Error(`the command was ended by ${signal}`));
      else resolve({ stdout, stderr, exit_code: code });
    });
  });
}
