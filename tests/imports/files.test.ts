import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readAttachments } from '../../src/core/fields/attachment-item.ts'
import { png, type Uploaded, uploadOne } from '../records/attachments-support.ts'
import { type Bench, benchOf, createBench, type FieldSpec, type TestTable } from '../records/support.ts'
import type { TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'
import { doorOf, ended, formatOf, reportOf, resultOf, rowsOf, upload } from './support.ts'

/** A base of somebody else, with a file in it. */
let theirs: Bench
/** Our base. */
let bench: Bench
let secret: Uploaded
beforeAll(async () => {
  theirs = await createBench()
  const { app, owner } = theirs
  const { id } = await createBase(app, owner)
  bench = benchOf(app, await createMember(app, id, 'creator'), id)
  const table = await theirs.table({ Title: 'SingleLineText', Files: 'Attachment' })
  secret = await uploadOne(theirs, owner.token, 'secret.txt', 'what others may not read')
  await theirs.rest.post(table.path, { Title: 'x', Files: [secret] })
})
afterAll(() => bench.stop())

const tableOf = (files: FieldSpec = 'Attachment') => bench.table({ Title: 'SingleLineText', Files: files })

/** Imports titles and files. */
async function load(table: TestTable, file: string, by: TestUser = bench.owner) {
  const door = doorOf(bench.app, by)
  const { jobId } = await bench.app.trpc(by.token).imports.start.mutate({
    baseId: bench.baseId,
    tableId: table.id,
    format: formatOf(file),
    width: 2,
    uploadId: await upload(door, file),
    columns: ['Title', 'Files'].map((title, index) => ({ index, fieldId: table.field(title).id })),
  })
  const result = resultOf(await ended(door, jobId))
  const rows = await rowsOf(door, table.id)
  const paths = rows.map(({ Files }) => readAttachments(Files ?? null).map(({ path, url }) => path ?? url))
  return { result, paths, rows, report: await reportOf(door, jobId) }
}

const isOpen = async ({ path }: Uploaded, by: TestUser) =>
  (await fetch(`${bench.app.url}/${path}`, { headers: { 'xc-auth': by.token } })).status === 200

describe('an import that names stored files', () => {
  test('opens none to whoever may not read it, and says no more than of a file that is not there', async () => {
    const table = await tableOf()
    const nowhere = secret.path.replace(/[^/]+$/, 'secret_AAAAA.txt')
    const { result, paths, report } = await load(
      table,
      `t,f\nA,secret.txt (${secret.path})\nB,secret.txt (${nowhere})\n`,
    )
    expect(result).toMatchObject({ rows: 2, cellsRefused: 2 })
    expect(paths).toEqual([[], []])
    const reasons = report.map((line) => line.split(',').slice(1).join())
    expect(reasons[0]).toBe(reasons[1]!)
    expect(reasons[0]).toContain('was not found')
    expect(await isOpen(secret, bench.owner)).toBe(false)
    // Nor does the attempt make it one of the base's files.
    await expect(
      bench.trpc.records.write.mutate({
        change: {
          baseId: bench.baseId,
          operations: [
            {
              kind: 'insert',
              tableId: table.id,
              rows: [{ values: table.values({ Files: JSON.stringify([secret]) }) }],
            },
          ],
        },
      }),
    ).rejects.toThrow('Upload it first')
  })

  test.each([
    ['dltemp/AAAAAAAAAAAAAAAA/9999999999999/a.txt'],
    ['download/../sheaf.db'],
    ['download/noco/%2e%2e/%2e%2e/sheaf.db'],
    ['/etc/passwd'],
    ['file:///etc/passwd'],
    ['download/\\..\\sheaf.db'],
  ])('takes no other place for one: %s', async (place) => {
    const { paths, report } = await load(await tableOf(), `t,f\nA,a.txt (${place})\n`)
    expect(paths).toEqual([[]])
    expect(report).toHaveLength(1)
  })

  test('takes no signed link for the file that it opens', async () => {
    const mine = await uploadOne(theirs, theirs.owner.token, 'signed.txt', 'x')
    const { paths, report } = await load(await tableOf(), `t,f\nA,signed.txt (${mine.signedPath})\n`)
    expect(paths).toEqual([[]])
    expect(report).toHaveLength(1)
  })

  test('takes those of a base that the person may read, and no longer once they may not', async () => {
    const both = await createMember(bench.app, bench.baseId, 'editor')
    await bench.app.services.auth.access.setMembership(theirs.baseId, both.id, 'viewer')
    const other = await uploadOne(theirs, theirs.owner.token, 'shared.txt', 'x')
    const later = await uploadOne(theirs, theirs.owner.token, 'later.txt', 'x')
    const table = await theirs.table({ Title: 'SingleLineText', Files: 'Attachment' })
    await theirs.rest.post(table.path, { Files: [other, later] })
    expect((await load(await tableOf(), `t,f\nA,shared.txt (${other.path})\n`, both)).paths).toEqual([
      [other.path],
    ])
    await bench.app.services.auth.access.setMembership(theirs.baseId, both.id, null)
    const { paths, report } = await load(await tableOf(), `t,f\nA,later.txt (${later.path})\n`, both)
    expect(paths).toEqual([[]])
    expect(report[0]).toContain('was not found')
  })

  test('says of a file what the server knows, not what its name does', async () => {
    const file = await uploadOne(bench, bench.owner.token, 'plain.txt', 'text')
    const { rows } = await load(await tableOf(), `t,f\nA,picture.png (${file.path})\n`)
    expect(readAttachments(rows[0]?.Files ?? null)).toMatchObject([
      { title: 'picture.png', path: file.path, mimetype: 'text/plain', size: 4 },
    ])
  })

  test('holds them against the limits of the field, and leaves out rows that must have one', async () => {
    const [small, big] = [png(1, 1), 'x'.repeat(1_100_000)]
    const one = await uploadOne(bench, bench.owner.token, 'a.png', small)
    const two = await uploadOne(bench, bench.owner.token, 'b.txt', big)
    const options = { kinds: ['image'], maxCount: 1, maxSizeMb: 1 }
    const file = `t,f\nA,a.png (${one.path})\nB,b.txt (${two.path})\nC,"a.png (${one.path}), a.png (${one.path})"\n`
    const { result, paths } = await load(await tableOf({ type: 'Attachment', options }), file)
    expect(result).toMatchObject({ rows: 3, cellsRefused: 2 })
    expect(paths).toEqual([[one.path], [], []])
    const required = await tableOf({ type: 'Attachment', options, required: true })
    const strict = await load(required, file)
    expect(strict.result).toMatchObject({ rows: 1, rowsRefused: 2, cellsRefused: 0 })
    expect(strict.report[0]).toContain('The row was skipped')
  })

  test('is taken back in one step, and the file stays for redo', async () => {
    const table = await tableOf()
    const file = await uploadOne(bench, bench.owner.token, 'kept.txt', 'x')
    await load(table, `t,f\nA,kept.txt (${file.path})\n`)
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(await table.total()).toBe(0)
    await bench.trpc.records.redo.mutate({ baseId: bench.baseId })
    const [row] = await rowsOf(doorOf(bench.app, bench.owner), table.id)
    expect(readAttachments(row?.Files ?? null)).toMatchObject([{ path: file.path }])
    expect(await isOpen(file, bench.owner)).toBe(true)
  })
})
