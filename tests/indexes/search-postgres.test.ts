import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import { type RunningServer, startServer } from '../../src/app.ts'
import type { Engine } from '../../src/dialects/dialect.ts'
import { type Bench, benchOf, type TestTable } from '../records/support.ts'
import { createTestApp } from '../support/app.ts'
import { createTrpcClient } from '../support/client.ts'
import { createBase } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { fillTable } from './support.ts'

const RECORDS = 20_000

let bench: Bench
let other: RunningServer | null = null
let table: TestTable
afterEach(async () => {
  await other?.stop()
  other = null
  await bench.stop()
})

async function start(
  fields: Parameters<Bench['table']>[0] = { Name: 'SingleLineText', Num: 'Number' },
): Promise<void> {
  const app = await createTestApp({ database: 'postgres' })
  const owner = await app.signUp()
  bench = benchOf(app, owner, (await createBase(app, owner)).id)
  table = await bench.table(fields)
  await fillTable(app.kernel, table, RECORDS)
}

const run = async (sql: string) =>
  (await bench.app.kernel.sources.engine(bench.baseId)).all<{ name: string }>({ sql, params: [] })

const indexes = () =>
  run(`select c.relname::text as name from pg_index i join pg_class c on c.oid = i.indexrelid
    where starts_with(c.relname::text, 'sheaf_search_') and i.indisvalid`)

const search = (client: Bench['trpc'], text: string) =>
  client.records.count.query({ selection: { tableId: table.id, search: { text, fieldId: null } } })

describe('the search index of a table in PostgreSQL', () => {
  test('is built once by two servers that search at the same time, and writes wait for none', async () => {
    await start()
    other = await startServer({ ...bench.app.config, port: 0 })
    const clients = [bench.trpc, createTrpcClient(other.url, bench.owner.token)]
    const before = await search(bench.trpc, 'name 17')
    for (let tries = 0; (await indexes()).length === 0; tries++) {
      if (tries === 300) throw new Error('The index was not built')
      await Promise.all(clients.map((client, at) => search(client, `try ${tries} ${at}`)))
      const values = table.values({ Name: `Written ${tries}` })
      await bench.trpc.records.write.mutate({
        change: {
          baseId: bench.baseId,
          operations: [{ kind: 'insert', tableId: table.id, rows: [{ values }] }],
        },
      })
      await Bun.sleep(50)
    }
    // Past the interval after which each server looks again.
    await Bun.sleep(2_100)
    for (const client of clients) expect(await search(client, 'name 17')).toEqual(before)
    await Bun.sleep(500)
    expect(await indexes()).toHaveLength(1)
    for (const client of clients) expect((await search(client, 'written 0')).count).toBe(1)
  })

  test('is missing where pg_trgm may not be created, and searches find the same', async () => {
    await start()
    await run(`create function public.refuse_extensions() returns event_trigger language plpgsql as
      $$ begin raise exception 'permission denied to create extension'; end $$`)
    await run(`create event trigger refuse_extensions on ddl_command_start when tag in ('CREATE EXTENSION')
      execute function public.refuse_extensions()`)
    const warnings = spyOn(bench.app.kernel.log, 'warn')
    expect((await search(bench.trpc, 'name 17')).count).toBe(RECORDS / 40)
    const performance = async () => (await bench.rest.get(`/api/v2/meta/tables/${table.id}/performance`)).body
    await until(async () => (await performance()).search.state === 'unavailable', 'The refused extension')
    expect(await indexes()).toEqual([])
    expect(await run(`select extname::text as name from pg_extension where extname = 'pg_trgm'`)).toEqual([])
    expect((await performance()).search).toEqual({ state: 'unavailable', part: 0 })
    expect((await search(bench.trpc, 'name 17')).count).toBe(RECORDS / 40)
    // A change of the table and other tables try again.
    await bench.trpc.schema.updateField.mutate({ fieldId: table.field('Num').id, patch: { title: 'Number' } })
    await until(async () => {
      await search(bench.trpc, 'name 18')
      return (await performance()).search.state === 'unavailable'
    }, 'The next refusal')
    table = await bench.table({ Name: 'SingleLineText', Num: 'Number' })
    await fillTable(bench.app.kernel, table, RECORDS)
    await search(bench.trpc, 'name 17')
    await until(async () => (await performance()).search.state === 'unavailable', 'Another table')
    expect(warnings.mock.calls.filter(([message]) => message.includes('pg_trgm'))).toHaveLength(1)
    await run('drop event trigger refuse_extensions')
  })

  test('is asked for a rare text, although a checkbox is searched as well', async () => {
    await start({ Name: 'SingleLineText', Num: 'Number', Done: 'Checkbox' })
    for (let tries = 0; (await indexes()).length === 0; tries++) {
      if (tries === 300) throw new Error('The index was not built')
      await search(bench.trpc, `try ${tries}`)
      await Bun.sleep(100)
    }
    const { id, email } = bench.owner
    const actor = { kind: 'user' as const, id, email, orgRoles: ['super'], via: 'session' as const }
    const planOf = async () => {
      const opened = await bench.app.services.records.open(actor, table.id)
      return bench.app.services.records.plan(opened, null, () => ({
        search: { text: 'name 17', fieldId: null },
        limit: 5,
        offset: 0,
        fields: [],
        shape: { kind: 'rows', links: 'first' },
      })).page.sql
    }
    for (let tries = 0; !(await planOf()).includes('lower((coalesce('); tries++) {
      if (tries === 100) throw new Error('The index is not used')
      await search(bench.trpc, `try ${tries}`)
      await Bun.sleep(100)
    }
    expect(await planOf()).not.toContain(' or false')
  })
})

describe('a page of a search in PostgreSQL', () => {
  const MANY = 40_000
  const LAST = 1_500

  let pages = 0

  /** True if the search index is asked for the first page of a text. */
  async function asksIndex(text: string): Promise<boolean> {
    const { id, email } = bench.owner
    const actor = { kind: 'user' as const, id, email, orgRoles: ['super'], via: 'session' as const }
    const { records } = bench.app.services
    const opened = await records.open(actor, table.id)
    const asked: string[] = []
    const engine: Engine = {
      ...opened.engine,
      values(statement, options) {
        asked.push(statement.sql)
        return opened.engine.values(statement, options)
      },
    }
    // Another length each time, so that a slow server does not answer from its cache.
    const limit = 25 + pages++
    const query = { tableId: table.id, search: { text, fieldId: null }, limit, offset: 0 }
    const { rows } = await records.page({ ...opened, engine }, query, [table.field('Name')])
    expect(rows).toHaveLength(limit)
    expect(asked).toHaveLength(1)
    return asked[0]!.includes('lower((coalesce(')
  }

  test('reads a frequent text in the order of the table, and a rare or late one from the index', async () => {
    await start()
    await fillTable(bench.app.kernel, table, MANY)
    const quoted = table.schema.table.tableName
    const name = table.field('Name').columnName
    await run(`update "${quoted}" set "${name}" = 'late text' where id > ${RECORDS + MANY - LAST}`)
    for (let tries = 0; (await indexes()).length === 0; tries++) {
      if (tries === 300) throw new Error('The index was not built')
      await search(bench.trpc, `try ${tries}`)
      await Bun.sleep(100)
    }
    for (let tries = 0; !(await asksIndex('late')); tries++) {
      if (tries === 100) throw new Error('The index is not used')
      await search(bench.trpc, `again ${tries}`)
      await Bun.sleep(100)
    }
    for (let times = 0; times < 5; times++) {
      expect(await asksIndex('name')).toBe(false)
      expect(await asksIndex('late')).toBe(true)
    }
    expect(await search(bench.trpc, 'late')).toEqual({ count: LAST })
  })
})

describe('"contains" in PostgreSQL', () => {
  test('compares texts as they are stored, and only numbers as they are printed', async () => {
    await start()
    const { id, email } = bench.owner
    const actor = { kind: 'user' as const, id, email, orgRoles: ['super'], via: 'session' as const }
    const opened = await bench.app.services.records.open(actor, table.id)
    const planOf = (title: string) =>
      bench.app.services.records.plan(opened, null, () => ({
        filter: { fieldId: table.field(title).id, operator: 'like', value: '17' },
        limit: 5,
        offset: 0,
        fields: [],
        shape: { kind: 'rows', links: 'first' },
      })).page.sql
    expect(planOf('Name')).toMatch(/"\)::text ilike \$1/)
    expect(planOf('Name')).not.toContain('case')
    expect(planOf('Num')).toContain('pg_typeof')
  })
})
