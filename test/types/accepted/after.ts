/** The option `after` of every verb, with handles of steps of each kind of value. */
import {
  Arg,
  ask,
  attempt,
  call,
  chain,
  done,
  fail,
  forEach,
  goto,
  match,
  parallel,
  read,
  run,
  State,
  Step,
  set,
  Workflow,
  wait,
} from 'stepwright';
import { AddLine, AddTask, Classify, ListPages, LogseqIntro, NormalizeProject } from './world.js';

@State({ name: 'page' })
export class PageState {
  value!: string;
}

@Workflow({ name: 'after', description: 'waits with every verb' })
export class After {
  @Arg({ description: 'a' }) task!: Arg<string>;
  @Step() pages = call(ListPages, {}, { after: [] });
  @Step() paused = wait({ seconds: 1 }, { after: [] });
  @Step() noted = ask.info('a', { after: [this.pages, this.paused] });
  @Step() intro = read(LogseqIntro, {}, { after: [this.noted] });
  @Step() kind = call(Classify, { task: this.task }, { after: [this.intro], transform: (out) => out.kind });
  @Step() line = run(AddLine, { line: this.task }, { after: [this.pages], timeoutMs: 1_000 });
  @Step() both = parallel(
    { a: call(ListPages), b: 'x' },
    { after: [this.line], onPartialFailure: 'continue' },
  );
  @Step() each = forEach(this.pages.pages, (page) => page, { after: [this.both], concurrency: 2 });
  @Step() tried = attempt(call(ListPages), () => undefined, { after: [this.each] });
  @Step() linked = chain(call(ListPages, {}, { after: [this.tried] }), (out) => out.pages);
  @Step() saved = set(PageState, 'a', { after: [this.linked] });
  @Step() sure = ask.confirm('a', { after: [this.saved] });
  @Step() text = ask.text('a', { after: [this.sure] });
  @Step() choice = ask.choice('a', ['a', 'b'], { after: [this.text] });
  @Step() routed = match(this.choice, { a: call(ListPages), b: undefined }, { after: [this.choice] });
  @Step() pick = ask.pick('a', this.pages.pages, (page) => page, { after: [this.routed] });
  @Step() value = ask.value<string>('a', { after: [this.pick] });
  @Step() model = ask.model<string>('a', { after: [this.value] });
  @Step() again = this.sure ? undefined : goto(this.text, { max: 2, after: [this.model] });
  @Step() ended = this.sure ? undefined : fail('a', { after: [this.again] });
  @Step() added = this.sure
    ? call(AddTask, { project: 'a', task: this.task }, { after: [this.ended] })
    : undefined;
  @Step() name = this.added?.id ?? call(NormalizeProject, { input: 'a' }, { after: [this.added] }).name;
  output = done({ name: this.name, pages: this.linked.length }, { after: [this.name] });
}
