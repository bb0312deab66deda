import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const manifest = createRequire(import.meta.url).resolve('yaml-language-server/package.json');
const PROGRAM = path.join(path.dirname(manifest), 'bin/yaml-language-server');

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
}

/** A place in a document as the protocol has it: from zero. */
interface Position {
  readonly line: number;
  readonly character: number;
}

export interface CompletionItem {
  readonly label: string;
  readonly documentation?: string | { readonly value: string };
}

/** The YAML language server over stdio, as an editor starts it. */
export class LanguageServer {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #pending = new Map<number, (result: unknown) => void>();
  readonly #reports = new Map<string, (messages: readonly string[]) => void>();
  #buffer = Buffer.alloc(0);
  #next = 1;

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    child.stdout.on('data', (chunk: Buffer) => {
      this.#buffer = Buffer.concat([this.#buffer, chunk]);
      for (let text = this.#take(); text !== undefined; text = this.#take())
        this.#receive(JSON.parse(text) as Message);
    });
  }

  static async start(root: string): Promise<LanguageServer> {
    const server = new LanguageServer(spawn(process.execPath, [PROGRAM, '--stdio'], { cwd: root }));
    const rootUri = pathToFileURL(root).href;
    await server.#request('initialize', {
      ...{ processId: process.pid, rootUri, workspaceFolders: [{ uri: rootUri, name: 'project' }] },
      capabilities: {
        textDocument: {
          completion: { completionItem: { documentationFormat: ['plaintext'] } },
          hover: { contentFormat: ['plaintext'] },
        },
        workspace: { configuration: true },
      },
    });
    server.#notify('initialized', {});
    return server;
  }

  /** Opens a document and returns the messages of its diagnostics. */
  open(file: string, text: string): Promise<readonly string[]> {
    const uri = pathToFileURL(file).href;
    const reported = new Promise<readonly string[]>((resolve) => this.#reports.set(uri, resolve));
    this.#notify('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version: 1, text } });
    return reported;
  }

  async complete(file: string, position: Position): Promise<readonly CompletionItem[]> {
    const textDocument = { uri: pathToFileURL(file).href };
    const found = await this.#request('textDocument/completion', { textDocument, position });
    return (found as { readonly items: readonly CompletionItem[] }).items;
  }

  async hover(file: string, position: Position): Promise<string> {
    const textDocument = { uri: pathToFileURL(file).href };
    const found = await this.#request('textDocument/hover', { textDocument, position });
    const { contents } = (found ?? {}) as { readonly contents?: string | { readonly value: string } };
    return typeof contents === 'object' ? contents.value : (contents ?? '');
  }

  async stop(): Promise<void> {
    await this.#request('shutdown', null);
    this.#notify('exit', null);
  }

  #receive({ id, method, params, result }: Message): void {
    if (method === 'textDocument/publishDiagnostics') {
      const { uri, diagnostics } = params as {
        readonly uri: string;
        readonly diagnostics: readonly { readonly message: string }[];
      };
      this.#reports.get(uri)?.(diagnostics.map(({ message }) => message));
    } else if (method === 'workspace/configuration') {
      const { items } = params as { readonly items: readonly { readonly section: string }[] };
      const settings = { validate: true, completion: true, hover: true, schemaStore: { enable: false } };
      this.#send({ id, result: items.map(({ section }) => (section === 'yaml' ? settings : {})) });
    } else if (method !== undefined && id !== undefined) this.#send({ id, result: null });
    else if (id !== undefined) {
      this.#pending.get(id)?.(result);
      this.#pending.delete(id);
    }
  }

  #request(method: string, params: unknown): Promise<unknown> {
    const id = this.#next++;
    const answered = new Promise((resolve) => this.#pending.set(id, resolve));
    this.#send({ id, method, params });
    return answered;
  }

  #notify(method: string, params: unknown): void {
    this.#send({ method, params });
  }

  #send(message: object): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  /** The next whole message, if it has arrived. */
  #take(): string | undefined {
    const end = this.#buffer.indexOf('\r\n\r\n');
    const [, length] =
      /Content-Length: (\d+)/.exec(this.#buffer.subarray(0, Math.max(end, 0)).toString()) ?? [];
    const start = end + 4;
    if (length === undefined || this.#buffer.length < start + Number(length)) return undefined;
    const text = this.#buffer.subarray(start, start + Number(length)).toString();
    this.#buffer = this.#buffer.subarray(start + Number(length));
    return text;
  }
}
