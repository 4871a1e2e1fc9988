import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { readAttachments } from '../../src/core/fields/attachment-item.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { TableSchema } from '../../src/core/model.ts'
import { uploadOne } from '../records/attachments-support.ts'
import { createLink } from '../records/links-support.ts'
import { type Bench, createBench, refusalOf, type TestTable } from '../records/support.ts'
import type { TestUser } from '../support/app.ts'
import { createMember } from '../support/factories.ts'
import { exportFile, importFile, withFile } from './support.ts'

let bench: Bench
let ann: TestUser
let table: TestTable
let others: TestTable
let bytes: Uint8Array<ArrayBuffer>
let copy: Copy

/** A base that was opened from a file. */
interface Copy {
  baseId: string
  table: TableSchema
}

beforeAll(async () => {
  bench = await createBench()
  ann = await createMember(bench.app, bench.baseId, 'editor')
  others = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'x' }, { Title: 'y' }])
  table = await bench.table(
    {
      Title: 'SingleLineText',
      Price: 'Decimal',
      Done: 'Checkbox',
      At: 'DateTime',
      Who: 'User',
      Files: 'Attachment',
      Secret: 'Password',
    },
    [{ Title: 'one', Price: 1.5 }, { Title: 'two', Done: true }, { Title: 'three' }],
  )
  const link = await createLink(bench, table, others, 'mm', { title: 'Others' })
  const file = await uploadOne(bench, bench.owner.token, 'old.txt', 'taken out of its cell')
  await bench.rest.patch(table.path, [
    { Id: 1, Price: 2, Who: ann.id, Secret: 'swordfish', At: '2026-01-31T08:20:00Z', Files: [file] },
  ])
  await bench.app.trpc(ann.token).records.write.mutate({
    change: {
      baseId: bench.baseId,
      operations: [
        {
          kind: 'update',
          tableId: table.id,
          rows: [{ id: 1, values: table.values({ Title: 'uno', Files: null, Who: null }) }],
        } as never,
      ],
    },
  })
  await link.set(1, [1, 2])
  await bench.rest.patch(table.path, [{ Id: 2, Done: false }])
  await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
  const { status } = await bench.rest.delete(table.path, [{ Id: 3 }])
  expect(status).toBe(200)
  bytes = await exportFile(bench, bench.baseId, { withHistory: true })
  copy = await opened(bytes)
})
afterAll(() => bench.stop())

async function opened(
  file: Uint8Array<ArrayBuffer>,
  options: { withHistory?: boolean } = {},
  { title: wanted } = table,
): Promise<Copy> {
  const job = await importFile(bench, bench.owner, file, options)
  expect(job.error).toBeNull()
  const tables = await bench.trpc.schema.tables.query({ baseId: job.baseId })
  const tableId = tables.find(({ title }) => title === wanted)?.id ?? ''
  return { baseId: job.baseId, table: await bench.trpc.schema.table.query({ tableId }) }
}

const altered = (...statements: string[]): Promise<Uint8Array<ArrayBuffer>> =>
  withFile(bytes, (path) => {
    const file = new Database(path)
    for (const statement of statements) file.run(statement)
    file.close()
    return new Uint8Array(readFileSync(path))
  })

/** The history of a record by titles, newest first, without what is new in a copy. */
async function historyOf({ table: { id }, fields }: TableSchema, recordId: number) {
  const { entries } = await bench.trpc.records.history.query({ tableId: id, recordId })
  const titles = new Map(fields.map((field) => [field.id, field.title]))
  const plain = (title: string | undefined, value: CellValue) =>
    title === 'Files' ? readAttachments(value).map((item) => item.title) : value
  return entries.map(({ at, actorId, isNew, changes }) => ({
    at,
    actorId,
    isNew,
    changes: changes
      .map(({ fieldId, before, after }) => {
        const title = titles.get(fieldId)
        return { title, before: plain(title, before), after: plain(title, after) }
      })
      .filter(({ title }) => title !== 'Secret')
      .toSorted((a, b) => (a.title ?? '').localeCompare(b.title ?? '')),
  }))
}

const fieldOf = (schema: TableSchema, title: string): string =>
  schema.fields.find((field) => field.title === title)?.id ?? ''

async function rowsOf(schema: TableSchema): Promise<Record<string, unknown>[]> {
  return (await bench.rest.get(`/api/v2/tables/${schema.table.id}/records`)).body.list
}

const restoreRecord = ({ baseId, table: schema }: Copy, recordId: number) =>
  bench.trpc.trash.restore.mutate({
    baseId,
    items: [{ kind: 'record', tableId: schema.table.id, recordId }],
  })

describe('a base that is opened with the history of its file', () => {
  test('has the same history of each record, with its authors and times', async () => {
    const original = await bench.trpc.schema.table.query({ tableId: table.id })
    for (const recordId of [1, 2]) {
      const there = await historyOf(copy.table, recordId)
      expect(there).toEqual(await historyOf(original, recordId))
      expect(there.length).toBeGreaterThan(2)
    }
    const [first] = (await historyOf(copy.table, 1)).filter(({ actorId }) => actorId === ann.id)
    expect(first?.changes).toContainEqual({ title: 'Title', before: 'one', after: 'uno' })
    expect(first?.changes).toContainEqual({ title: 'Files', before: ['old.txt'], after: [] })
  })

  test('has deleted records in its trash, which can be restored', async () => {
    const another = await opened(bytes)
    const { items } = await bench.trpc.trash.list.query({ baseId: another.baseId })
    expect(items).toHaveLength(1)
    await restoreRecord(another, 3)
    expect((await rowsOf(another.table)).map(({ Title }) => Title)).toEqual(['uno', 'two', 'three'])
  })

  test('restores a version of a record from before, with its people, files and links', async () => {
    const another = await opened(bytes)
    const { entries } = await bench.trpc.records.history.query({
      tableId: another.table.table.id,
      recordId: 1,
    })
    const version = entries.find(
      ({ actorId, changes }) =>
        actorId === bench.owner.id &&
        changes.some(({ fieldId }) => fieldId === fieldOf(another.table, 'Price')),
    )
    await bench.trpc.records.restoreRecordVersion.mutate({
      tableId: another.table.table.id,
      recordId: 1,
      entryId: version?.id ?? 0,
    })
    const [row] = await rowsOf(another.table)
    expect(row).toMatchObject({ Title: 'one', Price: 2, Others: 0 })
    const [file] = (row?.Files ?? []) as { signedPath: string; title: string }[]
    expect(file?.title).toBe('old.txt')
    const answer = await fetch(`${bench.app.url}/${file?.signedPath}`)
    expect(await answer.text()).toBe('taken out of its cell')
    expect(row?.Who).toMatchObject([{ email: ann.email }])
  })

  test('undoes nothing from before, and what is done after', async () => {
    const another = await opened(bytes)
    const { baseId, table: schema } = another
    const next = () =>
      bench.trpc.records.nextAction.query({ baseId, direction: 'undo', tableId: schema.table.id } as never)
    expect(await next()).toBeNull()
    const { actions } = await bench.trpc.records.actions.query({ baseId, limit: 50 })
    expect(actions.length).toBeGreaterThan(4)
    expect(new Set(actions.map(({ state }) => state))).toEqual(new Set(['final']))
    const refused = bench.trpc.records.undo.mutate({ baseId, entryId: actions[0]?.id ?? 0 })
    expect(await refusalOf(refused)).toMatchObject({
      status: 409,
      message: 'This can’t be undone: it happened before this base was opened from a file',
    })
    await bench.rest.patch(`/api/v2/tables/${schema.table.id}/records`, [{ Id: 2, Title: 'changed' }])
    await bench.trpc.records.undo.mutate({ baseId })
    expect((await rowsOf(schema))[1]).toMatchObject({ Title: 'two' })
  })

  test('has a new history if that is wanted, or the file has none', async () => {
    for (const another of [
      await opened(bytes, { withHistory: false }),
      await opened(await exportFile(bench, bench.baseId)),
    ]) {
      expect(await historyOf(another.table, 1)).toEqual([])
      expect((await bench.trpc.trash.list.query({ baseId: another.baseId })).items).toEqual([])
    }
  })

  test('can be exported and opened once more with the same history', async () => {
    const again = await opened(await exportFile(bench, copy.baseId, { withHistory: true }))
    expect(await historyOf(again.table, 1)).toEqual(await historyOf(copy.table, 1))
  })

  test('has what records were in the tables that they were moved from', async () => {
    const source = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'first' }])
    const target = await bench.table({ Title: 'SingleLineText' })
    await bench.app.rest(ann.token).patch(source.path, { Id: 1, Title: 'second' })
    const moved = { targetTableId: target.id, ids: [1], move: true }
    expect((await bench.rest.post(`${source.path}/copy`, moved)).body).toMatchObject({ deleted: 1 })
    const file = await exportFile(bench, bench.baseId, { withHistory: true })
    const there = await opened(file, {}, target)
    const history = await historyOf(await bench.trpc.schema.table.query({ tableId: target.id }), 1)
    expect(history).toHaveLength(3)
    expect(await historyOf(there.table, 1)).toEqual(history)
    // Once more, from the opened base.
    const again = await opened(await exportFile(bench, there.baseId, { withHistory: true }), {}, target)
    expect(await historyOf(again.table, 1)).toEqual(history)
  })
})

describe('the history of a file that was changed by hand', () => {
  test('gives no access to other files, secrets or people', async () => {
    const foreign = (await uploadOne(bench, bench.owner.token, 'secret.txt', 'not in the file')) as {
      path: string
    }
    const item = JSON.stringify([{ path: foreign.path, title: 'x', mimetype: 'text/plain', size: 1 }])
    const values = JSON.stringify({
      [table.field('Files').id]: item,
      [table.field('Secret').id]: '$argon2id$v=19$m=1,t=1,p=1$YWFhYWFhYWE$YWFhYWFhYWE',
      [table.field('Who').id]: 'nobody@example.com',
      [table.field('Title').id]: 'kept',
      [others.field('Title').id]: 'of another table',
      unknown: 1,
    }).replaceAll("'", "''")
    const { baseId, table: schema } = await opened(
      await altered(`update sheaf_history_records set before = '${values}' where after is null`),
    )
    await restoreRecord({ baseId, table: schema }, 3)
    const restored = (await rowsOf(schema)).find(({ Title }) => Title === 'kept')
    expect(restored).toMatchObject({ Title: 'kept', Files: null, Secret: null, Who: null })
  })

  const damage: [string, string][] = [
    ['deep JSON', `update sheaf_history_records set after = '${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}'`],
    ['bytes', `update sheaf_history_records set before = x'00ff', after = x'00ff'`],
    ['no times', `update sheaf_history set at = 'yesterday'`],
    ['texts as record ids', `update sheaf_history_records set record_id = 'a' || rowid`],
    ['negative ids', `update sheaf_history set id = -id`],
  ]
  // No value that the other home would take differently: one home is enough.
  if (process.env.TEST_HOME !== 'postgres')
    damage.push(
      ['no JSON', `update sheaf_history_records set before = '{', after = '[1]'`],
      ['unknown entries', `update sheaf_history_records set change_id = change_id + 1000000`],
      ['unknown tables', `update sheaf_history set table_id = 'm00000000000000'`],
      ['fields as tables', `update sheaf_history set table_id = (select id from sheaf_fields limit 1)`],
      ['unknown kinds', `update sheaf_history set kind = 'field.delete'`],
    )
  test.each(damage)('is left out where it is not valid: %s', async (_, statement) => {
    const { baseId, table: schema } = await opened(await altered(statement))
    expect((await rowsOf(schema)).map(({ Title }) => Title)).toEqual(['uno', 'two'])
    expect((await bench.trpc.trash.list.query({ baseId })).items).toEqual([])
    const { entries } = await bench.trpc.records.history.query({ tableId: schema.table.id, recordId: 1 })
    for (const entry of entries) expect(entry.changes).toEqual([])
  })
})
