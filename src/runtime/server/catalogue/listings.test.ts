import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { faultCodes, ProtocolFault } from '../wire.js';
import { pageOf } from './listings.js';

const refusal = (cursor: string): unknown => {
  try {
    pageOf('tools', [1, 2, 3], cursor, 1);
    return undefined;
  } catch (error) {
    return error;
  }
};

describe('pageOf', () => {
  test('pages hold every item once, in order, and none is empty', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 12 }), (items, size) => {
        const seen: number[] = [];
        let cursor: string | undefined;
        do {
          const page = pageOf('tools', items, cursor, size);
          expect(page.items.length).toBeLessThanOrEqual(size);
          expect(page.items.length > 0 || items.length === 0).toBe(true);
          seen.push(...page.items);
          cursor = page.nextCursor;
        } while (cursor !== undefined);
        expect(seen).toStrictEqual(items);
      }),
    );
  });

  test('refuses a cursor of another list', () => {
    const { nextCursor = '' } = pageOf('prompts', [1, 2, 3], undefined, 1);
    expect(refusal(nextCursor)).toMatchObject({ code: faultCodes.invalidParams });
  });

  test('refuses a cursor it never handed out', () => {
    const { nextCursor = '' } = pageOf('tools', [1, 2, 3], undefined, 1);
    const beyond = Buffer.from('tools:3').toString('base64url');
    const start = Buffer.from('tools:0').toString('base64url');
    for (const cursor of ['', 'nonsense', `${nextCursor}=`, `${nextCursor} `, beyond, start, '💥']) {
      expect(refusal(cursor), JSON.stringify(cursor)).toBeInstanceOf(ProtocolFault);
    }
    expect(refusal(nextCursor)).toBeUndefined();
  });
});
