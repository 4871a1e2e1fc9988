import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { explainMysql } from '../../src/db/mysql/driver.ts'
import { openMysqlEngine } from '../../src/db/mysql/engine.ts'
import { mysql, mysqlFor } from '../../src/dialects/mysql.ts'
import { mysqlConnection } from '../dialects/engines.ts'
import { createDatabase } from '../support/servers.ts'

test('a server is spoken to in the words of what it says it is', async () => {
  expect(mysqlFor('10.11.6-MariaDB-1:10.11.6+maria~ubu2204')).toBe(mysql)
  expect(mysqlFor('5.5.5-10.6.12-MariaDB')).toBe(mysql)
  const mysql8 = Object.entries(mysqlFor('8.0.36'))
  const differing = mysql8.filter(([key, value]) => value !== Reflect.get(mysql, key)).map(([key]) => key)
  expect(differing.sort()).toEqual(['exactText', 'formula', 'related'])
  expect(mysql8.map(([key]) => key).sort()).toEqual(Object.keys(mysql).sort())
})

test('a replacement on MySQL 8 has no special signs', () => {
  const { formula, render } = mysqlFor('8.0.36')
  const { params } = render(formula.regexReplace(sql`t`, 'USD', sql`b`))
  expect(params).toEqual(['USD', '\\', '\\\\', '$', '\\$'])
})

// MySQL raises these from `regexp_time_limit` and `regexp_stack_limit`; MariaDB has neither.
test.each([
  [3698, 'ER_REGEXP_STACK_OVERFLOW', 'Overflow in the regular expression backtrack stack.'],
  [3699, 'ER_REGEXP_TIME_OUT', 'Timeout exceeded in regular expression match.'],
  [3024, 'ER_QUERY_TIMEOUT', 'Query execution was interrupted, maximum statement execution time exceeded'],
])('error %d of MySQL says that the database took too long', (errno, code, message) => {
  expect(explainMysql(Object.assign(new Error(message), { errno, code }), 'Shop')).toMatchObject({
    code: 'DATABASE_ERROR',
    message: 'The database of Shop took too long to answer',
    details: { failure: 'timeout' },
  })
})

test('a server that cannot be reached holds up nobody who only opens it', async () => {
  const engine = openMysqlEngine(mysqlConnection('mysql://a:b@127.0.0.1:1/x'), 'Shop')
  await engine.ready?.()
  expect(engine.dialect).toBe(mysql)
  await engine.close()
})

test('a server is known once it is ready', async () => {
  const made = await createDatabase('mariadb')
  const engine = openMysqlEngine(mysqlConnection(made.url), 'Shop')
  await engine.ready?.()
  const [row] = await engine.values({ sql: 'select version()', params: [] })
  expect(engine.dialect).toBe(mysqlFor(String(row?.[0])))
  await engine.close()
  await made.drop()
})
