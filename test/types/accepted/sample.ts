/** One workflow with everything that a workflow can say, as a whole. */
import {
  Arg,
  type ArgsOf,
  ask,
  attempt,
  call,
  chain,
  done,
  fail,
  forEach,
  get,
  goto,
  link,
  match,
  Prompt,
  type PromptMessages,
  parallel,
  prompt,
  Resource,
  type ResultOf,
  read,
  run,
  State,
  Step,
  set,
  Tool,
  type ToolContext,
  user,
  Workflow,
  wait,
} from 'stepwright';
import { z } from 'zod';

@Resource({ name: 'logseq-intro', description: 'How pages are laid out', file: './intro.md' })
export class LogseqIntro {
  static readonly uri = 'resource://logseq/intro';
}

@State({ name: 'active-project' })
export class ActiveProject {
  value!: string;
}

@Tool({
  name: 'normalize-project',
  description: 'Turns what the user typed into a project name',
  input: z.object({ input: z.string().min(1).describe('As typed') }),
  hints: { category: 'validation', next: [() => Add] },
  annotations: { readOnlyHint: true },
})
export class NormalizeProject {
  async execute(
    { input }: { input: string },
    ctx: ToolContext,
  ): Promise<{ name: string; score: number; alias?: string }> {
    ctx.progress(1, 1, input);
    return { name: input, score: 1 };
  }
}

@Tool({ name: 'build', description: 'Builds the content' })
export class Build {
  execute(input: { task: string; project: string; guide: string }): {
    kind: 'bug' | 'feature';
    text: string;
    lines: string[];
  } {
    return { kind: 'bug', text: input.task, lines: [input.project, input.guide] };
  }
}

@Tool({ name: 'add', description: 'Adds content', annotations: { idempotentHint: true } })
export class Add {
  execute({ content }: { content: string }): { id: string } {
    return { id: content };
  }
}

@Tool({ name: 'remove', description: 'Removes content' })
export class Remove {
  execute({ id }: { id: string }): { removed: boolean } {
    return { removed: id !== '' };
  }
}

@Workflow({ name: 'add-line', description: 'add a line' })
export class AddLine {
  @Arg({ description: 'Line' }) line!: Arg<string>;
  @Step() added = call(Add, { content: this.line });
  output = done({ id: this.added.id });
}

@Workflow({
  name: 'add-todo',
  description: 'add a TODO item to a project',
  instructions: [LogseqIntro],
  expose: ['prompt', 'tool'],
  errorStrategy: { retry: { attempts: 2, delayMs: 100, backoff: 'linear' } },
})
export class AddTodo {
  @Arg({ description: 'What needs doing', minLength: 1 }) task!: Arg<string>;
  @Arg({ description: 'Date', pattern: '^\\d{4}-\\d{2}-\\d{2}$' }) date?: Arg<string>;
  @Arg({ description: 'At most', type: 'integer', min: 1, default: 10 }) limit!: Arg<number, 'default'>;

  @Step({ guidance: 'Pick the page that fits {task}' }) n = call(NormalizeProject, {
    input: `${this.task}!`,
  });
  @Step({ retry: { attempts: 3, delayMs: 200, backoff: 'exponential' }, timeoutMs: 5_000 })
  body = call(Build, { task: this.task, project: this.n.name, guide: read(LogseqIntro) });
  @Step() told = ask.info(prompt`Use ${NormalizeProject} as ${LogseqIntro} says`);
  @Step() sure = ask.confirm('Go on?');
  @Step() note = ask.text('Note?');
  @Step() where = ask.choice('Where?', ['top', 'bottom']);
  @Step() stop = this.sure ? undefined : fail('cancelled');
  @Step() alias = this.n.alias ?? fail('no alias');
  @Step() dated =
    this.date !== undefined
      ? chain(call(Add, { content: this.date }), (a) => call(Remove, { id: a.id }))
      : undefined;
  @Step() title = this.body.lines
    .filter((line, index) => line.trim() !== '' && index < this.limit)
    .map((line) => line.toUpperCase())
    .join(', ');
  @Step() routed = match(this.body.kind, {
    bug: call(Add, { content: 'b' }),
    feature: run(AddLine, { line: 'f' }),
  });
  @Step() both = parallel(
    { a: call(Add, { content: 'a' }), b: call(Add, { content: 'b' }) },
    { concurrency: 2, onPartialFailure: 'rollback' },
  );
  @Step() lines = forEach(this.body.lines, (line) => run(AddLine, { line }), { concurrency: 4, max: 100 });
  @Step() sub = run(AddLine, { line: this.task });
  @Step({ summary: 'added {added.id}' }) added = attempt(
    call(
      Add,
      { content: `${this.body.text} ${this.title} ${this.note} ${this.where}` },
      { compensate: (out) => call(Remove, { id: out.id }) },
    ),
    (error) => ({ id: error.code }),
  );
  @Step() saved = set(ActiveProject, this.n.name);
  @Step() pause = wait({ seconds: 2 });
  @Step() again = this.n.score > 0.5 ? undefined : goto(this.n, { max: 3 });
  output = done({
    id: this.added.id,
    alias: this.alias,
    dated: this.dated?.removed ?? false,
    routed: this.routed.id,
    ids: [this.both.a.id, this.both.b.id, this.sub.id, ...this.lines.map((line) => line.id)],
    project: get(ActiveProject),
    doc: link(LogseqIntro),
  });
}

export const args: ArgsOf<AddTodo> = { task: 'a', limit: 1 };
export const shown = ({ id, ids, project, doc }: ResultOf<AddTodo>): string =>
  `${id} ${ids.join()} ${project} ${doc.uri}`;

@Prompt({ name: 'code-review', description: 'Review code' })
export class CodeReview {
  @Arg({ description: 'Language' }) language?: Arg<string>;
  render({ language }: ArgsOf<CodeReview>): PromptMessages {
    return [user(prompt`Review this ${language ?? ''} code with ${NormalizeProject}`)];
  }
}
