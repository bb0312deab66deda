import { describe, expect, test } from 'vitest';
import { assistant, audio, image, system, user } from './prompt-content.js';
import { prompt } from './prompt-text.js';
import { Tool } from './tool.js';

@Tool({ name: 'ping', description: 'Answers' })
class Ping {
  execute(): void {}
}

describe('a message', () => {
  test.each([
    ['user', user],
    ['assistant', assistant],
    ['system', system],
  ] as const)('of %s holds one content as it is', (role, make) => {
    expect(make('hello')).toEqual({ role, content: 'hello' });
    expect(make(Ping).content).toBe(Ping);
    const text = prompt`Use ${Ping}`;
    expect(make(text).content).toBe(text);
  });

  test('holds several as a list', () => {
    const picture = image(Uint8Array.of(1, 2), 'image/png');
    expect(user('see', picture, Ping)).toEqual({ role: 'user', content: ['see', picture, Ping] });
  });

  test('takes a list for what it is', () => {
    expect(user(['a', 'b']).content).toEqual(['a', 'b']);
  });
});

test.each([
  ['image', image('aGk=', 'image/png'), { type: 'image', data: 'aGk=', mimeType: 'image/png' }],
  ['audio', audio('aGk=', 'audio/wav'), { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' }],
])('%s has the shape of MCP', (_kind, made, expected) => {
  expect(made).toEqual(expected);
});

test('bytes stay bytes', () => {
  const bytes = Uint8Array.of(0, 255);
  expect(image(bytes, 'image/png').data).toBe(bytes);
});
