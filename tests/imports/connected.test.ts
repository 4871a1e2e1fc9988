import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { AppError } from '../../src/core/errors.ts'
import { type Bench, createBench } from '../records/support.ts'
import { createMember } from '../support/factories.ts'
import { ownTableNames } from '../support/home.ts'
import {
  type ConnectedDatabase,
  type ConnectedTable,
  connectTables,
  createConnected,
  ENGINES,
  type EngineKind,
  isWholeSuite,
  type LoadOptions,
  load,
  loadNew,
  type StartInput,
  startLoad,
} from './connected-support.ts'
import { type Door, doorOf, ended, formatOf, giveUp, resultOf, upload } from './support.ts'

const TABLES: Record<EngineKind, string[]> = {
  postgres: [
    `create type mood as enum ('sad', 'ok')`,
    `create table item (
      id int generated always as identity primary key, name varchar(10) not null, price numeric(8,2),
      stock smallint, feeling mood, day date, at timestamp, made timestamptz default now(),
      doubled int generated always as (stock * 2) stored, status text default 'new', big bigint,
      constraint positive check (price >= 0))`,
    'create table person (code text primary key, name text not null unique)',
    'create table pairs (region varchar(20), number int, note text, primary key (region, number))',
    'create table author (id serial primary key, name text not null)',
    `create table book (id serial primary key, title text not null,
      author_id int not null references author (id))`,
    'create view item_names as select id, name from item',
    'create table no_key (a int, b text)',
    `create table guarded (id serial primary key, word text)`,
    `create function guard() returns trigger language plpgsql as $$
      begin if new.word = 'bad' then raise exception 'No bad words'; end if;
      if new.word = 'gone' then return null; end if; return new; end $$`,
    'create trigger guard before insert on guarded for each row execute function guard()',
  ],
  mariadb: [
    `create table item (
      id int unsigned auto_increment primary key, name varchar(10) not null, price decimal(8,2),
      stock smallint unsigned, feeling enum('sad', 'ok'), day date, at datetime,
      made timestamp default current_timestamp, doubled int generated always as (stock * 2) stored,
      status varchar(20) default 'new', big bigint, constraint positive check (price >= 0))`,
    'create table person (code varchar(20) primary key, name varchar(50) not null unique)',
    'create table pairs (region varchar(20), number int, note text, primary key (region, number))',
    'create table author (id int auto_increment primary key, name varchar(50) not null)',
    `create table book (id int auto_increment primary key, title varchar(50) not null,
      author_id int not null, foreign key (author_id) references author (id))`,
    'create view item_names as select id, name from item',
    'create table no_key (a int, b text)',
    'create table guarded (id int auto_increment primary key, word varchar(20))',
    `create trigger guard before insert on guarded for each row
      if new.word = 'bad' then signal sqlstate '45000' set message_text = 'No bad words'; end if`,
    'create table old (id int auto_increment primary key, word varchar(20)) engine = MyISAM',
  ],
  sqlite: [
    `create table item (
      id integer primary key, name varchar(10) not null, price numeric(8,2) check (price >= 0),
      stock smallint, feeling text, day date, at datetime, made datetime default current_timestamp,
      doubled int generated always as (stock * 2) stored, status text default 'new', big bigint)`,
    'create table person (code text primary key not null, name text not null unique)',
    'create table pairs (region varchar(20) not null, number int not null, note text, primary key (region, number))',
    'create table author (id integer primary key, name text not null)',
    `create table book (id integer primary key, title text not null,
      author_id int not null references author (id))`,
    'create view item_names as select id, name from item',
    'create table guarded (id integer primary key, word text)',
    `create trigger guard before insert on guarded when new.word = 'bad'
      begin select raise(abort, 'No bad words'); end`,
  ],
}

describe.each(ENGINES)('an import into a table of a connected %s', (kind) => {
  let bench: Bench
  let database: ConnectedDatabase
  let door: Door
  let sourceId: string
  let tables: Map<string, ConnectedTable>

  beforeAll(async () => {
    bench = await createBench()
    database = await createConnected(kind, TABLES[kind], bench.app.config.dataDir)
    door = doorOf(bench.app, bench.owner)
    ;({ sourceId, tables } = await connectTables(bench, database))
  })
  afterAll(async () => {
    await bench.stop()
    await database.stop()
  })
  afterEach(async () => {
    for (const table of ['book', 'author', 'item', 'person', 'pairs', 'guarded'])
      await database.ask(`delete from ${table}`)
  })

  const table = (name: string): ConnectedTable => tables.get(name)!
  const into = (name: string, file: string, options?: LoadOptions) =>
    load(door, bench.baseId, table(name), file, options)
  const ask = async <T = Record<string, unknown>>(sql: string) =>
    (await database.ask<T>(sql)).map((row) => ({ ...row }))
  const refusal = async (name: string, file: string, options?: LoadOptions, by = door) =>
    startLoad(by, bench.baseId, table(name), file, options).then(
      () => 'no refusal',
      (error: Error) => error.message,
    )

  test('is refused to viewers, and nothing is written', async () => {
    const viewer = doorOf(bench.app, await createMember(bench.app, bench.baseId, 'viewer'))
    expect(await refusal('person', 'code,name\na,Ann\n', {}, viewer)).toContain('You do not have permission')
    expect(await ask('select * from person')).toEqual([])
  })

  test('is refused for views, read-only columns and required fields without a column, naming them', async () => {
    expect(await refusal('item_names', 'name\na\n')).toContain('database view')
    expect(await refusal('item', 'name,doubled\na,2\n')).toContain('doubled')
    expect(await refusal('item', 'stock\n2\n')).toContain('name')
    expect(await refusal('book', 'title\nOne\n')).toContain('author')
    if (kind !== 'sqlite') expect(await refusal('no_key', 'a\n2\n')).toContain('no primary key')
    if (kind === 'mariadb') expect(await refusal('old', 'word\na\n')).toContain('MyISAM')
  })

  test('is refused while the source is read-only, with the reason', async () => {
    const { trpc, baseId } = bench
    await trpc.sources.update.mutate({ baseId, sourceId, isDataReadonly: true })
    expect(await refusal('person', 'code,name\na,Ann\n')).toContain('doesn’t allow editing records')
    await trpc.sources.update.mutate({ baseId, sourceId, isDataReadonly: false })
  })

  test('writes every type exactly, and leaves keys, defaults and generated columns to the database', async () => {
    const file = `name,price,stock,feeling,day,at,big
Nut,1.50,7,ok,2024-02-29,2024-02-29 12:34:56,9007199254740993
Bolt,,,,,,
`
    const { result, report } = await into('item', file)
    expect(report).toEqual([])
    expect(result).toMatchObject({ rows: 2, rowsRefused: 0, cellsRefused: 0, isNewTable: false })
    const text = kind === 'mariadb' ? 'char' : 'text'
    const rows = await ask(`select name, cast(price as ${text}) as price, stock, feeling,
      cast(day as ${text}) as day, cast(at as ${text}) as at, cast(big as ${text}) as big, doubled, status,
      made is not null as made from item order by id`)
    expect(rows[0]).toMatchObject({ name: 'Nut', stock: 7, feeling: 'ok', day: '2024-02-29', doubled: 14 })
    expect(rows[0]).toMatchObject({ big: '9007199254740993', status: 'new' })
    expect(Number(rows[0]?.price)).toBe(1.5)
    expect(String(rows[0]?.at)).toStartWith('2024-02-29')
    expect(rows[1]).toMatchObject({ name: 'Bolt', price: null, stock: null, status: 'new' })
    expect(rows.every(({ made }) => Number(made) === 1 || made === true)).toBe(true)
  })

  test('keeps the digits of a second that the column has, and reports that others were cut', async () => {
    const { report } = await into('item', 'name,at\nClock,2024-02-29 12:34:56.123456\n')
    const text = kind === 'mariadb' ? 'char' : 'text'
    const [row] = await ask(`select cast(at as ${text}) as at from item where name = 'Clock'`)
    if (kind === 'postgres') expect([row?.at, report]).toEqual(['2024-02-29 12:34:56.123456', []])
    else if (kind === 'mariadb') {
      expect(row?.at).toBe('2024-02-29 12:34:56')
      expect(report).toEqual([expect.stringContaining('more digits of a second than the field keeps')])
    } else
      expect([String(row?.at).includes('.123456'), report.length]).toBeOneOf([
        [true, 0],
        [false, 1],
      ])
  })

  test('reports cells that do not fit their column, and rows without a required value, before it writes', async () => {
    const file = `name,price,stock,feeling
Nut,1.234,7,ok
Much too long,1,1,
Bolt,-1,99999,angry
`
    const { result, report } = await into('item', file)
    if (kind === 'sqlite') {
      // SQLite keeps to no sizes.
      expect(result).toMatchObject({ rows: 2, rowsRefused: 1 })
      expect(report.join('\n')).toContain('CHECK constraint failed')
      return
    }
    expect(report.join('\n')).toContain('2,price,1.234,"Rounded to 2 decimals')
    expect(report.join('\n')).toContain('up to 10 characters')
    expect(report.join('\n')).toContain('4,feeling,angry,Not one of the options')
    expect(report.join('\n')).toMatch(/4,stock,99999,.*(32767|65535)/)
    expect(report.join('\n')).toContain('3,name,Much too long')
    expect(result).toMatchObject({ rows: 1, rowsRefused: 2 })
    expect(await ask('select name from item')).toEqual([{ name: 'Nut' }])
  })

  test('rounds shares of one to the decimals of their column, and says so', async () => {
    const { report } = await into('item', 'name,price\nHalf,50%\nBit,12.55%\n')
    const prices = (await ask<{ price: unknown }>('select price from item order by name desc')).map(
      ({ price }) => Number(price),
    )
    // SQLite keeps to no sizes.
    const isSqlite = kind === 'sqlite'
    expect([prices, report]).toEqual([
      [0.5, isSqlite ? 0.1255 : 0.13],
      isSqlite ? [] : [expect.stringContaining('3,price,12.55%,"Rounded to 2 decimals')],
    ])
  })

  test('leaves out only the rows that the database refuses, with its message', async () => {
    const lines = Array.from({ length: 600 }, (_, at) => `c${at},${at === 17 ? 'name 3' : `name ${at}`}`)
    const { result, report } = await into('person', `code,name\n${lines.join('\n')}\n`)
    expect(result).toMatchObject({ rows: 599, rowsRefused: 1 })
    expect(report).toHaveLength(1)
    expect(report[0]).toStartWith('19,')
    expect(report[0]).toContain('name 3')
    expect(await ask('select count(*) as n from person')).toMatchObject([{ n: expect.anything() }])
    expect(Number((await ask<{ n: number }>('select count(*) as n from person'))[0]?.n)).toBe(599)
  })

  test('reports the words of a trigger that refuses a row, or leaves it out', async () => {
    const words = kind === 'postgres' ? 'good\nbad\ngone\nfine' : 'good\nbad\nfine'
    const { result, report } = await into('guarded', `word\n${words}\n`)
    expect(result.rows).toBe(2)
    expect(report[0]).toContain('No bad words')
    if (kind === 'postgres') expect(report[1]).toStartWith('4,')
    expect(await ask('select word from guarded order by id')).toEqual([{ word: 'good' }, { word: 'fine' }])
  })

  test('writes new values of every type to many records that it updates', async () => {
    const line = (at: number, step: number) =>
      `n${at},${(at + step) / 4},${at % 90},${(at + step) % 2 ? 'ok' : 'sad'},2024-02-${10 + ((at + step) % 9)},2024-02-29 12:34:${10 + ((at + step) % 9)},900719925474099${step}`
    const file = (step: number) =>
      `name,price,stock,feeling,day,at,big\n${Array.from({ length: 250 }, (_, at) => line(at, step)).join('\n')}\n`
    await into('item', file(1))
    const { result } = await into('item', file(3), { keys: ['name'] })
    expect(result.update).toMatchObject({ added: 0, changed: 250, unchanged: 0 })
    const again = await into('item', file(3), { keys: ['name'] })
    expect(again.result.update).toMatchObject({ changed: 0, unchanged: 250 })
    expect(again.result.changeId).toBeNull()
    const text = kind === 'mariadb' ? 'char' : 'text'
    const [row] = await ask(
      `select price, stock, cast(day as ${text}) as day, cast(big as ${text}) as big from item where name = 'n4'`,
    )
    expect(row).toMatchObject({ stock: 4, day: '2024-02-17', big: '9007199254740993' })
    expect(Number(row?.price)).toBe(1.75)
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId, entryId: result.changeId ?? 0 })
    const back = await into('item', file(1), { keys: ['name'] })
    expect(back.result.update).toMatchObject({ changed: 0, unchanged: 250 })
  })

  describe('that creates the table', () => {
    const columns = [
      { title: 'Name', type: 'SingleLineText' as const },
      { title: 'Price', type: 'Decimal' as const },
      { title: 'Page', type: 'URL' as const },
      { title: 'Day', type: 'Date' as const },
      { title: 'Kind', type: 'SingleSelect' as const, options: { choices: [{ title: 'a' }] } },
      { title: 'Done', type: 'Checkbox' as const },
      { title: 'created_at', type: 'SingleLineText' as const },
    ]
    const file = `Name,Price,Page,Day,Kind,Done,created_at
Nut,1.25,https://example.com,2024-02-29,a,true,then
Bolt,x,,,b,false,
`

    test('is refused while the source allows no changes of its structure, and for other sources', async () => {
      const { trpc, baseId } = bench
      const before = await trpc.schema.tables.query({ baseId })
      await trpc.sources.update.mutate({ baseId, sourceId, isSchemaReadonly: true })
      const place = { baseId, sourceId }
      await expect(loadNew(door, place, file, columns)).rejects.toThrow('doesn’t allow new tables')
      await trpc.sources.update.mutate({ baseId, sourceId, isSchemaReadonly: false })
      await expect(loadNew(door, { baseId, sourceId: 'src_unknown' }, file, columns)).rejects.toThrow(
        'Source',
      )
      const files = [{ title: 'Files', type: 'Attachment' as const }]
      await expect(loadNew(door, place, 'Files\n', files)).rejects.toThrow('own tables')
      const editor = doorOf(bench.app, await createMember(bench.app, baseId, 'editor'))
      await expect(loadNew(editor, place, file, columns)).rejects.toThrow('You do not have permission')
      expect(await trpc.schema.tables.query({ baseId })).toEqual(before)
    })

    test('is refused with columns that become links, and so are links to its tables', async () => {
      const { trpc, baseId } = bench
      const link = { to: { tableId: table('item').tableId } }
      const uploadId = await upload(door, 'No,Item\n1,Nut\n')
      const input: StartInput = {
        baseId,
        uploadId,
        format: formatOf('No,Item\n'),
        width: 2,
        columns: [{ index: 0 }, { index: 1, link }],
        table: {
          title: 'Orders',
          fields: [
            { title: 'No', type: 'Number' },
            { title: 'Item', type: 'LongText' },
          ],
        },
      }
      const before = await trpc.schema.tables.query({ baseId })
      for (const place of [{ sourceId }, {}]) {
        await expect(trpc.imports.start.mutate({ ...input, ...place })).rejects.toThrow('can’t become links')
      }
      expect(await trpc.schema.tables.query({ baseId })).toEqual(before)
    })

    test('creates it with a numbered key and the types that survive a synchronization', async () => {
      const { trpc, baseId } = bench
      const { result, report } = await loadNew(door, { baseId, sourceId }, file, columns)
      expect(result).toMatchObject({ rows: 2, isNewTable: true, title: 'New items', cellsRefused: 1 })
      expect(report).toHaveLength(1)
      const { table: made, fields } = await trpc.schema.table.query({ tableId: result.tableId })
      expect(made).toMatchObject({ sourceId, tableName: 'New_items' })
      const types = Object.fromEntries(fields.map(({ title, type }) => [title, type]))
      expect(types).toMatchObject({ Price: 'Decimal', Page: 'URL', Day: 'Date', Done: 'Checkbox' })
      expect(types.Kind).toMatch(/Text/)
      const quote = kind === 'mariadb' ? '`' : '"'
      const q = (name: string) => `${quote}${name}${quote}`
      const rows = await ask(
        `select id, ${q('Name')} as name, ${q('Price')} as price, ${q('Kind')} as kind, created_at as made from ${q('New_items')} order by id`,
      )
      expect(rows).toMatchObject([
        { id: expect.anything(), name: 'Nut', price: 1.25, kind: 'a', made: 'then' },
        { name: 'Bolt', price: null, kind: 'b', made: null },
      ])
      expect(await trpc.schema.differences.query({ baseId, sourceId })).toEqual([])
      const again = await loadNew(door, { baseId, sourceId }, file, columns).catch((error) => error.message)
      expect(again).toContain('New items')
      await ask(`drop table ${q('New_items')}`)
    })
  })

  if (!isWholeSuite(kind)) return

  test('ends when its author loses the right to write, and keeps what was written', async () => {
    const { app, baseId, trpc } = bench
    const editor = await createMember(app, baseId, 'editor')
    const by = doorOf(app, editor)
    const lines = Array.from({ length: 20_000 }, (_, at) => `name ${at}`)
    const { jobId } = await startLoad(by, baseId, table('author'), `name\n${lines.join('\n')}\n`)
    while ((await trpc.jobs.get.query({ jobId })).progress.done === 0) await Bun.sleep(5)
    await trpc.bases.updateMember.mutate({ baseId, userId: editor.id, role: 'viewer' })
    const { stopped, rows } = resultOf(await ended(by, jobId))
    expect(stopped?.reason).toContain('You do not have permission')
    expect(rows + (stopped?.rows ?? 0)).toBe(20_000)
    expect(stopped?.row).toBe(rows + 2)
    const [row] = await ask<{ n: number }>('select count(*) as n from author')
    expect(Number(row?.n)).toBe(rows)
  })

  test('finds linked records by name, and reports those that it does not find', async () => {
    await into('author', 'name\nAnn\nBen\n')
    const { result, report } = await into('book', 'title,author\nOne,Ann\nTwo,Nobody\nThree,Ben\nFour,\n')
    expect(result).toMatchObject({ rows: 2, rowsRefused: 2 })
    expect(report.join('\n')).toContain('3,author,Nobody,No record in “author” is named “Nobody”')
    expect(
      await ask(
        'select b.title as title, a.name as name from book b join author a on a.id = b.author_id order by b.id',
      ),
    ).toEqual([
      { title: 'One', name: 'Ann' },
      { title: 'Three', name: 'Ben' },
    ])
  })

  test('is one step of the history, which undo takes back and redo writes again', async () => {
    const { trpc, baseId } = bench
    const lines = Array.from({ length: 2_500 }, (_, at) => `name ${at}`)
    const { result } = await into('author', `name\n${lines.join('\n')}\n`)
    const count = async () => Number((await ask<{ n: number }>('select count(*) as n from author'))[0]?.n)
    expect([result.rows, await count()]).toEqual([2_500, 2_500])
    await trpc.records.undo.mutate({ baseId, entryId: result.changeId ?? 0 })
    expect(await count()).toBe(0)
    await trpc.records.redo.mutate({ baseId })
    expect(await count()).toBe(2_500)
  })

  describe('that updates records', () => {
    test('previews new, changed and unchanged rows with their values, and writes nothing', async () => {
      await into('person', 'code,name\na,Ann\nb,Ben\n')
      const file = 'code,name\na,Anna\nb,Ben\nc,Cem\na,Again\n,Nameless\n'
      const { result, report } = await into('person', file, { keys: ['code'], preview: true })
      expect(result.update).toMatchObject({
        isPreview: true,
        added: 1,
        changed: 1,
        unchanged: 1,
        repeated: 1,
        withoutKey: 1,
        changes: [{ row: 2, key: 'a', cells: [{ field: 'name', before: 'Ann', after: 'Anna' }] }],
      })
      expect(report).toHaveLength(2)
      expect(await ask('select * from person order by code')).toEqual([
        { code: 'a', name: 'Ann' },
        { code: 'b', name: 'Ben' },
      ])
    })

    test('changes and adds by a text key, and only what differs', async () => {
      await into('person', 'code,name\na,Ann\nb,Ben\n')
      const { result } = await into('person', 'code,name\na,Anna\nb,Ben\nc,Cem\n', { keys: ['code'] })
      expect(result.update).toMatchObject({ added: 1, changed: 1, unchanged: 1 })
      expect(await ask('select * from person order by code')).toEqual([
        { code: 'a', name: 'Anna' },
        { code: 'b', name: 'Ben' },
        { code: 'c', name: 'Cem' },
      ])
      await bench.trpc.records.undo.mutate({ baseId: bench.baseId, entryId: result.changeId ?? 0 })
      expect(await ask('select * from person order by code')).toEqual([
        { code: 'a', name: 'Ann' },
        { code: 'b', name: 'Ben' },
      ])
    })

    test('finds records by a key of several columns', async () => {
      await into('pairs', 'region,number,note\nnorth,1,a\nnorth,2,b\n')
      const file = 'region,number,note\nnorth,1,x\nnorth,2,b\nsouth,1,c\n'
      const { result } = await into('pairs', file, { keys: ['region', 'number'] })
      expect(result.update).toMatchObject({ added: 1, changed: 1, unchanged: 1 })
      expect(await ask('select region, number, note from pairs order by region, number')).toEqual([
        { region: 'north', number: 1, note: 'x' },
        { region: 'north', number: 2, note: 'b' },
        { region: 'south', number: 1, note: 'c' },
      ])
    })

    test('finds records by the number that the database gave, and refuses unknown ones', async () => {
      await into('author', 'name\nAnn\n')
      const [{ id } = { id: 0 }] = await ask<{ id: number }>('select id from author')
      const { result, report } = await into('author', `id,name\n${id},Anna\n99999,Nobody\n`, { keys: ['id'] })
      expect(result.update).toMatchObject({ added: 0, changed: 1, unknown: 1 })
      expect(report).toHaveLength(1)
      expect(await ask('select name from author')).toEqual([{ name: 'Anna' }])
    })

    test('only adds, only updates, and clears or keeps values for empty cells, as it is told', async () => {
      await into('pairs', 'region,number,note\nnorth,1,a\n')
      const file = 'region,number,note\nnorth,1,\nsouth,1,c\n'
      const keys = ['region', 'number']
      const notes = () => ask('select region, note from pairs order by region')
      const kept = await into('pairs', file, { keys, mode: 'update' })
      expect(kept.result.update).toMatchObject({ unchanged: 1, skipped: 1, added: 0 })
      expect(await notes()).toEqual([{ region: 'north', note: 'a' }])
      const cleared = await into('pairs', file, { keys, mode: 'update', emptyCells: 'clear' })
      expect(cleared.result.update).toMatchObject({ changed: 1, skipped: 1 })
      expect(await notes()).toEqual([{ region: 'north', note: null }])
      const added = await into('pairs', 'region,number,note\nnorth,1,z\nsouth,1,c\n', { keys, mode: 'add' })
      expect(added.result.update).toMatchObject({ added: 1, skipped: 1 })
      expect(await notes()).toEqual([
        { region: 'north', note: null },
        { region: 'south', note: 'c' },
      ])
    })

    test('refuses rows whose key several records have', async () => {
      await into('author', 'name\nAnn\nAnn\n')
      const { result } = await into('author', 'name\nAnn\nann\n', { keys: ['name'] })
      expect(result.update).toMatchObject({ ambiguous: 1, added: 1 })
    })
  })

  test('takes a file over REST, by the titles of its header, and lists it as a job', async () => {
    const { tableId } = table('person')
    const send = (query: string, body: string) =>
      fetch(`${door.url}/api/v2/tables/${tableId}/import${query}`, {
        method: 'POST',
        headers: { 'xc-auth': door.token, 'content-type': 'application/octet-stream' },
        body,
      })
    const answer = await send('', 'Code,Name,Other\na,Ann,x\n')
    const { id } = (await answer.json()) as { id: string }
    expect([answer.status, (await ended(door, id)).status]).toEqual([200, 'completed'])
    const again = await send('?keys=code', 'code,name\na,Anna\n')
    await ended(door, ((await again.json()) as { id: string }).id)
    expect(await ask('select * from person')).toEqual([{ code: 'a', name: 'Anna' }])
    const view = await fetch(`${door.url}/api/v2/tables/${table('item_names').tableId}/import`, {
      method: 'POST',
      headers: { 'xc-auth': door.token, 'content-type': 'application/octet-stream' },
      body: 'name\na\n',
    })
    expect(view.status).toBe(403)
  })

  if (isWholeSuite(kind)) {
    test('tells how many rows are there where it was interrupted too often, and leaves no staging table', async () => {
      const file = 'code,name\na,Ann\nb,Bob\n'
      const { jobId } = await startLoad(door, bench.baseId, table('person'), file)
      expect(resultOf(await ended(door, jobId)).rows).toBe(2)
      await giveUp(bench.app, jobId, await upload(door, file))
      expect(await ended(door, jobId)).toMatchObject({
        status: 'failed',
        error: 'The server stopped repeatedly while this was running. Rows written before: 2.',
      })
      expect((await ownTableNames(bench.app, bench.baseId)).filter((name) => name.includes(jobId))).toEqual(
        [],
      )
      expect(await ask('select * from person')).toHaveLength(2)
    })

    test('writes every row once where Sheaf’s own database goes away twice, the second time as it goes on', async () => {
      const home = await bench.app.kernel.sources.engine(bench.baseId)
      const { all, write } = home
      const away = () => new AppError('DATABASE_UNREACHABLE', 'It is away', { retryAfterSeconds: 1 })
      const count = async () => Number((await ask<{ n: number }>('select count(*) as n from author'))[0]?.n)
      let isBack = false
      home.write = (async (...given: Parameters<typeof write>) => {
        if (!isBack && (await count()) > 0) throw away()
        return write(...given)
      }) as typeof write
      home.all = (async (...given: Parameters<typeof all>) => {
        if (!isBack && /select max\(.*sheaf_import_/.test(given[0].sql)) {
          isBack = true
          throw away()
        }
        return all(...given)
      }) as typeof all
      try {
        const lines = Array.from({ length: 1_500 }, (_, at) => `name ${at}`)
        const { jobId } = await startLoad(door, bench.baseId, table('author'), `name\n${lines.join('\n')}\n`)
        expect(resultOf(await ended(door, jobId)).rows).toBe(1_500)
        expect([isBack, await count()]).toEqual([true, 1_500])
      } finally {
        Object.assign(home, { all, write })
      }
    })
  }

  test('leaves no staging table behind', async () => {
    await into('person', 'code,name\na,Ann\n')
    const home = await bench.app.kernel.sources.engine(bench.baseId)
    const [{ n } = { n: 1 }] = await home.all<{ n: number }>({
      sql:
        home.dialect.client === 'pg'
          ? `select count(*) as n from pg_tables where tablename like 'sheaf_import%'`
          : `select count(*) as n from sqlite_schema where name like 'sheaf_import%'`,
      params: [],
    })
    expect(Number(n)).toBe(0)
    expect(await ask('select * from person')).toHaveLength(1)
  })
})
