import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test'
import { type RunningServer, startServer } from '../../src/app.ts'
import { schemaOfBase } from '../../src/db/postgres/base-schema.ts'
import { createRestClient } from '../support/client.ts'
import { until } from '../support/until.ts'
import { createHookBench, type HookBench } from './support.ts'

let bench: HookBench
let other: RunningServer
beforeAll(async () => {
  bench = await createHookBench({}, 'postgres')
  other = await startServer(bench.app.config)
})
afterAll(async () => {
  await other.stop()
  await bench.stop()
})

const RECORDS = 100

test('two servers send each delivery once, in the order of each record, and one goes on without the other', async () => {
  const table = await bench.table({ Title: 'SingleLineText', Count: 'Number' })
  await bench.hook(table, { deliverPer: 'record' })
  const first = bench.rest
  const second = createRestClient(other.url, bench.owner.token)
  await Promise.all(
    Array.from({ length: RECORDS }, async (_, index) => {
      const [one, two] = index % 2 === 0 ? [first, second] : [second, first]
      const { Id } = (await one.post(table.path, { Title: `${index}`, Count: 0 })).body
      await two.patch(table.path, { Id, Count: 1 })
    }),
  )
  await bench.settled()
  const byRecord = Map.groupBy(bench.received(), ({ data }) => data.rows[0]?.Id)
  expect(byRecord.size).toBe(RECORDS)
  const counts = new Set(
    [...byRecord.values()].map((events) => events.map(({ data }) => data.rows[0]?.Count).join()),
  )
  expect(counts).toEqual(new Set(['0,1']))
  await other.stop()
  await first.post(table.path, { Title: 'after', Count: 2 })
  await bench.settled()
  expect(bench.received().at(-1)?.data.rows[0]).toMatchObject({ Title: 'after' })
})

test('what another server has sent while the connection was lost is not sent again', async () => {
  const alone = await createHookBench({ webhookRetryMs: 10_000 }, 'postgres')
  await using sql = new Bun.SQL(alone.app.config.databaseUrl ?? '', { max: 1 })
  const table = await alone.table({ Title: 'SingleLineText' })
  const hookId = await alone.hook(table)
  alone.receiver.answer('/hook', { status: 500 })
  await alone.rest.post(table.path, { Title: 'once' })
  await alone.receiver.waitFor(1)
  // Its result is stored, and another server takes the next turn.
  const deliveryOf = async () =>
    (await sql`select attempts, due_at from hook_deliveries where hook_id = ${hookId}`)[0]
  await until(async () => (await deliveryOf())?.attempts === 1, 'The stored result')
  const dueAt = Number((await deliveryOf()).due_at)
  await sql`update hook_deliveries set status = 'delivered', ended_at = due_at where hook_id = ${hookId}`
  await sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = 7433202
    and objsubid = 2 and granted and database = (select oid from pg_database where datname = current_database())`
  await Bun.sleep(dueAt + 2_000 - Date.now())
  expect(alone.received().length).toBe(1)
  await sql.close()
  await alone.stop()
})

test('a condition that is changed while an option of it is renamed keeps the change, with the new title', async () => {
  const table = await bench.table({ Title: 'SingleLineText' })
  const choices = ['Open', 'Done'].map((title) => ({ id: `s${title}`, title, color: '#eeeeee' }))
  const { id: fieldId } = await bench.trpc.schema.createField.mutate({
    tableId: table.id,
    field: { title: 'State', type: 'SingleSelect', options: { choices } },
  })
  await bench.rest.post(table.path, { Title: 'a', State: 'Done' })
  const anyOf = (value: string[]) => ({ fieldId, operator: 'anyof' as const, value })
  const hookId = await bench.hook(table, { isConditional: true, filter: anyOf(['Done']) })
  await using sql = new Bun.SQL(bench.app.config.databaseUrl ?? '', { max: 2 })
  const renamed = choices.map((choice) =>
    choice.title === 'Done' ? { ...choice, title: 'Finished' } : choice,
  )
  const { tableName } = (await bench.app.services.schema.load(table.id)).table
  const name = `${schemaOfBase(bench.baseId)}."${tableName}"`
  // The rewrite of the values waits for this transaction. Locks of rows would be on a worker in Citus.
  const rename = await sql.begin(async (held) => {
    await held.unsafe(`lock table ${name} in exclusive mode`)
    const renaming = bench.trpc.schema.updateField.mutate({
      fieldId,
      patch: { options: { choices: renamed } },
    })
    const isWaiting = async () =>
      (await sql`select 1 from pg_locks where not granted and relation = to_regclass(${name})`).length > 0
    while (!(await isWaiting())) await Bun.sleep(20)
    await bench.trpc.hooks.update.mutate({ hookId, patch: { filter: anyOf(['Open', 'Done']) } })
    return { renaming }
  })
  await rename.renaming
  const { filter } = await bench.trpc.hooks.get.query({ hookId })
  expect(filter).toMatchObject(anyOf(['Open', 'Finished']))
})

/** Resolves once so many statements wait for the lock of a row, or after some seconds. */
async function untilWaiting(sql: Bun.SQL, count: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const waiting =
      await sql`select 1 from pg_locks where not granted and locktype in ('transactionid', 'tuple')`
    if (waiting.length >= count) return
    await Bun.sleep(20)
  }
}

test('a webhook that is stored while an option is renamed gets the new title', async () => {
  const table = await bench.table({ Title: 'SingleLineText' })
  const choices = [{ id: 'sdone', title: 'Done', color: '#eeeeee' }]
  const { id: fieldId } = await bench.trpc.schema.createField.mutate({
    tableId: table.id,
    field: { title: 'State', type: 'SingleSelect', options: { choices } },
  })
  const anyOf = (title: string) => ({ fieldId, operator: 'anyof' as const, value: [title] })
  const changed = await bench.hook(table, {})
  await using sql = new Bun.SQL(bench.app.config.databaseUrl ?? '', { max: 2 })
  let before = 'Done'
  for (const isRenameFirst of [true, false]) {
    const title = `${before} again`
    const patch = { options: { choices: choices.map((choice) => ({ ...choice, title })) } }
    const settings = { isConditional: true, filter: anyOf(before) }
    const store = [
      () => bench.trpc.schema.updateField.mutate({ fieldId, patch }),
      () =>
        Promise.all([
          bench.hook(table, settings),
          bench.trpc.hooks.update.mutate({ hookId: changed, patch: settings }),
        ]),
    ]
    // What is stored waits for this transaction, if it depends on the definition of the table.
    const storing = await sql.begin(async (held) => {
      await held`select * from tables where id = ${table.id} for update`
      const [first, second] = isRenameFirst ? store : store.toReversed()
      const started = [first?.()]
      await untilWaiting(sql, 1)
      started.push(second?.())
      await untilWaiting(sql, 3)
      return { started }
    })
    await Promise.all(storing.started)
    for (const { id } of await bench.trpc.hooks.list.query({ tableId: table.id }))
      expect((await bench.trpc.hooks.get.query({ hookId: id })).filter).toMatchObject(anyOf(title))
    before = title
  }
})

test('two changes of a webhook at the same time are both kept', async () => {
  const table = await bench.table({ Title: 'SingleLineText' })
  const fieldId = table.field('Title').id
  const hookId = await bench.hook(table, {})
  const filter = { fieldId, operator: 'eq' as const, value: 'a' }
  await using sql = new Bun.SQL(bench.app.config.databaseUrl ?? '', { max: 2 })
  const changing = await sql.begin(async (held) => {
    await held`select * from hooks where id = ${hookId} for update`
    const changes = [
      bench.trpc.hooks.update.mutate({ hookId, patch: { isConditional: true, filter } }),
      bench.trpc.hooks.update.mutate({ hookId, patch: { title: 'Changed' } }),
    ]
    await untilWaiting(sql, 2)
    return { changes }
  })
  await Promise.all(changing.changes)
  expect(await bench.trpc.hooks.get.query({ hookId })).toMatchObject({
    title: 'Changed',
    isConditional: true,
    filter,
  })
})

test('a condition that cannot be stored while an option is renamed is not tried again', async () => {
  const table = await bench.table({ Title: 'SingleLineText' })
  const choices = [{ id: 'sone', title: 'Open', color: '#eeeeee' }]
  const { id: fieldId } = await bench.trpc.schema.createField.mutate({
    tableId: table.id,
    field: { title: 'State', type: 'SingleSelect', options: { choices } },
  })
  await bench.hook(table, {
    isConditional: true,
    filter: { fieldId, operator: 'anyof' as const, value: ['Open'] },
  })
  await using sql = new Bun.SQL(bench.app.config.databaseUrl ?? '', { max: 1 })
  // A sequence counts also what is rolled back.
  await sql.unsafe(`create sequence tries;
    create function refuse() returns trigger language plpgsql as
      $$ begin perform nextval('tries'); raise exception 'refused'; end $$;
    create trigger refuse before update on hooks for each row execute function refuse()`)
  const renamed = choices.map((choice) => ({ ...choice, title: 'Started' }))
  const patch = { options: { choices: renamed } }
  await expect(bench.trpc.schema.updateField.mutate({ fieldId, patch })).rejects.toThrow()
  const [counted] = await sql`select last_value::integer as tries from tries`
  expect(counted).toEqual({ tries: 1 })
  await sql.unsafe('drop trigger refuse on hooks; drop function refuse(); drop sequence tries')
})

test('a webhook that is repaired while it is about to be paused goes on, without an error', async () => {
  const table = await bench.table({ Title: 'SingleLineText' })
  const hookId = await bench.hook(table)
  await using sql = new Bun.SQL(bench.app.config.databaseUrl ?? '', { max: 2 })
  const [{ payload }] = await sql`select payload from hooks where id = ${hookId}`
  // As where the key of the server has been replaced.
  await sql`update hooks set payload = 'unreadable' where id = ${hookId}`
  const before = bench.received().length
  const errors = spyOn(bench.app.kernel.log, 'error')
  await sql.begin(async (held) => {
    await held`select * from hooks where id = ${hookId} for no key update`
    await bench.rest.post(table.path, { Title: 'a' })
    const isWaiting = async () =>
      (await sql`select 1 from pg_locks where not granted and locktype = 'transactionid'`).length > 0
    while (!(await isWaiting())) await Bun.sleep(20)
    const updatedAt = new Date().toISOString()
    await held`update hooks set payload = ${payload}, updated_at = ${updatedAt} where id = ${hookId}`
  })
  await until(() => bench.received().length > before)
  expect(errors).not.toHaveBeenCalled()
  errors.mockRestore()
})
