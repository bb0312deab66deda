import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type typescript from 'typescript';

const root = resolve(import.meta.dirname, '../..');

/** What an editor does with one file; positions are offsets in its text. */
export interface Editor {
  /** Messages. */
  errors(): Promise<readonly string[]>;
  /** Where a rename at a position would write, sorted. */
  renames(position: number): Promise<readonly number[]>;
  /** What counts as a reference at a position, sorted. */
  references(position: number): Promise<readonly number[]>;
  /** Where a name at a position is declared. */
  definitions(position: number): Promise<readonly number[]>;
  /** The names that fit at a position. */
  completions(position: number): Promise<readonly string[]>;
  close(): void;
}

const ascending = (positions: readonly number[]): readonly number[] => [...positions].sort((a, b) => a - b);

/** An editor with the language service of TypeScript 5 or 6. */
export function serviceEditor(
  ts: typeof typescript,
  source: string,
  { exactOptionalPropertyTypes }: { readonly exactOptionalPropertyTypes: boolean },
): Editor {
  const file = join(import.meta.dirname, 'accepted/editor.ts');
  const options: typescript.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes,
    experimentalDecorators: true,
    skipLibCheck: true,
    types: [],
    customConditions: ['@stepwright/source'],
  };
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const text = path === file ? source : ts.sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (path) => path === file || ts.sys.fileExists(path),
    readFile: (path) => (path === file ? source : ts.sys.readFile(path)),
    directoryExists: ts.sys.directoryExists,
  });
  const starts = (found: readonly { readonly textSpan: typescript.TextSpan }[] = []): readonly number[] =>
    ascending(found.map(({ textSpan }) => textSpan.start));
  return {
    errors: async () =>
      service
        .getSemanticDiagnostics(file)
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')),
    renames: async (position) => starts(service.findRenameLocations(file, position, false, false, {})),
    references: async (position) => starts(service.getReferencesAtPosition(file, position)),
    definitions: async (position) => starts(service.getDefinitionAtPosition(file, position)),
    completions: async (position) =>
      (service.getCompletionsAtPosition(file, position, {})?.entries ?? []).map(({ name }) => name),
    close: () => service.dispose(),
  };
}

/** A place in a text, counted from 0. */
interface Point {
  readonly line: number;
  readonly character: number;
}

interface Located {
  readonly range: { readonly start: Point };
}

/** An editor with the language server of TypeScript 7, which runs until it is closed. */
export async function serverEditor(source: string): Promise<Editor> {
  const parent = join(root, 'test/.tmp');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'editor-'));
  const compilerOptions = {
    ...{ target: 'ES2022', module: 'NodeNext', strict: true, experimentalDecorators: true },
    ...{ skipLibCheck: true, types: [], customConditions: ['@stepwright/source'] },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['editor.ts'] }));
  writeFileSync(join(folder, 'editor.ts'), source);
  const textDocument = { uri: pathToFileURL(join(folder, 'editor.ts')).href };

  const tsc = join(root, 'node_modules/typescript-7/bin/tsc');
  const server = new Connection(spawn(process.execPath, [tsc, '--lsp', '--stdio'], { cwd: folder }));
  await server.request('initialize', {
    ...{ processId: process.pid, rootUri: pathToFileURL(folder).href, capabilities: {} },
  });
  server.notify('initialized', {});
  const document = { ...textDocument, languageId: 'typescript', version: 1, text: source };
  server.notify('textDocument/didOpen', { textDocument: document });

  const lines = source.split('\n');
  const pointOf = (position: number): Point => {
    const before = source.slice(0, position).split('\n');
    return { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
  };
  const positionOf = ({ line, character }: Point): number =>
    lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + character;
  const starts = (found: readonly Located[] | null): readonly number[] =>
    ascending((found ?? []).map(({ range }) => positionOf(range.start)));
  const ask = <T>(method: string, position: number, more: object = {}): Promise<T> =>
    server.request<T>(`textDocument/${method}`, { textDocument, position: pointOf(position), ...more });
  return {
    errors: async () => {
      type Report = { readonly items: readonly { readonly severity: number; readonly message: string }[] };
      const { items } = await server.request<Report>('textDocument/diagnostic', { textDocument });
      return items.filter(({ severity }) => severity === ERROR).map(({ message }) => message);
    },
    renames: async (position) => {
      type Edits = { readonly changes?: Readonly<Record<string, readonly Located[]>> } | null;
      const edits = await ask<Edits>('rename', position, { newName: 'renamed' });
      return starts(Object.values(edits?.changes ?? {}).flat());
    },
    references: async (position) =>
      starts(await ask('references', position, { context: { includeDeclaration: true } })),
    definitions: async (position) => {
      const found = await ask<Located | readonly Located[] | null>('definition', position);
      return starts(found === null ? [] : [found].flat());
    },
    completions: async (position) => {
      type Items = { readonly items: readonly { readonly label: string }[] } | null;
      return ((await ask<Items>('completion', position))?.items ?? []).map(({ label }) =>
        label.replace(/\?$/, ''),
      );
    },
    close: () => {
      server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The severity of the protocol; what is unused is a hint. */
const ERROR = 1;

/** JSON-RPC 2.0 over the streams of a process, as the Language Server Protocol frames it. */
class Connection {
  readonly #process: ChildProcess;
  readonly #open = new Map<number, { resolve(result: never): void; reject(error: Error): void }>();
  #received = Buffer.alloc(0);

  constructor(server: ChildProcess) {
    this.#process = server;
    server.stdout?.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      for (let body = this.#take(); body !== undefined; body = this.#take()) this.#receive(JSON.parse(body));
    });
    server.once('close', (code) => {
      for (const { reject } of this.#open.values()) reject(new Error(`the server ended with ${code}`));
    });
  }

  request<T>(method: string, params: object): Promise<T> {
    const id = this.#open.size;
    this.#send({ id, method, params });
    return new Promise<T>((resolve, reject) => this.#open.set(id, { resolve, reject }));
  }

  notify(method: string, params: object): void {
    this.#send({ method, params });
  }

  close(): void {
    this.#process.kill();
  }

  #send(message: object): void {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#process.stdin?.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  /** The next whole body. */
  #take(): string | undefined {
    const head = this.#received.indexOf('\r\n\r\n');
    if (head < 0) return undefined;
    const [, length] = /Content-Length: (\d+)/i.exec(this.#received.toString('latin1', 0, head)) ?? [];
    const end = head + 4 + Number(length);
    if (this.#received.length < end) return undefined;
    const body = this.#received.toString('utf8', head + 4, end);
    this.#received = this.#received.subarray(end);
    return body;
  }

  #receive(message: {
    readonly id?: number;
    readonly method?: string;
    readonly result?: unknown;
    readonly error?: { readonly message: string };
  }): void {
    const { id, method, result, error } = message;
    if (id === undefined) return;
    // The server asks for settings, and to be told of files: there are none.
    if (method !== undefined) this.#send({ id, result: null });
    else if (error === undefined) this.#open.get(id)?.resolve(result as never);
    else this.#open.get(id)?.reject(new Error(error.message));
  }
}
