import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findDriver } from '../../runs/store/sqlite/driver.js';
import { SqlQuery, type SqlQueryOptions } from './sql-query.js';

const folder = mkdtempSync(join(tmpdir(), 'stepwright-sql-'));
const database = join(folder, 'shop.db');
beforeAll(async () => {
  const { DatabaseSync } = await findDriver(database);
  const made = new DatabaseSync(database);
  made.exec('CREATE TABLE orders (id INTEGER, customer TEXT, total REAL, paid INTEGER, seal BLOB)');
  made.exec(
    "INSERT INTO orders VALUES (1, 'ada', 9.5, 1, x'00ff'), (2, 'ada', 3, 0, NULL), (3, 'bob', 1, 0, NULL)",
  );
  made.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const query = (sql: string, input: object = {}, more: Partial<SqlQueryOptions> = {}) =>
  new SqlQuery<object, object>({ database, sql, ...more }).execute(input);

describe('a query', () => {
  test('has its inputs as parameters, and gives rows', async () => {
    const sql = 'SELECT id, total, seal FROM orders WHERE customer = :customer AND paid = :paid';
    expect(await query(sql, { customer: 'ada', paid: true })).toEqual({
      rows: [{ id: 1, total: 9.5, seal: 'AP8=' }],
    });
    expect(await query(sql, { customer: "x' OR 1=1 --", paid: true })).toEqual({ rows: [] });
  });

  test('cannot write', async () => {
    await expect(query('DELETE FROM orders')).rejects.toMatchObject({ code: 'E_SQL' });
    expect((await query('SELECT id FROM orders')).rows).toHaveLength(3);
  });

  test('has no more rows than it may', async () => {
    await expect(query('SELECT id FROM orders', {}, { maxRows: 2 })).rejects.toMatchObject({
      code: 'E_SQL',
      message: 'The query has more than 2 rows: add a LIMIT, or raise `maxRows`',
    });
  });

  test('fails where the statement or the database is wrong', async () => {
    await expect(query('SELECT colour FROM orders')).rejects.toMatchObject({
      code: 'E_SQL',
      message: expect.stringContaining('no such column'),
    });
    const missing = { database: join(folder, 'missing.db') };
    await expect(query('SELECT 1', {}, missing)).rejects.toMatchObject({ code: 'E_SQL' });
  });
});
