import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { TableSchema } from '../../src/core/model.ts'
import { createHookBench, type HookBench } from '../hooks/support.ts'
import { doorOf, ended } from '../imports/support.ts'
import { benchOf, refusalOf, type TestTable, testTable } from '../records/support.ts'
import { createBase, createMember } from '../support/factories.ts'
import { until } from '../support/until.ts'

let bench: HookBench
let targetId: string

beforeAll(async () => {
  bench = await createHookBench()
  targetId = (await createBase(bench.app, bench.owner)).id
})
afterEach(() => bench.receiver.clear())
afterAll(async () => {
  await bench.stop()
  await bench.receiver.stop()
})

/** A table with gaps between its record ids, comments with replies and reactions, and a webhook. */
async function discussed(): Promise<{ table: TestTable; hookId: string }> {
  const table = await bench.table(
    { Title: 'SingleLineText', Go: 'Checkbox' },
    ['a', 'b', 'c', 'd'].map((Title) => ({ Title })),
  )
  await bench.rest.delete(table.path, [{ Id: 2 }])
  const { trpc } = bench
  const first = await trpc.comments.create.mutate({
    tableId: table.id,
    recordId: 3,
    text: 'First',
    fieldId: table.field('Title').id,
  })
  await trpc.comments.create.mutate({ tableId: table.id, recordId: 3, text: 'Reply', parentId: first.id })
  await trpc.comments.react.mutate({ commentId: first.id, emoji: '👍', isOn: true })
  const { id: hookId } = await trpc.hooks.create.mutate({
    tableId: table.id,
    title: 'Call',
    event: 'after',
    operations: ['update'],
    triggerFieldIds: [table.field('Title').id],
    channel: { type: 'URL', payload: { path: `${bench.receiver.url}/hook` } },
  })
  return { table, hookId }
}

async function toBase(table: TestTable, options: object): Promise<TestTable> {
  const { jobId, tableId } = await bench.trpc.copies.tableToBase.mutate({
    tableId: table.id,
    baseId: targetId,
    ...options,
  })
  expect(await ended(doorOf(bench.app, bench.owner), jobId)).toMatchObject({
    status: 'completed',
    error: null,
  })
  return testTable(bench.rest, await open(tableId))
}

const open = (tableId: string): Promise<TableSchema> => bench.trpc.schema.table.query({ tableId })
const idsOf = async (table: TestTable) => (await table.list()).map(({ Id }) => Id)

async function threads(table: TestTable) {
  const { comments } = await bench.trpc.comments.list.query({ tableId: table.id, recordId: 3 })
  return comments.map(({ text, fieldId, parentId, createdBy, createdAt, reactions }) => ({
    text,
    field: table.schema.fields.find(({ id }) => id === fieldId)?.title ?? null,
    repliesTo: comments.find(({ id }) => id === parentId)?.text ?? null,
    createdBy,
    createdAt,
    reactions,
  }))
}

describe('moving a table to another base', () => {
  test('keeps the ids of records, their comments and the webhooks of the table', async () => {
    const { table, hookId } = await discussed()
    const preview = await bench.trpc.copies.previewToBase.query({ tableId: table.id })
    expect(preview).toMatchObject({ keepsIds: true, comments: 2, webhooks: 1 })
    const before = await threads(table)
    expect(before).toMatchObject([
      { text: 'First', field: 'Title' },
      { text: 'Reply', repliesTo: 'First' },
    ])
    const secret = await bench.trpc.hooks.secret.query({ hookId })
    const moved = await toBase(table, { isMove: true })
    expect(await idsOf(moved)).toEqual([1, 3, 4])
    expect(await threads(moved)).toEqual(before)
    const { body } = await bench.rest.post(moved.path, { Title: 'e' })
    expect(body.Id).toBe(5)
    const hooks = await bench.trpc.hooks.list.query({ tableId: moved.id })
    expect(hooks).toMatchObject([{ title: 'Call', isActive: true }])
    expect(await bench.trpc.hooks.secret.query({ hookId: hooks[0]?.id ?? '' })).toEqual(secret)
    await bench.rest.patch(moved.path, [{ Id: 3, Go: true }])
    await bench.rest.patch(moved.path, [{ Id: 3, Title: 'C' }])
    const there = benchOf(bench.app, bench.owner, targetId)
    await bench.app.services.records.feed.settled(there.baseId)
    await bench.settled()
    await until(() => bench.received().length > 0, 'The call')
    expect(bench.received().map(({ data }) => data.table_id)).toEqual([moved.id])
  })

  test('takes its comments over without handing them to the metadata again, and leaves copies to the original', async () => {
    const { table } = await discussed()
    const before = await threads(table)
    const { meta } = bench.app.kernel
    const { atomically } = meta
    const params: unknown[] = []
    Object.assign(meta, {
      async atomically(...[statements]: Parameters<typeof atomically>) {
        params.push(...statements.flatMap((statement) => statement.toSQL().params))
        return atomically(statements)
      },
    })
    const moved = await toBase(table, { isMove: true })
    Object.assign(meta, { atomically })
    expect(params).toContain(moved.id)
    expect(params).not.toContain('Reply')
    expect(await threads(moved)).toEqual(before)
    const items = [{ kind: 'table' as const, tableId: table.id }]
    await bench.trpc.trash.restore.mutate({ baseId: bench.baseId, items })
    expect(await threads(table)).toEqual(before)
    const idsIn = async ({ id }: TestTable) =>
      (await bench.trpc.comments.list.query({ tableId: id, recordId: 3 })).comments.map((each) => each.id)
    expect(new Set([...(await idsIn(table)), ...(await idsIn(moved))]).size).toBe(4)
  })

  test('leaves comments and webhooks behind if that is wanted', async () => {
    const { table } = await discussed()
    const moved = await toBase(table, { isMove: true, withComments: false, withHooks: false })
    expect(await threads(moved)).toEqual([])
    expect(await bench.trpc.hooks.list.query({ tableId: moved.id })).toEqual([])
  })
})

describe('copying a table to another base', () => {
  test('has comments and webhooks on request; the copies of webhooks are off and have a new secret', async () => {
    const { table, hookId } = await discussed()
    const plain = await toBase(table, {})
    expect(await threads(plain)).toEqual([])
    expect(await bench.trpc.hooks.list.query({ tableId: plain.id })).toEqual([])
    const whole = await toBase(table, { withComments: true, withHooks: true })
    expect(await idsOf(whole)).toEqual([1, 3, 4])
    expect(await threads(whole)).toEqual(await threads(table))
    const [hook] = await bench.trpc.hooks.list.query({ tableId: whole.id })
    expect(hook).toMatchObject({ title: 'Call', isActive: false })
    const secretOf = (id = '') => bench.trpc.hooks.secret.query({ hookId: id })
    expect(await secretOf(hook?.id)).not.toEqual(await secretOf(hookId))
    const empty = await toBase(table, { withData: false, withComments: true })
    expect(await threads(empty)).toEqual([])
  })

  test('stores comments before the copy appears, and removes them if it does not', async () => {
    const { table } = await discussed()
    const engine = await bench.app.kernel.sources.engine(targetId)
    const { countOf } = bench.app.services.comments.copies
    const { writeScript } = engine
    let copyId = ''
    let stored = 0
    Object.assign(engine, {
      async writeScript(...given: Parameters<typeof writeScript>) {
        // The publication is the script that is planned while nobody else writes.
        if (typeof given[0] !== 'function') return writeScript(...given)
        while (copyId === '') await Bun.sleep(1)
        stored = await countOf(copyId)
        throw new Error('The publication failed')
      },
    })
    const { jobId, tableId } = await bench.trpc.copies.tableToBase.mutate({
      tableId: table.id,
      baseId: targetId,
      withComments: true,
    })
    copyId = tableId
    const { status } = await ended(doorOf(bench.app, bench.owner), jobId)
    Object.assign(engine, { writeScript })
    expect([status, stored, await countOf(tableId)]).toEqual(['failed', 2, 0])
    expect(await threads(table)).toHaveLength(2)
  })

  test('gives webhooks only to those who may see them', async () => {
    const { table } = await discussed()
    const viewer = await createMember(bench.app, bench.baseId, 'viewer')
    await bench.trpc.bases.invite.mutate({ baseId: targetId, emails: [viewer.email], role: 'creator' })
    const { copies } = bench.app.trpc(viewer.token)
    const options = { tableId: table.id, baseId: targetId }
    const refused = copies.tableToBase.mutate({ ...options, withHooks: true })
    expect(await refusalOf(refused)).toMatchObject({ status: 403 })
    expect(await copies.previewToBase.query({ tableId: table.id })).toMatchObject({
      webhooks: 0,
      comments: 2,
    })
    const { jobId } = await copies.tableToBase.mutate({ ...options, withComments: true })
    expect((await ended(doorOf(bench.app, viewer), jobId)).status).toBe('completed')
  })
})
