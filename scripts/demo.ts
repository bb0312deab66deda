import { cp, mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { GetPromptResult } from '@modelcontextprotocol/sdk/types.js';

/** Runs the Logseq example as an MCP client sees it: a copy of the graph, a server over stdio, two conversations. */
async function demo(): Promise<void> {
  const folder = join(await mkdtemp(join(tmpdir(), 'stepwright-demo-')), 'graph');
  await cp(path('../examples/logseq/graph'), folder, { recursive: true });
  const client = await connect(folder);
  try {
    const { prompts } = await client.listPrompts();
    heading('prompts/list');
    for (const prompt of prompts) {
      const names = (prompt.arguments ?? []).map(
        (argument) => argument.name + (argument.required ? '' : '?'),
      );
      console.log(`  ${prompt.name}(${names.join(', ')}): ${prompt.description ?? ''}`);
    }

    const before = await journalLines(folder);
    await converse(client, { project: 'Website', task: 'Fix login bug' });
    const added = (await journalLines(folder)).filter((line) => !before.includes(line));
    heading('New in the journal');
    for (const line of added) console.log(`  ${line}`);
    check(added.length === 2, 'the journal has one new task and its id');
    check(added[0]?.endsWith('- TODO [[Website]] Fix login bug') === true, 'the new line is the task');

    const trace = await converse(client, { project: 'Nonexistent', task: 'Fix bug' });
    const text = trace.map((message) => message.text).join('\n');
    check(
      text.includes("Project 'Nonexistent' not found in available pages"),
      'the trace says what was wrong',
    );
    check(!text.includes("Calling tool 'add-journal-task'"), 'nothing runs after the step that failed');
    check((await journalLines(folder)).length === before.length + added.length, 'nothing was written');
    console.log(`\nBoth runs went as they should. The graph stays in ${folder}`);
  } finally {
    await client.close();
  }
}

async function connect(folder: string): Promise<Client> {
  const client = new Client({ name: 'stepwright-demo', version: '0.1.0' });
  const loader = new URL('./register.mjs', import.meta.url).href;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--conditions=@stepwright/source', '--import', loader, path('../examples/logseq/main.ts'), folder],
    cwd: path('..'),
    stderr: 'inherit',
  });
  await client.connect(transport);
  return client;
}

interface Message {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

async function converse(client: Client, args: Record<string, string>): Promise<Message[]> {
  heading(`prompts/get add-task ${JSON.stringify(args)}`);
  const messages = (await client.getPrompt({ name: 'add-task', arguments: args })).messages.map(toText);
  for (const [index, { role, text }] of messages.entries()) {
    console.log(`\n${paint(role === 'user' ? 'cyan' : 'green', `${index + 1} [${role}]`)}`);
    console.log(text.trimEnd().replace(/^(?=.)/gm, '  '));
  }
  return messages;
}

function toText({ role, content }: GetPromptResult['messages'][number]): Message {
  if (content.type === 'text') return { role, text: content.text };
  if (content.type === 'resource') {
    const body = 'text' in content.resource ? content.resource.text : '(binary)';
    return { role, text: `${content.resource.uri}\n${body}` };
  }
  return { role, text: `(${content.type})` };
}

/** Every line of every journal, with its file and line number. */
async function journalLines(folder: string): Promise<string[]> {
  const journals = join(folder, 'journals');
  const files = (await readdir(journals)).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(journals, file), 'utf8')));
  return texts.flatMap((text, index) =>
    text
      .trimEnd()
      .split('\n')
      .map((line, number) => `${join(journals, files[index] ?? '')}:${number + 1}: ${line}`),
  );
}

function check(holds: boolean, expectation: string): void {
  if (!holds) throw new Error(`The demo expected that ${expectation}`);
}

function heading(text: string): void {
  console.log(`\n${paint('bold', `── ${text}`)}`);
}

/** Adds colours if the output is a terminal. */
function paint(format: 'bold' | 'cyan' | 'green', text: string): string {
  return process.stdout.isTTY && process.env.NO_COLOR === undefined ? styleText(format, text) : text;
}

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

await demo();
