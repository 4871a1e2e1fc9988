import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createId } from '../../src/core/ids.ts'
import type { Base, Field } from '../../src/core/model.ts'
import type { TestApp, TestUser } from '../support/app.ts'
import { createMember } from '../support/factories.ts'
import { ownTableNames } from '../support/home.ts'
import {
  type Door,
  doorOf,
  ended,
  formatOf,
  giveUp,
  openImports,
  reportOf,
  resultOf,
  rowsOf,
  upload,
} from './support.ts'

let app: TestApp
let owner: TestUser
let base: Base
let door: Door
let made = 0

beforeAll(async () => {
  ;({ app, owner, base, door } = await openImports())
})
afterAll(() => app.stop())

type NewField = Parameters<ReturnType<TestApp['trpc']>['schema']['createTable']['mutate']>[0]['fields']

/** A table with a record `Zoe, 1` in its first two fields. */
async function createTable(fields: NonNullable<NewField>) {
  const { table, fields: all } = await app
    .trpc(owner.token)
    .schema.createTable.mutate({ baseId: base.id, title: `Table ${++made}`, fields })
  const own = all.filter((field) => !field.isSystem && !field.isPrimaryKey)
  const values = Object.fromEntries(own.slice(0, 2).map((field, at) => [field.id, at === 0 ? 'Zoe' : 1]))
  await app.trpc(owner.token).records.write.mutate({
    change: { baseId: base.id, operations: [{ kind: 'insert', tableId: table.id, rows: [{ values }] }] },
  })
  return { tableId: table.id, own }
}

const nameAndAge = () =>
  createTable([
    { title: 'Name', type: 'SingleLineText' },
    { title: 'Age', type: 'Number' },
  ])

/** Starts the import of a file whose columns go to the fields, in their order. */
async function start(tableId: string, fields: Field[], file: string, by: Door = door): Promise<string> {
  const client = app.trpc(by.token)
  const { jobId } = await client.imports.start.mutate({
    baseId: base.id,
    tableId,
    uploadId: await upload(by, file),
    format: formatOf(file),
    width: fields.length,
    columns: fields.map(({ id }, index) => ({ index, fieldId: id })),
  })
  return jobId
}

async function load(tableId: string, fields: Field[], file: string) {
  const jobId = await start(tableId, fields, file)
  return {
    result: resultOf(await ended(door, jobId)),
    report: await reportOf(door, jobId),
    rows: await rowsOf(door, tableId),
  }
}

describe('an import into a table that exists', () => {
  test('is refused to viewers, and allowed to editors', async () => {
    const { tableId, own } = await nameAndAge()
    const viewer = await createMember(app, base.id, 'viewer')
    await expect(start(tableId, own, 'a,b\nx,1\n', doorOf(app, viewer))).rejects.toThrow(
      'You do not have permission',
    )
    const editor = doorOf(app, await createMember(app, base.id, 'editor'))
    expect((await ended(editor, await start(tableId, own, 'a,b\nx,1\n', editor))).status).toBe('completed')
  })

  test('is refused for a field of another table, and for one that the server fills', async () => {
    const { tableId } = await nameAndAge()
    const other = await nameAndAge()
    await expect(start(tableId, other.own, 'a,b\n')).rejects.toThrow('not found')
    const { fields } = await app.trpc(owner.token).schema.table.query({ tableId })
    const system = fields.filter((field) => field.isPrimaryKey)
    await expect(start(tableId, system, 'a\n1\n')).rejects.toThrow('filled in automatically')
  })

  test('adds the rows at the end, in the order of the file', async () => {
    const { tableId, own } = await nameAndAge()
    const { result, rows } = await load(tableId, own, 'n,a\nAnn,2\nBen,3\n')
    expect(result).toMatchObject({ rows: 2, isNewTable: false, tableId })
    expect(rows.map((row) => row.Name)).toEqual(['Zoe', 'Ann', 'Ben'])
  })

  test('tells the others that there are records, once', async () => {
    const { tableId, own } = await nameAndAge()
    const seen: unknown[] = []
    const stop = app.kernel.events.on('records.changed', (change) => seen.push(change))
    await load(tableId, own, 'n,a\nAnn,2\nBen,3\n')
    stop()
    expect(seen).toMatchObject([{ truncated: true, tableIds: [tableId], actorId: owner.id, baseId: base.id }])
    expect((await app.trpc(owner.token).records.count.query({ selection: { tableId } })).count).toBe(3)
  })

  test('is one step of undo and redo, and one line of the log', async () => {
    const { tableId, own } = await nameAndAge()
    await load(tableId, own, `n,a\n${'Ann,2\n'.repeat(700)}`)
    const client = app.trpc(owner.token)
    await client.records.undo.mutate({ baseId: base.id })
    expect(await rowsOf(door, tableId)).toHaveLength(1)
    await client.records.redo.mutate({ baseId: base.id })
    const rows = await rowsOf(door, tableId)
    expect(rows).toHaveLength(701)
    expect(rows.at(-1)).toEqual({ Name: 'Ann', Age: 2 })
  })

  test('gives fields without a column their defaults', async () => {
    const { tableId, own } = await createTable([
      { title: 'Name', type: 'SingleLineText' },
      { title: 'Age', type: 'Number' },
      { title: 'Kind', type: 'SingleLineText', defaultValue: 'guest' },
      { title: 'Done', type: 'Checkbox' },
    ])
    const { rows } = await load(tableId, own.slice(0, 1), 'n\nAnn\n')
    expect(rows[1]).toEqual({ Name: 'Ann', Age: null, Kind: 'guest', Done: false })
  })

  test('leaves out rows without a required value, and is refused without a column for it', async () => {
    const { tableId, own } = await createTable([
      { title: 'Name', type: 'SingleLineText', required: true },
      { title: 'Age', type: 'Number' },
    ])
    const { result, rows, report } = await load(tableId, own, 'n,a\nAnn,1\n,2\nBen,3\n')
    expect(result).toMatchObject({ rows: 2, rowsRefused: 1 })
    expect(rows.map((row) => row.Name)).toEqual(['Zoe', 'Ann', 'Ben'])
    expect(report).toEqual(['3,Name,,A value is required. The row was skipped.'])
    await expect(start(tableId, own.slice(1), 'a\n1\n')).rejects.toThrow('is required. Choose a column')
  })

  test('leaves out rows whose value must be unique and is not, in the table or in the file', async () => {
    const { tableId, own } = await createTable([
      { title: 'Name', type: 'SingleLineText', unique: true },
      { title: 'Age', type: 'Number' },
    ])
    const { result, rows, report } = await load(tableId, own, 'n,a\nAnn,1\nZoe,2\nAnn,3\n,4\n,5\nBen,6\n')
    expect(result).toMatchObject({ rows: 4, rowsRefused: 2 })
    expect(rows.map((row) => row.Age)).toEqual([1, 1, 4, 5, 6])
    expect(report.map((line) => line.split(',').slice(0, 3))).toEqual([
      ['3', 'Name', 'Zoe'],
      ['4', 'Name', 'Ann'],
    ])
  })

  test('leaves options alone that the field does not have', async () => {
    const { tableId, own } = await createTable([
      { title: 'Name', type: 'SingleLineText' },
      { title: 'Age', type: 'Number' },
      { title: 'Status', type: 'SingleSelect', options: { choices: [{ title: 'open' }] } },
    ])
    const { rows, report } = await load(tableId, own, 'n,a,s\nAnn,1,OPEN\nBen,2,gone\n')
    expect(rows.map((row) => row.Status)).toEqual([null, 'open', null])
    expect(report).toEqual(['3,Status,gone,Not one of the options'])
  })

  test('adds nothing where a field is changed while it runs', async () => {
    const { tableId, own } = await nameAndAge()
    const jobId = await start(tableId, own, `n,a\n${'Ann,2\n'.repeat(300_000)}`)
    await app
      .trpc(owner.token)
      .schema.updateField.mutate({ fieldId: own[1]!.id, patch: { type: 'SingleLineText' } })
    const job = await ended(door, jobId)
    expect(job).toMatchObject({ status: 'failed' })
    expect(job.error).toContain('was changed during the import')
    expect(await rowsOf(door, tableId)).toHaveLength(1)
  })

  test('adds nothing for somebody who is removed while it waits', async () => {
    const { tableId, own } = await nameAndAge()
    const editor = await createMember(app, base.id, 'editor')
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    app.kernel.jobs.register('occupies the base', { run: () => released, recover: async () => null })
    await app.kernel.jobs.start('occupies the base', { userId: owner.id, baseId: base.id, input: {} })
    const as = doorOf(app, editor)
    const jobId = await start(tableId, own, 'Name,Age\nAnn,2\n', as)
    await app.services.auth.access.setMembership(base.id, editor.id, null)
    release()
    const { status, error } = await ended(as, jobId)
    expect([status, error]).toEqual(['failed', expect.stringContaining('permission to access')])
    expect(await rowsOf(door, tableId)).toEqual([{ Name: 'Zoe', Age: 1 }])
  })

  test('leaves only its file where it was interrupted too often', async () => {
    const { tableId, own } = await nameAndAge()
    const file = 'n,a\nAnn,2\n'
    const jobId = await start(tableId, own, file)
    expect(resultOf(await ended(door, jobId)).rows).toBe(1)
    const [uploadId, other] = [await upload(door, file), createId('job')]
    await giveUp(app, jobId, uploadId, other)
    expect(await ended(door, other)).toMatchObject({
      status: 'failed',
      error: 'The server stopped repeatedly while this was running. Nothing was imported.',
    })
    expect((await ownTableNames(app, base.id)).filter((name) => name.includes(other))).toEqual([])
    expect(existsSync(join(app.config.dataDir, 'uploads', uploadId))).toBe(true)
  })

  test('lets others write meanwhile, and keeps its rows together', async () => {
    const { tableId, own } = await nameAndAge()
    const client = app.trpc(owner.token)
    const jobId = await start(tableId, own, `n,a\n${'Ann,2\n'.repeat(200_000)}`)
    let written = 0
    let isRunning = true
    const finished = ended(door, jobId).then((job) => {
      isRunning = false
      return job
    })
    while (isRunning) {
      const rows = [{ values: { [own[0]!.id]: 'Live' } }]
      await client.records.write.mutate({
        change: { baseId: base.id, operations: [{ kind: 'insert', tableId, rows }] },
      })
      written++
    }
    expect(resultOf(await finished).rows).toBe(200_000)
    expect(written).toBeGreaterThan(10)
    const { count } = await client.records.count.query({ selection: { tableId } })
    expect(count).toBe(200_001 + written)
    const { detail } = (
      await (
        await app.kernel.sources.engine(base.id)
      ).all<{ detail: string }>({
        sql: `select detail from sheaf_changes where kind = 'records.import' order by id desc limit 1`,
        params: [],
      })
    )[0]!
    const { from, to } = JSON.parse(detail)
    const { table } = await client.schema.table.query({ tableId })
    const strangers = await (await app.kernel.sources.engine(base.id)).all({
      sql: `select 1 from "${table.tableName}" where id between ${from} and ${to} and "${own[0]!.columnName}" <> 'Ann'`,
      params: [],
    })
    expect(strangers).toEqual([])
  })
})
