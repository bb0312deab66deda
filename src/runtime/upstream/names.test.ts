import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPortableName } from '../../graph/names.js';
import { nameTools } from './snapshot.js';

const named = (server: string, ...names: string[]): string[][] =>
  nameTools(
    server,
    names.map((name) => ({ name, inputSchema: {} })),
  ).map(({ toolName, className }) => [toolName, className]);

describe('names of upstream tools', () => {
  test('begin with the name of the server', () => {
    expect(named('file-system', 'read_file', 'listAll')).toEqual([
      ['file-system_read_file', 'FileSystemReadFile'],
      ['file-system_listAll', 'FileSystemListAll'],
    ]);
  });

  test('have no characters that hosts refuse', () => {
    expect(named('a', 'b/c.d e', 'über')).toEqual([
      ['a_b_c_d_e', 'ABCDE'],
      ['a__ber', 'ABer'],
    ]);
    const [[long = ''] = []] = named('server', 'x'.repeat(100));
    expect(long).toMatch(/^server_x+_[0-9a-f]{8}$/);
    expect(long).toHaveLength(64);
  });

  test('that are the same get a suffix, whatever else the server has', () => {
    const [one, two, three] = named('a', 'b.c', 'b/c', 'd');
    expect([one?.[0], two?.[0], three?.[0]]).toEqual([
      expect.stringMatching(/^a_b_c_[0-9a-f]{8}$/),
      expect.stringMatching(/^a_b_c_[0-9a-f]{8}$/),
      'a_d',
    ]);
    expect(named('a', 'b/c', 'b.c')).toEqual([two, one]);
  });

  test('are no names of types, and none of what the module imports', () => {
    expect(named('files', 'read', 'read_input').map(([, className]) => className)).toEqual([
      expect.stringMatching(/^FilesRead[0-9a-f]{8}$/),
      expect.stringMatching(/^FilesReadInput[0-9a-f]{8}$/),
    ]);
    expect(named('tool', 'context')[0]?.[1]).toMatch(/^ToolContext[0-9a-f]{8}$/);
  });

  test('are legal and distinct', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 80 }), { maxLength: 8 }), (names) => {
        const all = named('s', ...names);
        expect(new Set(all.map(([tool]) => tool)).size).toBe(names.length);
        expect(new Set(all.map(([, cls]) => cls)).size).toBe(names.length);
        for (const [tool = '', cls = ''] of all) {
          expect(isPortableName(tool)).toBe(true);
          expect(cls).toMatch(/^[A-Z][A-Za-z0-9]*$/);
        }
      }),
    );
  });
});
