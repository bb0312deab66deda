import { expect, test } from 'vitest';
import { type HostContext, placeBetween } from './ast.js';
import { ts } from './typescript.mjs';

test('places are those of the compiler, near the last one and far from it', () => {
  const context = { root: '/', known: { files: new Map() } } as unknown as HostContext;
  const texts = ['a\n'.repeat(200), `\n\r\n${'bc\r\n'.repeat(60)}\u2028d`, ''];
  const sources = texts.map((text, i) => ts.createSourceFile(`/${i}.ts`, text, ts.ScriptTarget.Latest));
  for (let step = 0; step < 2000; step += 1) {
    const source = sources[Math.floor(step / 9) % sources.length] as ts.SourceFile;
    const { length } = source.text;
    const start = (step * (step % 5 === 0 ? 97 : 1)) % (length + 1);
    const end = Math.min(length, start + (step % 7) * 15);
    const [from, to] = [start, end].map((each) => source.getLineAndCharacterOfPosition(each));
    expect(placeBetween(context, source, start, end).span).toEqual([
      ...[(from?.line ?? 0) + 1, (from?.character ?? 0) + 1],
      ...[(to?.line ?? 0) + 1, (to?.character ?? 0) + 1],
    ]);
  }
});
