import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readAttachments } from '../../src/core/fields/attachment-item.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fillUploadLimit, png, uploadOne } from '../records/attachments-support.ts'
import { EVERY_TYPE, STORED_VALUES } from '../records/every-type.ts'
import { createLink } from '../records/links-support.ts'
import { type Bench, createBench, type FieldSpec, type TestTable } from '../records/support.ts'
import { createMember } from '../support/factories.ts'
import { exportFile, importFile, withFile } from './support.ts'

let bench: Bench
let every: TestTable
let tasks: TestTable
let people: TestTable
let bytes: Uint8Array<ArrayBuffer>
let copyId: string
let imported: Record<string, unknown>

const FIELDS: Record<string, FieldSpec> = {
  ...EVERY_TYPE,
  Local: { type: 'DateTime', options: { timeZone: 'local' } },
  Who: { type: 'User', options: { multiple: true } },
  Number: 'AutoNumber',
  Born: 'CreatedTime',
  Files: 'Attachment',
  Secret: 'Password',
}

beforeAll(async () => {
  bench = await createBench()
  const { trpc, rest, baseId } = bench
  const ann = await createMember(bench.app, baseId, 'editor')
  every = await bench.table(FIELDS)
  people = await bench.table({ Title: 'SingleLineText', Age: 'Number' }, [
    { Title: 'Doe, Jane', Age: 30 },
    { Title: '=1+1', Age: 40 },
    { Title: null, Age: null },
  ])
  tasks = await bench.table(
    {
      Title: 'SingleLineText',
      Kind: { type: 'SingleSelect', options: { choices: [{ title: 'a' }, { title: 'b' }] } },
    },
    [
      { Title: 'One', Kind: 'a' },
      { Title: 'Two', Kind: 'b' },
      { Title: 'Three', Kind: 'a' },
    ],
  )
  const titles = Object.keys(EVERY_TYPE) as (keyof typeof EVERY_TYPE)[]
  const count = Math.max(...titles.map((title) => STORED_VALUES[title].length))
  const rows = Array.from({ length: count }, (_, at) =>
    Object.fromEntries(
      titles.map((title, shift) => {
        const values = STORED_VALUES[title]
        return [title, values[(at + shift) % values.length] ?? null]
      }),
    ),
  )
  const write = (operations: object[]) =>
    trpc.records.write.mutate({ change: { baseId, operations: operations as never } })
  await write([
    { kind: 'insert', tableId: every.id, rows: rows.map((row) => ({ values: every.values(row) })) },
  ])
  const picture = await uploadOne(bench, bench.owner.token, 'a, b (1).png', png(3, 2))
  const text = await uploadOne(bench, bench.owner.token, 'same.txt', 'the same bytes')
  const twin = await uploadOne(bench, bench.owner.token, 'twin.txt', 'the same bytes')
  await rest.patch(every.path, [
    { Id: 1, Files: [picture, text], Who: `${ann.id},${bench.owner.id}`, Secret: 'swordfish' },
    { Id: 2, Files: [twin], Who: bench.owner.id },
  ])
  for (const [title, kind] of [
    ['Owner', 'bt'],
    ['Helpers', 'mm'],
    ['Reviewer', 'oo'],
    ['Fans', 'hm'],
  ] as const) {
    const link = await createLink(bench, tasks, people, kind, { title })
    await link.set(1, kind === 'mm' ? [1, 2, 3] : [2])
    await link.set(2, kind === 'bt' || kind === 'mm' ? [2] : [3])
  }
  const parent = await createLink(bench, tasks, tasks, 'bt', { title: 'Parent' })
  await parent.set(3, [1])
  const { fields } = await trpc.schema.table.query({ tableId: tasks.id })
  const idOf = (title: string) => fields.find((field) => field.title === title)?.id ?? ''
  const add = (field: object) => trpc.schema.createField.mutate({ tableId: tasks.id, field: field as never })
  await add({
    title: 'Ages',
    type: 'Lookup',
    options: { relationFieldId: idOf('Helpers'), targetFieldId: people.field('Age').id },
  })
  await add({
    title: 'Sum',
    type: 'Rollup',
    options: { relationFieldId: idOf('Helpers'), targetFieldId: people.field('Age').id, function: 'sum' },
  })
  await add({ title: 'Loud', type: 'Formula', options: { formula: 'CONCAT(UPPER({Title}), "!", {Sum})' } })
  const kanban = await trpc.views.create.mutate({
    tableId: tasks.id,
    title: 'Board',
    kind: 'kanban',
    options: { stackFieldId: idOf('Kind') },
  })
  await trpc.views.update.mutate({
    viewId: tasks.schema.views[0]?.id ?? '',
    patch: {
      filter: { join: 'and', children: [{ fieldId: idOf('Kind'), operator: 'eq', value: 'a' }] } as never,
      sorts: [{ fieldId: idOf('Title'), direction: 'desc' }],
      groups: [{ fieldId: idOf('Kind'), direction: 'asc' }],
    },
  })
  await trpc.views.create.mutate({ tableId: tasks.id, title: 'Ask', kind: 'form' })
  expect(kanban.kind).toBe('kanban')
  const first = await trpc.comments.create.mutate({
    tableId: tasks.id,
    recordId: 1,
    text: `Ask @(${ann.id})`,
  })
  await bench.app
    .trpc(ann.token)
    .comments.create.mutate({ tableId: tasks.id, recordId: 1, text: 'Done', parentId: first.id })
    .catch(() => {})
  // Limits neither exports nor the files of an import.
  await fillUploadLimit(bench, bench.owner.token)
  bytes = await exportFile(bench, baseId, { withHistory: true })
  const job = await importFile(bench, bench.owner, bytes)
  expect(job.error).toBeNull()
  copyId = job.baseId
  imported = job.result as Record<string, unknown>
})
afterAll(() => bench.stop())

const copyOf = async (table: TestTable) => {
  const tables = await bench.trpc.schema.tables.query({ baseId: copyId })
  const { title } = (await bench.trpc.schema.table.query({ tableId: table.id })).table
  const tableId = tables.find((each) => each.title === title)?.id ?? ''
  return bench.trpc.schema.table.query({ tableId })
}

/** All cells of a table by title, in the order of the records. */
async function cellsOf(tableId: string): Promise<Record<string, CellValue>[]> {
  const { fields } = await bench.trpc.schema.table.query({ tableId })
  const page = await bench.trpc.records.list.query({
    query: { tableId, fieldIds: fields.map(({ id }) => id), limit: 1000, offset: 0 },
  })
  return page.rows.map((row) => Object.fromEntries(fields.map(({ title }, at) => [title, row[at] ?? null])))
}

/** Cells without what is stored anew: the paths of files, and passwords, which no file has. */
const comparable = (rows: Record<string, CellValue>[]) =>
  rows.map(({ Files, Secret: _, ...row }) => ({
    ...row,
    Files: readAttachments(Files ?? null).map(({ title, size, mimetype, width }) => [
      title,
      size,
      mimetype,
      width,
    ]),
  }))

describe('a base that is exported as a file and opened again', () => {
  test('has the same cells of every type, and the same record ids, order and times', async () => {
    const copy = await copyOf(every)
    const [here, there] = [await cellsOf(every.id), await cellsOf(copy.table.id)]
    expect(comparable(there)).toEqual(comparable(here))
    expect(there.map(({ Secret }) => Secret).filter((secret) => secret !== null)).toEqual([])
    expect(imported).toMatchObject({ unknownPeople: [], leftOut: [] })
  })

  test('has the same links, lookups, rollups and formulas, which follow later changes', async () => {
    for (const table of [tasks, people])
      expect(await cellsOf((await copyOf(table)).table.id)).toEqual(await cellsOf(table.id))
    const copy = await copyOf(people)
    await bench.trpc.records.write.mutate({
      change: {
        baseId: copyId,
        operations: [
          {
            kind: 'update',
            tableId: copy.table.id,
            rows: [{ id: 1, values: { [copy.fields.find(({ title }) => title === 'Age')?.id ?? '']: 31 } }],
          } as never,
        ],
      },
    })
    const after = await cellsOf((await copyOf(tasks)).table.id)
    expect(after[0]?.Loud).toBe('ONE!71')
    expect((await cellsOf(tasks.id))[0]?.Loud).toBe('ONE!70')
  })

  test('has the same views', async () => {
    const [here, there] = [await bench.trpc.schema.table.query({ tableId: tasks.id }), await copyOf(tasks)]
    const names = (schema: typeof here) => {
      const titles = new Map(schema.fields.map(({ id, title }) => [id, title]))
      const plain = schema.views.map(({ id: _, tableId: __, ...view }) => view)
      // Ids of fields by their titles; those of conditions are new.
      return JSON.parse(
        JSON.stringify(plain).replace(/"c[a-z0-9]{14}"/g, (id) =>
          JSON.stringify(titles.get(JSON.parse(id)) ?? id),
        ),
        (key, value) => (key === 'id' ? undefined : value),
      )
    }
    expect(names(there)).toEqual(names(here))
    expect(there.views.map(({ kind }) => kind)).toEqual(['grid', 'kanban', 'form'])
  })

  test('continues the numbering, and takes new records and links', async () => {
    const copy = await copyOf(tasks)
    const { body } = await bench.rest.post(`/api/v2/tables/${copy.table.id}/records`, { Title: 'Four' })
    expect(body).toMatchObject({ Id: 4 })
  })

  test('has attachments with the same bytes', async () => {
    const contents = async (tableId: string) => {
      const rows = await bench.rest.get(`/api/v2/tables/${tableId}/records?limit=2`)
      const files = (rows.body.list as { Files: { signedPath: string }[] | null }[]).flatMap(
        ({ Files }) => Files ?? [],
      )
      return Promise.all(
        files.map(async ({ signedPath }) =>
          (await (await fetch(`${bench.app.url}/${signedPath}`)).bytes()).toHex(),
        ),
      )
    }
    const [here, there] = [await contents(every.id), await contents((await copyOf(every)).table.id)]
    expect(there).toHaveLength(3)
    expect(there).toEqual(here)
  })

  test('has the comments with their authors', async () => {
    const list = async (tableId: string) =>
      (await bench.trpc.comments.list.query({ tableId, recordId: 1 })).comments.map(
        ({ text, createdBy, createdAt, parentId }) => [text, createdBy, createdAt, parentId === null],
      )
    expect(await list((await copyOf(tasks)).table.id)).toEqual(await list(tasks.id))
  })
})

describe('the file', () => {
  test('is readable as plain tables, with titles as names and links as text', () =>
    withFile(bytes, (path) => {
      const file = new Database(path, { readonly: true })
      const rows = file.query(`select * from "${tasks.title}"`).all() as Record<string, unknown>[]
      expect(rows[0]).toMatchObject({
        Id: 1,
        Title: 'One',
        Kind: 'a',
        Helpers: '"Doe, Jane", =1+1, 3',
        Sum: 70,
        Loud: 'ONE!70',
      })
      const contents = file.query('select count(distinct content) as n from sheaf_contents').get()
      expect(contents).toEqual({ n: 2 })
      const [history] = file.query('select count(*) as n from sheaf_history_records').all() as { n: number }[]
      expect(history?.n).toBeGreaterThan(10)
      file.close()
    }))

  test('has no password, hash or token', () => {
    const text = Buffer.from(bytes).toString('latin1')
    expect(text).not.toContain('swordfish')
    expect(text).not.toContain('$argon2')
    expect(text).not.toContain('$2')
  })
})
