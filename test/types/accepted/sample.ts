/** One workflow with everything a linear one can say, as a whole. */
import {
  Arg,
  type ArgsOf,
  attempt,
  call,
  chain,
  done,
  fail,
  link,
  Prompt,
  type PromptMessages,
  prompt,
  Resource,
  type ResultOf,
  read,
  Step,
  Tool,
  type ToolContext,
  user,
  Workflow,
} from 'stepwright';
import { z } from 'zod';

@Resource({ name: 'logseq-intro', description: 'How pages are laid out', file: './intro.md' })
export class LogseqIntro {
  static readonly uri = 'resource://logseq/intro';
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

@Workflow({
  name: 'add-todo',
  description: 'add a TODO item to a project',
  instructions: [LogseqIntro],
  expose: ['prompt'],
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
  @Step() told = prompt`Use ${NormalizeProject} as ${LogseqIntro} says`;
  @Step() stop = this.n.score > 0.5 ? undefined : fail('cancelled');
  @Step() alias = this.n.alias ?? fail('no alias');
  @Step() dated =
    this.date !== undefined
      ? chain(call(Add, { content: this.date }), (a) => call(Remove, { id: a.id }))
      : undefined;
  @Step() title = this.body.lines
    .filter((line, index) => line.trim() !== '' && index < this.limit)
    .map((line) => line.toUpperCase())
    .join(', ');
  @Step({ summary: 'added {added.id}' }) added = attempt(
    call(Add, { content: `${this.body.text} ${this.title} ${this.told}` }),
    (error) => ({ id: error.code }),
  );
  output = done({
    id: this.added.id,
    alias: this.alias,
    dated: this.dated?.removed ?? false,
    doc: link(LogseqIntro),
  });
}

export const args: ArgsOf<AddTodo> = { task: 'a', limit: 1 };
export const shown = (result: ResultOf<AddTodo>): string => `${result.id} ${result.alias} ${result.doc.uri}`;

@Prompt({ name: 'code-review', description: 'Review code' })
export class CodeReview {
  @Arg({ description: 'Language' }) language?: Arg<string>;
  render({ language }: ArgsOf<CodeReview>): PromptMessages {
    return [user(prompt`Review this ${language ?? ''} code with ${NormalizeProject}`)];
  }
}
