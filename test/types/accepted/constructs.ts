/** Every construct other than a plain step, in all of its forms. */
import {
  Arg,
  ask,
  attempt,
  call,
  chain,
  done,
  fail,
  forEach,
  get,
  goto,
  match,
  parallel,
  prompt,
  read,
  run,
  State,
  Step,
  set,
  Tool,
  Workflow,
  wait,
} from 'stepwright';
import {
  ActiveProject,
  AddLine,
  AddTask,
  Classify,
  ListPages,
  LogseqIntro,
  NormalizeProject,
  RemoveTask,
  Search,
} from './world.js';

@State({ name: 'seen', initial: { pages: ['inbox'], latest: null } })
export class Seen {
  value!: { pages: string[]; latest: string | null; note?: string };
}

@State({ name: 'rounds', scope: 'run', initial: 0 })
export class Rounds {
  value!: number;
}

@State({ name: 'draft' })
export class Draft {
  value!: string | undefined;
}

@Tool({ name: 'review', description: 'Reviews the draft', needsState: [Draft] })
export class Review {
  execute(input: { rounds: number }): { score: number } {
    return { score: input.rounds };
  }
}

@Workflow({
  name: 'constructs',
  description: 'say everything',
  needsState: [ActiveProject, Seen],
  expose: ['prompt', 'tool'],
  failFast: false,
  maxConcurrency: 4,
})
export class Constructs {
  @Arg({ description: 'What needs doing' }) task!: Arg<string>;
  @Arg({ description: 'Where' }) where!: Arg<'top' | 'bottom'>;
  @Arg({ description: 'Labels', default: [] }) labels!: Arg<string[], 'default'>;
  @Arg({ description: 'Until' }) until?: Arg<string>;

  @Step({ id: 'kind', join: 'all_done', after: [] }) body = call(Classify, { task: this.task });
  @Step() found = call(Search, { limit: 3 });

  @Step() told = ask.info(`Seen ${get(Seen).pages.length}`);
  @Step() sure = this.body.urgency > 1 ? true : ask.confirm(prompt`Use ${ListPages}?`);
  @Step() note = this.body.note ?? ask.text('Note?');
  @Step() page = ask.choice('Which?', get(Seen).pages);
  @Step() side = ask.choice('Where?', ['top', this.where, 'none']);
  @Step() line = ask.pick('Which line?', this.found.lines, (line) => line.text.slice(0, 20));
  @Step() picked = ask.pick('Which label?', this.labels, (label) => label);
  @Step() address = ask.value<{ street: string }>('Where to?');
  @Step() titled = ask.model<{ title: string }>(`A title for ${this.address.street}`);
  @Step() word = ask.model<string>('A word', { schema: { type: 'string', maxLength: 8 } });
  @Step() supplied = call(AddTask, {
    project: ask.model('Name a project'),
    task: this.titled.title,
    priority: ask.model('How urgent?'),
  });
  @Step() ranWith = run(AddLine, { line: ask.model(`A line with ${this.word}`) });

  @Step() routed = match(this.body.kind, {
    bug: call(AddTask, { project: this.page, task: this.note }, { id: 'bug', timeoutMs: 5_000 }),
    feature: run(AddLine, { line: this.line.text }, { id: 'feature', retry: { attempts: 2 } }),
  });
  @Step() placed = match(this.where, {
    top: chain(call(ListPages), ({ pages }) => pages[0]),
    bottom: undefined,
  });
  @Step() urgent = match(this.body.urgency, {
    1: undefined,
    2: this.sure ? fail('not now') : match(this.body.kind, { bug: ask.text('Which?'), feature: 'later' }),
  });

  @Step() both = parallel({
    pages: call(ListPages),
    line: this.sure ? run(AddLine, { line: 'a' }) : undefined,
  });
  @Step() tried = parallel(
    { pages: call(ListPages), text: read(LogseqIntro), deep: parallel({ a: call(Search), b: this.task }) },
    { onPartialFailure: 'continue' },
  );
  @Step() names =
    this.tried.pages.error === undefined ? this.tried.pages.pages : [this.tried.pages.error.code];
  @Step() trip = parallel(
    {
      there: call(
        AddTask,
        { project: 'a', task: 'b' },
        {
          compensate: ({ id }) => call(RemoveTask, { id }, { timeoutMs: 10 }),
          retry: { attempts: 3 },
          id: 'there',
        },
      ),
      back: call(
        AddTask,
        { project: 'a', task: 'b' },
        {
          transform: ({ id }) => id.length,
          compensate: (out) => call(RemoveTask, { id: `${out.id}${this.task}` }),
        },
      ),
    },
    { concurrency: 1, onPartialFailure: 'rollback' },
  );

  @Step() added = forEach(this.labels, (label, index) => call(AddTask, { project: label, task: `${index}` }));
  @Step() some = forEach(
    this.added.filter(({ id }) => id !== ''),
    ({ id }) => (this.sure ? call(RemoveTask, { id }) : undefined),
    { concurrency: 10, max: 20, onItemError: 'continue' },
  );
  @Step() removed = this.some.filter((each) => each !== null).map((each) => each.removed);
  @Step() nested = forEach(this.names, (name) =>
    forEach(this.body.lines, (line) => parallel({ a: run(AddLine, { line, project: name }), b: name })),
  );

  @Step() caught = attempt(
    parallel({
      a: call(ListPages),
      b: forEach(this.names, (name) => call(NormalizeProject, { input: name })),
    }),
    (error) => call(AddTask, { project: error.code, task: error.message }),
  );
  @Step() asked = attempt(
    match(this.body.kind, { bug: ask.confirm('Sure?'), feature: run(AddLine, { line: 'a' }) }),
    () => false,
  );

  @Step() rounds = set(Rounds, get(Rounds) + 1);
  @Step() seen = set(Seen, { ...get(Seen), latest: this.task, note: this.body.note });
  @Step() drafted = set(Draft, this.until);
  @Step() project = set(ActiveProject, this.task);
  @Step() pause = this.rounds > 1 ? wait({ minutes: 1, seconds: this.rounds }) : undefined;
  @Step() due = this.until !== undefined ? wait({ until: this.until }) : wait({ until: 0 });
  @Step() review = call(Review, { rounds: this.rounds });
  @Step() again = this.review.score > 3 ? undefined : goto(this.body, { max: 3, onLimit: 'continue' });
  output = done({
    routed: 'id' in this.routed ? this.routed.id : this.routed.added,
    draft: get(Draft) ?? 'none',
    placed: this.placed,
    urgent: this.urgent,
    both: [this.both.line?.added, ...this.both.pages.pages],
    trip: this.trip.there.id + this.trip.back.toFixed(0),
    removed: this.removed,
    nested: this.nested[0]?.[0]?.a.added,
    label: this.picked,
    side: this.side,
    told: this.told,
  });
}

/** It runs itself: the field says what that gives. */
@Workflow({ name: 'count-down', description: 'count down' })
export class CountDown {
  @Arg({ description: 'Left' }) left!: Arg<number>;
  @Step() rest: number[] = this.left > 0 ? run(CountDown, { left: this.left - 1 }).counted : [];
  output = done({ counted: [this.left, ...this.rest] });
}

/** Two that run each other: one of them says what it gives. */
@Workflow({ name: 'ping', description: 'run the other' })
export class Ping {
  @Arg({ description: 'Left', default: 3 }) left!: Arg<number, 'default'>;
  @Step() other = run(Pong, { left: this.left });
  output = done({ depth: this.other.depth });
}

@Workflow({ name: 'pong', description: 'run the other' })
export class Pong {
  @Arg({ description: 'Left' }) left!: Arg<number>;
  @Step() other: { depth: number } | undefined = this.left > 0 ? run(Ping) : undefined;
  output = done({ depth: this.left });
}
