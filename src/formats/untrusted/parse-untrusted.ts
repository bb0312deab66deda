import { type ChildProcess, spawn } from 'node:child_process';
import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { nodesOf } from '../../graph/nodes.js';
import type { SpecDocument } from '../dialects/dialects.js';
import { programFile, programFlags } from '../own-files.js';
import { pnpFlags } from '../plug-n-play.js';
import { checkSpecs, type ParseOptions, type SpecWorkflows } from '../spec-files.js';
import { SourceText } from '../text/located.js';
import { Reports, UNTRUSTED_LIMITS } from '../text/reading.js';

export interface ChildRequest extends Pick<ParseOptions, 'file' | 'format'> {
  readonly text: string;
}

export interface ChildResponse {
  readonly diagnostics: readonly Diagnostic[];
  readonly document?: SpecDocument;
}

/** How long one text may take. */
const LIMIT_MS = 2_000;

/** How long the child may take to start. */
const START_MS = 30_000;

/** How much may be in one text. Its graphs are checked and registered in this process, which waits for that. */
const MAX_WORKFLOWS = 100;
const MAX_NODES = 1_000;

/** The memory that the child may use. */
const MEMORY_MB = 256;

/**
 * Reads the workflows of a text that others wrote, as `parseWorkflows` does, in a process of its own: a text that makes a
 * parser hang or crash does not affect this one. The text may have 262,144 characters, and takes 2 s at most.
 */
export async function parseUntrustedWorkflows(
  text: string,
  { file, format, registered }: ParseOptions,
): Promise<SpecWorkflows> {
  const reports = new Reports(new SourceText(file, ''));
  if (text.length > UNTRUSTED_LIMITS.length) {
    // The text is not sent to the child.
    const limit = { what: 'characters', limit: UNTRUSTED_LIMITS.length };
    reports.report('SW5001', { start: 0, end: 0 }, limit);
    return checkSpecs([{ reports }], registered);
  }
  const { diagnostics, document } = await readInChild({ text, file, format });
  const beyond = document === undefined ? [] : beyondLimits(document);
  reports.add([...diagnostics, ...beyond]);
  const isUsable = document !== undefined && beyond.length === 0;
  return checkSpecs([{ reports, ...(isUsable ? { document } : {}) }], registered);
}

function beyondLimits({ graphs }: SpecDocument): readonly Diagnostic[] {
  const workflow = graphs[MAX_WORKFLOWS];
  if (workflow !== undefined)
    return [diagnostic('SW5001', workflow.source, { what: 'workflows', limit: MAX_WORKFLOWS })];
  const node = graphs.flatMap(nodesOf)[MAX_NODES];
  return node === undefined ? [] : [diagnostic('SW5001', node.source, { what: 'nodes', limit: MAX_NODES })];
}

function readInChild(request: ChildRequest): Promise<ChildResponse> {
  const { file } = request;
  const child = launch();
  return new Promise((resolve) => {
    const end = (response: ChildResponse): void => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      resolve(response);
    };
    const stop = (reason: string): void =>
      end({ diagnostics: [diagnostic('SW5019', { file, span: [1, 1, 1, 1] }, { file, reason })] });
    let timer = setTimeout(() => stop('the process that reads it does not start'), START_MS);
    child.on('error', ({ message }) => stop(`the process that reads it does not start: ${message}`));
    child.on('exit', (code, signal) => stop(`the process that reads it ended with ${signal ?? code}`));
    child.on('message', (message) => {
      if (message !== 'ready') {
        end(message as ChildResponse);
        return;
      }
      clearTimeout(timer);
      timer = setTimeout(() => stop(`reading it takes more than ${LIMIT_MS} ms`), LIMIT_MS);
      child.send(request);
    });
  });
}

function launch(): ChildProcess {
  const flags = [...pnpFlags(process.cwd()), ...programFlags(), `--max-old-space-size=${MEMORY_MB}`];
  return spawn(process.execPath, [...flags, programFile('formats/untrusted/child')], {
    // Without the environment, which has secrets that the child does not need.
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}
