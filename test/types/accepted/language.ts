/** All of the language that is there: accepted by every compiler, with either kind of decorators. */
import {
  Arg,
  type ArgsOf,
  assistant,
  attempt,
  audio,
  type CompletionContext,
  call,
  chain,
  done,
  fail,
  image,
  link,
  Prompt,
  type PromptMessages,
  prompt,
  type RequestContext,
  Resource,
  type ResourceContent,
  type ResourceContext,
  read,
  Step,
  system,
  Tool,
  user,
  Workflow,
} from 'stepwright';
import { AddTask, Greeting, ListPages, Logo, LogseqIntro, NormalizeProject, Page, Search } from './world.js';

@Resource({ name: 'today', title: 'Today', description: 'What is due', mimeType: 'text/markdown' })
export class Today {
  static readonly uri = 'resource://logseq/today';
  constructor(readonly folder: string) {}
  async read(): Promise<string> {
    return this.folder;
  }
}

@Resource({ name: 'file', description: 'A file of a page' })
export class PageFile {
  static readonly uriTemplate = 'logseq://pages/{page}/files/{+path}{#part}';
  async read(
    { page, path, part }: { page: string; path: string; part: string },
    { uri, signal }: ResourceContext,
  ): Promise<ResourceContent> {
    signal.throwIfAborted();
    return part === '' ? { blob: uri, mimeType: 'image/png' } : { text: `${page}/${path}` };
  }
  complete(variable: 'page' | 'path' | 'part', typed: string, { signal }: CompletionContext): string[] {
    return signal.aborted ? [] : [`${variable} ${typed}`];
  }
}

@Resource({ name: 'bytes' })
export class Bytes {
  static readonly uri = 'logseq://bytes';
  read(): { blob: Uint8Array; mimeType: string } {
    return { blob: Uint8Array.of(1), mimeType: 'image/png' };
  }
}

/** What an exported function may be used for. */
export function firstWord(text: { name: string }): string {
  return text.name.split(' ')[0] ?? '';
}

@Tool({ name: 'login', description: 'Logs in', secret: ['password', 'token'] })
export class Login {
  execute(input: { password: string } | { token: string; user: string }): string {
    return 'password' in input ? input.password : input.user;
  }
}

@Tool({ name: 'ping', description: 'Answers' })
export class Ping {
  execute(_input: Record<string, never>): void {}
}

@Tool({ name: 'sort', description: 'Sorts', annotations: { idempotentHint: true } })
export class Sort {
  execute(input: { by: 'name'; order?: number } | { by?: 'date' }): { by: string } {
    return { by: input.by ?? 'date' };
  }
}

@Workflow({
  name: 'add-task',
  title: 'Add a task',
  description: 'add a task to a project',
  version: '1.0.0',
  domain: 'logseq',
  instructions: [LogseqIntro, Today],
  expose: ['prompt'],
  failFast: true,
})
export class AddTaskToProject {
  @Arg({ description: 'What needs doing', title: 'Task' }) task!: Arg<string>;
  @Arg({ description: 'Date', secret: true }) date?: Arg<string>;
  @Arg({ description: 'At most', default: 10 }) limit!: Arg<number, 'default'>;
  @Arg({ description: 'Where', default: 'top' }) where!: Arg<'top' | 'bottom', 'default'>;
  @Arg({ description: 'Labels', default: ['a', 'b'] }) labels!: Arg<string[], 'default'>;
  @Arg({ description: 'Filter', default: { tags: ['a'], mode: 'all' } }) filter!: Arg<
    { tags: string[]; mode: 'all' | 'any' },
    'default'
  >;
  @Arg({ description: 'Parent', default: null }) parent!: Arg<string | null, 'default'>;
  @Arg({ description: 'Quiet', default: false }) quiet!: Arg<boolean, 'default'>;

  @Step() pages = call(ListPages);
  @Arg({ description: 'Email', pattern: '@', minLength: 3, maxLength: 80, enum: ['a@b', 'c@d'] })
  email?: Arg<string>;
  @Arg({ description: 'Share', min: 0, max: 1, title: 'Share' }) share?: Arg<number>;
  @Arg({ description: 'Count', type: 'integer', enum: [1, 2, 3] }) count?: Arg<number>;
  @Arg({ description: 'Names', minItems: 1, maxItems: 5, itemType: 'string' }) names?: Arg<string[]>;
  @Arg({ description: 'Anything', itemType: 'integer' }) anything?: Arg<unknown[]>;
  @Arg({
    description: 'Options',
    requiredKeys: ['place'],
    properties: { place: { minLength: 1 }, range: { properties: { from: { type: 'integer', min: 1 } } } },
  })
  options?: Arg<{ place?: string; range: { from: number } }>;
  @Arg({ description: 'Free', requiredKeys: ['a'], properties: { a: { maxItems: 2 } } }) free?: Arg<
    Record<string, unknown>
  >;
  @Arg({ description: 'Page', complete: (typed, { arguments: given }) => [`${typed}${given.task}`] })
  page?: Arg<string>;
  @Arg({ description: 'Mode', default: 'fast', complete: async () => ['fast', 'slow'] }) mode!: Arg<
    'fast' | 'slow',
    'default'
  >;

  @Step({ id: 'pong', after: [], title: 'Ping', guidance: 'For {task}', timeoutMs: 5_000 }) ping = call(
    Ping,
    {},
  );
  @Step({
    retry: { attempts: 3, delayMs: 10, backoff: 'exponential', capMs: 100, jitter: 0.5 },
    embed: false,
    summary: 'read {task}',
  })
  file = read(PageFile, { page: this.task, path: 'a/b', part: this.limit });
  @Step() wholePage = read(Page, { name: this.task });
  @Step() links = [link(LogseqIntro), link(Page, { name: this.task }), link(Logo), link(Bytes)];
  @Step() loggedIn = call(Login, { token: this.file ?? 'none', user: this.links[0]?.name ?? '' });
  @Step() pinged = call(Ping);
  @Step() listed = call(ListPages, {}, { id: 'listed-again', timeoutMs: 1_000 });
  @Step() found = call(NormalizeProject, { input: `${this.task} in ${this.pages.pages[0] ?? ''}` });
  @Step() everything = call(Search);
  @Step() some = call(Search, { limit: this.limit + 1 });
  @Step() sorted = call(Sort, { by: 'name', order: this.limit });
  @Step() intro = read(LogseqIntro);
  @Step() today = read(Today);
  @Step() stop =
    this.found.score > 0.5 && this.where === 'top' ? undefined : fail(`unsure about ${this.task}`);
  @Step() alias = this.found.alias ?? fail('no alias');
  @Step() dated = this.date !== undefined ? call(NormalizeProject, { input: this.date }) : undefined;
  @Step() word = call(
    NormalizeProject,
    { input: this.task },
    { transform: firstWord, id: 'w', timeoutMs: 5 },
  );
  @Step() size = call(
    ListPages,
    {},
    { transform: ({ pages }) => ({ size: pages.length, first: pages[0] }), retry: { attempts: 2 } },
  );
  @Step() computed = `${this.word}!`.slice(this.size.size);
  @Step() named = firstWord(this.found);
  @Step() text =
    prompt`Use ${NormalizeProject}, ${AddTaskToProject} and ${LogseqIntro} ${this.limit} ${this.quiet}`;
  @Step() repeated = call(NormalizeProject, { input: prompt`${this.text} again` });
  @Step() chained = chain(
    call(NormalizeProject, { input: this.task }),
    (found) => call(AddTask, { project: found.name, task: this.task }),
    ({ id }) => `${id}!`,
    (id) => call(NormalizeProject, { input: id }, { transform: (out) => out.score }),
  );
  @Step() tried = attempt(
    this.quiet ? undefined : call(AddTask, { project: 'a', task: 'b' }),
    ({ code, message, attempts, node }) => ({ id: `${code} ${message} ${node}`, attempts }),
  );
  @Step() added = call(AddTask, {
    project: this.alias,
    task: `${this.task}: ${this.intro} ${this.dated?.name ?? 'someday'} ${this.labels[0]} ${this.filter.tags.length}`,
    priority: this.some.lines.length,
  });
  refused = this.chained > 1 ? fail(prompt`Use ${AddTask}`) : undefined;
  early = this.quiet ? done({ id: 'none', text: null }) : undefined;
  output = done({ id: this.added.id, text: this.some.lines[0]?.text });
}

@Workflow({ name: 'collecting', description: 'collect failures', errorStrategy: 'collect' })
export class Collecting {
  @Step() pages = call(ListPages);
}

@Prompt({ name: 'review', description: 'Review code' })
export class Review {
  @Arg({ description: 'Language', enum: ['ts', 'rust'] }) language?: Arg<string>;
  @Arg({ description: 'Code' }) code!: Arg<string>;
  constructor(readonly style: string) {}
  async render({ language, code }: ArgsOf<Review>, { auth }: RequestContext): Promise<PromptMessages> {
    return {
      description: `Review for ${auth?.clientId}`,
      messages: [
        system(this.style),
        user(
          prompt`Review this ${language ?? 'code'} with ${AddTask}: ${prompt`${code}`}`,
          AddTask,
          LogseqIntro,
        ),
        assistant(image('aGk=', 'image/png'), [audio(Uint8Array.of(1), 'audio/wav'), 'said']),
        { role: 'user', content: { type: 'text', text: 'as in MCP' } },
        { role: 'user', content: { type: 'resource_link', uri: 'a://b', name: 'b' } },
        { role: 'user', content: { type: 'resource', resource: { uri: 'a://b', text: 'b' } } },
        { role: 'assistant', content: AddTaskToProject },
      ],
    };
  }
}

@Prompt({ name: 'plain', description: 'Nothing to fill in' })
export class Plain {
  render(): PromptMessages {
    return new Greeting().render({ whom: 'you' });
  }
}

/** Its inferred types can be named in a declaration file. */
@Workflow({ name: 'echo', description: 'hand back what was given' })
export class Echo {
  @Arg({ description: 'Text' }) text!: Arg<string>;
  @Arg({ description: 'Date' }) date?: Arg<string>;
  @Arg({ description: 'Where', default: 'top' }) where!: Arg<'top' | 'bottom', 'default'>;
  @Step() dated: string = this.date ?? fail('no date');
  @Step() private hidden = this.where === 'top' ? call(ListPages) : undefined;
  output = done({
    text: this.text,
    where: this.where,
    date: this.date,
    dated: this.dated,
    pages: this.hidden?.pages,
  });
}
