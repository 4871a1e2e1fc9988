import { expect, test } from 'bun:test'
import { openMysqlEngine } from '../../src/db/mysql/engine.ts'
import { mysql, mysqlFor } from '../../src/dialects/mysql.ts'
import { mysqlConnection } from '../dialects/engines.ts'
import { createDatabase } from '../support/servers.ts'

test('a server is spoken to in the words of what it says it is', async () => {
  expect(mysqlFor('10.11.6-MariaDB-1:10.11.6+maria~ubu2204')).toBe(mysql)
  expect(mysqlFor('5.5.5-10.6.12-MariaDB')).toBe(mysql)
  const { related, ...rest } = mysqlFor('8.0.36')
  expect(related).not.toBe(mysql.related)
  expect(rest).toEqual(
    Object.fromEntries(Object.entries(mysql).filter(([key]) => key !== 'related')) as never,
  )
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
