import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { Resource } from 'stepwright';
import { createServer } from 'stepwright/runtime';
import { expect, test } from 'vitest';
import { desk } from '../composite/fixture/registry.js';
import { argument, built, call, input, workflow } from '../composite/fixture/workflows.js';
import { listening } from '../composite/http.js';
import { registryOf } from '../server/fixture/registry-of.js';
import { post, statelessClient } from './client.js';

const found = workflow('look_up', [call('find', 'search', { city: input('city') })], {
  description: 'look flights up: all of a city',
  domain: 'travel',
  inputs: [argument('city', { type: 'string' })],
  expose: ['tool', 'skill'],
});
const guarded = workflow('audit', [call('find', 'search', { city: input('city') })], {
  inputs: [argument('city', { type: 'string' })],
  expose: ['skill'],
  scopes: ['audit'],
});

test('a workflow is a skill, and its file has the digest of its entry', async () => {
  const url = await listening(desk({ workflows: built([found, guarded]) }).server);
  const skills = new SkillsClient(await statelessClient(url));
  expect(skills.supported).toBe(true);
  const { skills: entries } = await skills.list();
  const uri = 'skill://travel/look_up/look-up/SKILL.md';
  expect(entries.map((entry) => [entry.uri, entry.frontmatter])).toEqual([
    [
      uri,
      {
        name: 'look-up',
        description: 'look flights up: all of a city',
        metadata: { stepwright: 'look_up' },
      },
    ],
  ]);
  const { skill, ...caching } = await skills.get(uri);
  expect(caching).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' });
  const file = await skills.read(skill);
  expect(file).toMatchObject({ verified: true });
  expect(JSON.stringify(file)).toContain('Call the tool `w_look_up`');
});

test.each([
  ['of no skill', 'text://a', 'is not the address of a skill'],
  ['that is not there', 'skill://travel/gone/SKILL.md', 'Resource not found'],
  ['of a workflow with scopes that the caller lacks', 'skill://default/audit/SKILL.md', 'Resource not found'],
])('an address %s is refused', async (_, uri, why) => {
  const url = await listening(desk({ workflows: built([found, guarded]) }).server);
  const response = await post(url, 'skills/get', { params: { uri }, headers: { 'mcp-name': uri } });
  expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining(why) } });
});

test('a resource at the address of a skill is one, and a faulty one is left out', async () => {
  @Resource({ name: 'own', description: 'Own', mimeType: 'text/markdown' })
  class Own {
    static readonly uri = 'skill://notes/own/SKILL.md';
    read(): string {
      return '---\nname: own\ndescription: Our own\n---\n# Own\n';
    }
  }
  @Resource({ name: 'faulty', description: 'Faulty', mimeType: 'text/markdown' })
  class Faulty {
    static readonly uri = 'skill://notes/faulty/SKILL.md';
    read(): string {
      return '# No front matter';
    }
  }
  const registry = registryOf({ tools: [], resources: [{ class: Own }, { class: Faulty }] });
  const url = await listening(createServer(registry));
  const { skills } = await new SkillsClient(await statelessClient(url)).list();
  expect(skills.map(({ uri }) => uri)).toEqual([Own.uri]);
});
