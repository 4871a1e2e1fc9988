import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { uploadOne } from '../records/attachments-support.ts'
import { createLink } from '../records/links-support.ts'
import { type Bench, createBench, refusalOf, type TestTable } from '../records/support.ts'
import { createMember } from '../support/factories.ts'
import { exportFile, importFile, withFile } from './support.ts'

let bench: Bench
let table: TestTable
let bytes: Uint8Array<ArrayBuffer>

beforeAll(async () => {
  bench = await createBench()
  table = await bench.table(
    {
      Title: 'SingleLineText',
      Amount: 'Number',
      Done: 'Checkbox',
      Day: 'Date',
      Files: 'Attachment',
      Code: { type: 'SingleLineText', unique: true },
      Start: { type: 'Time', unique: true },
    },
    [{ Title: 'one', Amount: 1, Code: 'a', Start: '08:20:00' }, { Title: 'two' }],
  )
  const other = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'x' }])
  const link = await createLink(bench, table, other, 'mm', { title: 'Others' })
  await link.set(1, [1])
  const single = await createLink(bench, table, other, 'oo', { title: 'Only', holdsKey: true })
  await single.set(1, [1])
  const file = await uploadOne(bench, bench.owner.token, 'a.txt', 'text')
  await bench.rest.patch(table.path, [{ Id: 1, Files: [file] }])
  bytes = await exportFile(bench, bench.baseId)
})
afterAll(() => bench.stop())

/** The file after changes with SQL. */
const altered = (...statements: string[]): Promise<Uint8Array<ArrayBuffer>> =>
  withFile(bytes, (path) => {
    const file = new Database(path)
    for (const statement of statements) file.run(statement.replaceAll('TABLE_1', `"${table.title}"`))
    file.close()
    return new Uint8Array(readFileSync(path))
  })

/** The message with which an import of the file fails. It must leave no base, table or file behind. */
async function failureOf(file: Uint8Array<ArrayBuffer>): Promise<string> {
  const before = await state()
  const job = await importFile(bench, bench.owner, file)
  expect(job.status).toBe('failed')
  expect(await state()).toEqual(before)
  return job.error ?? ''
}

async function state() {
  const { trpc } = bench
  // With bases that are not complete.
  const [bases, trash] = [await trpc.bases.list.query({}), await bench.app.services.bases.trashed()]
  return [bases.map(({ id }) => id), trash.map(({ id }) => id)]
}

/** The reader refuses a file without looking at where the base would be, so that one home is enough for that. */
const isForReader = process.env.TEST_HOME !== 'postgres'

describe('a file that is no base', () => {
  if (!isForReader) return

  test.each<[string, () => Uint8Array<ArrayBuffer>]>([
    ['text', () => new TextEncoder().encode('a,b\r\n1,2\r\n')],
    [
      'another SQLite file',
      () => {
        const file = new Database(':memory:')
        file.run('create table a (b)')
        return new Uint8Array(file.serialize())
      },
    ],
  ])('is refused: %s', async (_, make) => {
    expect(await failureOf(make())).toContain('no Sheaf file')
  })

  test('is refused if it was written by a later format', async () => {
    expect(await failureOf(await altered('pragma user_version = 2'))).toContain('format 2')
  })

  test.each([200, 5_000, 40_000])('is refused if its pages are damaged, from byte %p on', async (from) => {
    const broken = bytes.slice()
    broken.fill(0xa5, from, from + 6_000)
    expect(await failureOf(broken)).toMatch(/damaged|does not have|no Sheaf file/)
  })

  test('is refused if it is empty, or says that it has a write-ahead log', async () => {
    const answer = await importFile(bench, bench.owner, new Uint8Array(0)).catch((error: Error) => error)
    expect(answer).toBeInstanceOf(Error)
    const logged = bytes.slice()
    // Bytes 18 and 19 of an SQLite file: 2 is the write-ahead log.
    logged.set([2, 2], 18)
    expect(await failureOf(logged)).toContain('-wal')
  })

  test('is refused if it ends early', async () => {
    expect(await failureOf(bytes.slice(0, bytes.length >> 1))).toMatch(/damaged|does not have/)
  })
})

describe('a file with another structure', () => {
  async function expectRefusal(...statements: string[]): Promise<void> {
    const message = await failureOf(await altered(...statements))
    expect(message.length).toBeGreaterThan(10)
    expect(message).not.toContain('unexpected')
  }

  test.each<[string, ...string[]]>([
    ['a table whose records are missing', 'drop table TABLE_1'],
    ['a missing column', 'alter table TABLE_1 rename column "Amount" to "Other"'],
    [
      'a link to nothing',
      `update sheaf_fields set options = replace(options, '"mm"', '"bt"') where type = 'Links'`,
    ],
    ['a negative id', 'update TABLE_1 set "Id" = -5 where "Id" = 1'],
    [
      'a text as id',
      `create table t ("Id" text primary key, "Title" text)`,
      `update sheaf_tables set file_table = 't'`,
    ],
  ])('is refused once the new base has begun: %s', (_, ...statements) => expectRefusal(...statements))

  if (!isForReader) return

  test.each([
    ['trigger', 'create trigger t after insert on sheaf_base begin select 1; end'],
    ['view', 'create view v as select * from sheaf_base'],
    ['index', 'create index i on sheaf_base (value)'],
    ['virtual', 'create virtual table v using fts5(a)'],
    ['check', "create table t (a integer check (length(printf('%.*c', 900000000, 'x')) > 0))"],
    ['generated', 'create table t (a integer, b integer generated always as (a + 1))'],
  ])('is refused: %s', async (_, statement) => {
    expect(await failureOf(await altered(statement))).toContain('that Sheaf files do not have')
  })

  test.each<[string, ...string[]]>([
    ['a missing table', 'drop table sheaf_views'],
    ['an unknown type of field', "update sheaf_fields set type = 'Nothing' where title = 'Amount'"],
    ['options that are no JSON', "update sheaf_fields set options = '{' where title = 'Amount'"],
    ['no key', 'update sheaf_fields set is_primary_key = 0'],
    ['two tables of one title', "update sheaf_tables set title = 'Same', is_junction = 0"],
    ['a field of no table', "update sheaf_fields set table_id = 'm00000000000000' where title = 'Amount'"],
    ['no default view', 'update sheaf_views set is_default = 0'],
    ['a filter that is none', `update sheaf_views set filter = '{"join":"or","children":[1]}'`],
    [
      'a title with control characters',
      "update sheaf_fields set title = 'a' || char(7) where title = 'Amount'",
    ],
    ['a base without a title', "delete from sheaf_base where key = 'title'"],
    ['a table of definitions as records', "update sheaf_tables set file_table = 'sheaf_base'"],
    ['the schema as records', "update sheaf_tables set file_table = 'sqlite_schema'"],
    ['a long title', `update sheaf_fields set title = hex(zeroblob(2000)) where title = 'Amount'`],
    ['definitions without end', `update sheaf_views set meta = '{"a":"' || hex(zeroblob(40000000)) || '"}'`],
    ['a deep definition', `update sheaf_fields set options = '${'{"a":'.repeat(500)}1${'}'.repeat(500)}'`],
  ])('is refused: %s', (_, ...statements) => expectRefusal(...statements))
})

describe('values that do not fit', () => {
  test('are left out and reported, the rest is imported', async () => {
    const job = await importFile(
      bench,
      bench.owner,
      await altered(
        `update TABLE_1 set "Amount" = 'many', "Done" = 7, "Day" = 'someday', "Title" = x'00ff' where "Id" = 1`,
        `update TABLE_1 set "Amount" = 9223372036854775807, "Title" = '=1+1' where "Id" = 2`,
        `update sheaf_people set id = 'nobody@example.com'`,
      ),
    )
    expect(job.status).toBe('completed')
    const result = job.result as { leftOut: { field: string; count: number }[]; unknownPeople: string[] }
    expect(result.leftOut.map(({ field, count }) => `${field} ${count}`).toSorted()).toEqual([
      'Amount 2',
      'Day 1',
      'Done 1',
      'Title 1',
    ])
    expect(result.unknownPeople).toEqual(['nobody@example.com'])
    const tables = await bench.trpc.schema.tables.query({ baseId: job.baseId })
    const copy = tables.find(({ title }) => title === table.title)?.id ?? ''
    const rows = (await bench.rest.get(`/api/v2/tables/${copy}/records`)).body.list as Record<
      string,
      unknown
    >[]
    expect(rows).toMatchObject([
      { Id: 1, Title: null, Amount: null, Day: null },
      { Id: 2, Title: '=1+1', Amount: null },
    ])
  })

  test('include texts that no database takes, and numbers that are none', async () => {
    const job = await importFile(
      bench,
      bench.owner,
      await altered(
        `update TABLE_1 set "Title" = 'a' || char(0) || 'b', "Amount" = 9e999 where "Id" = 1`,
        `update TABLE_1 set "Title" = cast(x'61fffe62' as text), "Day" = hex(zeroblob(1000000)) where "Id" = 2`,
      ),
    )
    expect([job.status, job.error]).toEqual(['completed', null])
    const tables = await bench.trpc.schema.tables.query({ baseId: job.baseId })
    const copy = tables.find(({ title }) => title === table.title)?.id ?? ''
    const rows = (await bench.rest.get(`/api/v2/tables/${copy}/records`)).body.list as Record<
      string,
      unknown
    >[]
    for (const { Title, Amount, Day } of rows) {
      expect(String(Title)).not.toContain('\0')
      expect([Amount, Day]).toEqual([null, null])
    }
  })

  test('may be very long', async () => {
    const job = await importFile(
      bench,
      bench.owner,
      await altered(`update TABLE_1 set "Title" = hex(zeroblob(15000000)) where "Id" = 1`),
    )
    expect(job.error).toBeNull()
    const { leftOut } = job.result as { leftOut: { field: string; count: number; example: string }[] }
    for (const { example } of leftOut) expect(example.length).toBeLessThan(100)
  })

  test('include links to records that are missing', async () => {
    const job = await importFile(bench, bench.owner, await altered('delete from TABLE_1 where "Id" = 1'))
    expect(job.status).toBe('completed')
  })

  test('include repeated unique values and links, and missing positions', async () => {
    const junction = await withFile(bytes, (path) => {
      using file = new Database(path)
      return file
        .query<{ name: string }, []>('select file_table as name from sheaf_tables where is_junction')
        .get()
    })
    const pairs = `"${junction?.name}"`
    const key = await withFile(bytes, (path) => {
      using file = new Database(path)
      const keys = file.query<{ name: string }, []>(
        `select k.file_column as name from sheaf_fields f join sheaf_fields k on k.id = f.options ->> 'keyFieldId'
          where f.title = 'Only'`,
      )
      return keys.get()?.name
    })
    const job = await importFile(
      bench,
      bench.owner,
      await altered(
        `insert into TABLE_1 ("Title", "Code", "${key}") values ('three', 'a', 1), ('four', 'b', 1), ('five', 'b', null)`,
        `insert into TABLE_1 ("Title", "Start") values ('six', '08:20'), ('seven', '09:20')`,
        `create temp table copies as select * from ${pairs}`,
        'update copies set "Id" = null',
        `insert into ${pairs} select * from copies`,
      ),
    )
    expect([job.status, job.error]).toEqual(['completed', null])
    expect((job.result as { leftOut: unknown }).leftOut).toEqual([
      { table: table.title, field: 'Code', count: 2, example: 'a' },
      { table: table.title, field: expect.any(String), count: 2, example: '1' },
      { table: table.title, field: 'Start', count: 1, example: '08:20:00' },
    ])
    const tables = await bench.trpc.schema.tables.query({ baseId: job.baseId })
    const copy = tables.find(({ title }) => title === table.title)?.id ?? ''
    const rows = (await bench.rest.get(`/api/v2/tables/${copy}/records`)).body.list
    expect(rows).toMatchObject([
      { Title: 'one', Code: 'a', Others: 1, Only: { Title: 'x' } },
      { Title: 'two', Code: null, Others: 0, Only: null },
      { Title: 'three', Code: null, Only: null },
      { Title: 'four', Code: 'b' },
      { Title: 'five', Code: null },
      { Title: 'six', Start: null },
      { Title: 'seven', Start: '09:20:00' },
    ])
  })

  test('include attachments with paths of other files', async () => {
    const foreign = await uploadOne(bench, bench.owner.token, 'secret.txt', 'not in the file')
    const path = JSON.stringify([
      { path: (foreign as { path: string }).path, title: 'x', mimetype: 'text/plain', size: 1 },
    ])
    const job = await importFile(
      bench,
      bench.owner,
      await altered(
        `update TABLE_1 set "Files" = '${path}'`,
        `update sheaf_attachments set title = '../../etc/passwd'`,
      ),
    )
    expect(job.status).toBe('completed')
    const tables = await bench.trpc.schema.tables.query({ baseId: job.baseId })
    const copy = tables.find(({ title }) => title === table.title)?.id ?? ''
    const rows = (await bench.rest.get(`/api/v2/tables/${copy}/records`)).body.list as { Files: unknown }[]
    expect(rows.map(({ Files }) => Files)).toEqual([null, null])
  })
})

describe('access', () => {
  test('to a file needs a creator, and to open one somebody who may create bases', async () => {
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    const { baseId } = bench
    const refused = bench.app.trpc(editor.token).baseFiles.export.mutate({ baseId })
    expect(await refusalOf(refused)).toMatchObject({ status: 403 })
  })

  test('does not show who has an account here, except to those who share a base with them', async () => {
    const stranger = await bench.app.signUp()
    const roles = { roles: 'org-level-creator' }
    expect((await bench.rest.patch(`/api/v1/users/${stranger.id}`, roles)).status).toBe(200)
    const unknownFor = async () =>
      ((await importFile(bench, stranger, bytes)).result as { unknownPeople: string[] }).unknownPeople
    expect(await unknownFor()).toEqual([bench.owner.email])
    await bench.app.services.auth.access.setMembership(bench.baseId, stranger.id, 'viewer')
    expect(await unknownFor()).toEqual([])
  })

  test('over REST: a file is exported and opened by two calls', async () => {
    const { status, body } = await bench.rest.post(`/api/v2/meta/bases/${bench.baseId}/export/sheaf`, {})
    expect([status, body.name]).toEqual([200, 'base-file-export'])
    const answer = await fetch(`${bench.app.url}/api/v2/meta/base-files?name=a.sheaf`, {
      method: 'POST',
      // Media types ignore case.
      headers: { 'xc-auth': bench.owner.token, 'content-type': 'Application/Octet-Stream' },
      body: bytes,
    })
    expect(await answer.json()).toMatchObject({
      name: 'base-file-import',
      base_id: expect.stringMatching(/^p/),
    })
  })
})
