import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { type Bench, createBench, refusalOf, type TestTable } from '../records/support.ts'
import type { TestUser } from '../support/app.ts'
import { createMember } from '../support/factories.ts'
import { exportFile, importFile, withFile } from './support.ts'

let bench: Bench
let ann: TestUser
let table: TestTable
let copy: { baseId: string; tableId: string }

/** Opens a file as a base and finds the table in it. */
async function opened(bytes: Uint8Array<ArrayBuffer>): Promise<typeof copy> {
  const job = await importFile(bench, bench.owner, bytes)
  expect(job.error).toBeNull()
  const tables = await bench.trpc.schema.tables.query({ baseId: job.baseId })
  return { baseId: job.baseId, tableId: tables.find(({ title }) => title === table.title)?.id ?? '' }
}

beforeAll(async () => {
  bench = await createBench()
  ann = await createMember(bench.app, bench.baseId, 'commenter')
  table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'one' }])
  await bench.app.trpc(ann.token).comments.create.mutate({ tableId: table.id, recordId: 1, text: 'From Ann' })
  await bench.trpc.comments.create.mutate({ tableId: table.id, recordId: 1, text: 'Mine' })
  const bytes = await exportFile(bench, bench.baseId)
  // Written by somebody who has no account here.
  copy = await opened(
    await withFile(bytes, (path) => {
      const file = new Database(path)
      const people = `update sheaf_people set id = 'ann@elsewhere.example', name = 'Ann Elsewhere' where id = '${ann.email}'`
      file.run(people)
      file.run(`update sheaf_comments set author = 'ann@elsewhere.example' where author = '${ann.email}'`)
      file.close()
      return new Uint8Array(readFileSync(path))
    }),
  )
})
afterAll(() => bench.stop())

const commentsOf = async (tableId: string) =>
  (await bench.trpc.comments.list.query({ tableId, recordId: 1 })).comments

describe('a comment that is longer than comments here may be', () => {
  test('comes in parts, of which the others are replies to the first', async () => {
    const words = Array.from({ length: 1200 }, (_, at) => `word${at}`).join(' ')
    const bytes = await withFile(await exportFile(bench, bench.baseId), (path) => {
      const file = new Database(path)
      file.run(`update sheaf_comments set text = '${words}' where text = 'Mine'`)
      file.close()
      return new Uint8Array(readFileSync(path))
    })
    const { tableId } = await opened(bytes)
    const [, ...parts] = await commentsOf(tableId)
    expect(parts.length).toBeGreaterThan(2)
    expect(parts.map(({ text }) => text).join('')).toBe(words)
    expect(parts.map(({ parentId }) => parentId)).toEqual(
      parts.map((_, at) => (at === 0 ? null : parts[0]!.id)),
    )
  })
})

describe('a comment of somebody without an account', () => {
  test('keeps the name of its author and belongs to whoever imported it', async () => {
    expect(await commentsOf(copy.tableId)).toMatchObject([
      { text: 'From Ann', authorName: 'Ann Elsewhere', createdBy: bench.owner.id },
      { text: 'Mine', authorName: null, createdBy: bench.owner.id },
    ])
    const { body } = await bench.rest.get(`/api/v2/meta/comments?row_id=1&fk_model_id=${copy.tableId}`)
    expect(body.list.map((each: { author_name?: string }) => each.author_name)).toEqual([
      'Ann Elsewhere',
      undefined,
    ])
  })

  test('cannot be changed, not even by the importer, who may delete it', async () => {
    const [comment] = await commentsOf(copy.tableId)
    const change = bench.trpc.comments.update.mutate({ commentId: comment?.id ?? '', text: 'Not from Ann' })
    expect(await refusalOf(change)).toMatchObject({ status: 403 })
    const another = await opened(await exportFile(bench, copy.baseId))
    const [other] = await commentsOf(another.tableId)
    expect(other).toMatchObject({ text: 'From Ann', authorName: 'Ann Elsewhere' })
    await bench.trpc.comments.remove.mutate({ commentId: other?.id ?? '' })
    expect((await commentsOf(another.tableId)).map(({ text }) => text)).toEqual(['Mine'])
  })

  test('is not listed among what the importer has written', async () => {
    const list = async (actorId?: string) => {
      const filter = { kinds: ['comments' as const], actorId }
      return (await bench.trpc.activity.list.query({ baseId: copy.baseId, filter })).items
    }
    const all = await list()
    expect(all.map((item) => ('authorName' in item ? item.authorName : ''))).toEqual([null, 'Ann Elsewhere'])
    expect(all.map(({ actorId }) => actorId)).toEqual([bench.owner.id, null])
    expect(await list(bench.owner.id)).toHaveLength(1)
  })
})
