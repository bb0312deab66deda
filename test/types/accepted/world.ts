/** Tools, resources, a prompt, a workflow and state that every case may use. */
import {
  Arg,
  type ArgsOf,
  call,
  done,
  Prompt,
  type PromptMessages,
  Resource,
  State,
  Step,
  Tool,
  type ToolContext,
  user,
  Workflow,
} from 'stepwright';
import { z } from 'zod';

@Tool({ name: 'list-pages', description: 'Lists the pages', annotations: { readOnlyHint: true } })
export class ListPages {
  execute(): { pages: string[] } {
    return { pages: [] };
  }
}

@Tool({
  name: 'normalize-project',
  description: 'Finds the project that is meant',
  input: z.object({ input: z.string() }),
  hints: {
    category: 'validation',
    next: [() => AddTask],
    requires: [() => ListPages],
    examples: ['my blog'],
  },
  icons: [{ src: 'https://example.com/icon.svg', mimeType: 'image/svg+xml', sizes: ['any'], theme: 'dark' }],
})
export class NormalizeProject {
  async execute({ input }: { input: string }): Promise<{ name: string; score: number; alias?: string }> {
    return { name: input, score: 1 };
  }
}

@Tool({
  name: 'add-task',
  description: 'Adds a task',
  input: z.object({ project: z.string(), task: z.string(), priority: z.number().optional() }),
  output: z.object({ id: z.string() }),
  secret: ['task'],
})
export class AddTask {
  async execute(
    input: { project: string; task: string; priority?: number },
    context: ToolContext,
  ): Promise<{ id: string }> {
    context.signal.throwIfAborted();
    return { id: input.project };
  }
}

@Tool({ name: 'search', description: 'Searches', input: z.object({ limit: z.number().default(10) }) })
export class Search {
  constructor(readonly folder: string) {}
  async execute({ limit = 10 }: { limit?: number }): Promise<{ lines: { text: string }[] }> {
    return { lines: [{ text: `${this.folder}${limit}` }] };
  }
}

@Tool({ name: 'classify', description: 'Says what a task is' })
export class Classify {
  execute({ task }: { task: string }): {
    kind: 'bug' | 'feature';
    urgency: 1 | 2;
    lines: string[];
    note?: string;
  } {
    return { kind: 'bug', urgency: 1, lines: [task] };
  }
}

@Tool({ name: 'remove-task', description: 'Removes a task' })
export class RemoveTask {
  execute({ id }: { id: string }): { removed: boolean } {
    return { removed: id !== '' };
  }
}

@Resource({ name: 'logseq-intro', description: 'How pages are laid out', file: './intro.md' })
export class LogseqIntro {
  static readonly uri = 'resource://logseq/intro';
}

@Resource({ name: 'page', description: 'A page', mimeType: 'text/markdown' })
export class Page {
  static readonly uriTemplate = 'logseq://pages/{name}';
  constructor(readonly folder: string) {}
  read({ name }: { name: string }): string {
    return `${this.folder}/${name}`;
  }
}

@Resource({ name: 'logo', mimeType: 'image/png' })
export class Logo {
  static readonly uri = 'logseq://logo';
  read(): Uint8Array {
    return Uint8Array.of(1);
  }
}

@Prompt({ name: 'greeting', title: 'Greeting', description: 'Greet somebody' })
export class Greeting {
  @Arg({ description: 'Whom' }) whom!: Arg<string>;
  render({ whom }: ArgsOf<Greeting>): PromptMessages {
    return [user(`Greet ${whom}.`)];
  }
}

@State({ name: 'active-project' })
export class ActiveProject {
  value!: string;
}

@Workflow({ name: 'add-line', description: 'add a line' })
export class AddLine {
  @Arg({ description: 'Line' }) line!: Arg<string>;
  @Arg({ description: 'Project', default: 'inbox' }) project!: Arg<string, 'default'>;
  @Step() added = call(AddTask, { project: this.project, task: this.line });
  output = done({ added: this.added.id });
}
