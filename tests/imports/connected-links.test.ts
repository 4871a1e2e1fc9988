import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench } from '../records/support.ts'
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
} from './connected-support.ts'
import { type Door, doorOf } from './support.ts'

/** A key type of each engine, and the keys of three records in their order. */
interface KeyCase {
  /** Part of the names of its tables. */
  name: string
  type: string
  keys: [string, string, string]
}

const UUIDS: KeyCase['keys'] = [
  '0b0e7a52-1111-4222-8333-444444444444',
  '1b0e7a52-1111-4222-8333-444444444444',
  'cb0e7a52-1111-4222-8333-444444444444',
]
const NUMBERS: KeyCase['keys'] = ['7', '8', '12']
const CODES: KeyCase['keys'] = ['C-1', 'D-2', 'ü 3']

const KEYS: Record<EngineKind, KeyCase[]> = {
  postgres: [
    { name: 'uuids', type: 'uuid', keys: UUIDS },
    { name: 'numbers', type: 'bigint', keys: NUMBERS },
    { name: 'codes', type: 'varchar(40)', keys: CODES },
    { name: 'padded', type: 'character(8)', keys: CODES },
    { name: 'decimals', type: 'numeric(10)', keys: NUMBERS },
  ],
  mariadb: [
    { name: 'uuids', type: 'uuid', keys: UUIDS },
    { name: 'numbers', type: 'bigint unsigned', keys: NUMBERS },
    { name: 'codes', type: 'varchar(40)', keys: CODES },
    { name: 'padded', type: 'char(40)', keys: UUIDS },
    { name: 'decimals', type: 'decimal(10)', keys: NUMBERS },
  ],
  sqlite: [
    { name: 'uuids', type: 'uuid', keys: UUIDS },
    { name: 'numbers', type: 'bigint', keys: NUMBERS },
    { name: 'codes', type: 'text', keys: CODES },
  ],
}

const SERIAL: Record<EngineKind, string> = {
  postgres: 'serial primary key',
  mariadb: 'int auto_increment primary key',
  sqlite: 'integer primary key',
}

/** A tree of tasks, people with a rule, and books of authors. */
const otherTables = (kind: EngineKind): string[] => [
  `create table task (id ${SERIAL[kind]}, name varchar(40), parent_id int, foreign key (parent_id) references task (id))`,
  `create table part (id ${SERIAL[kind]}, name varchar(40), parent_id int not null, foreign key (parent_id) references part (id))`,
  `create table author (id ${SERIAL[kind]}, name varchar(10) not null, city varchar(20) default 'Rome')`,
  `create table book (id ${SERIAL[kind]}, title varchar(40) not null, author_id int, co_author_id int,
    foreign key (author_id) references author (id), foreign key (co_author_id) references author (id))`,
  `create table strict_author (id ${SERIAL[kind]}, name varchar(20) not null, code varchar(20) not null)`,
  `create table strict_book (id ${SERIAL[kind]}, title varchar(40), author_id int,
    foreign key (author_id) references strict_author (id))`,
]

/** Parents with each type of key, and their children. */
const tablesFor = (kind: EngineKind): string[] =>
  KEYS[kind].flatMap(({ name, type }) => [
    `create table ${name} (id ${type} not null primary key, name varchar(40))`,
    `create table of_${name} (id ${SERIAL[kind]}, title varchar(40), parent_id ${type},
      foreign key (parent_id) references ${name} (id))`,
  ])

describe.each(ENGINES)('links in an import into a connected %s', (kind) => {
  let bench: Bench
  let database: ConnectedDatabase
  let door: Door
  let tables: Map<string, ConnectedTable>

  beforeAll(async () => {
    bench = await createBench()
    database = await createConnected(
      kind,
      [...tablesFor(kind), ...otherTables(kind)],
      bench.app.config.dataDir,
    )
    door = doorOf(bench.app, bench.owner)
    ;({ tables } = await connectTables(bench, database))
  })
  afterAll(async () => {
    await bench.stop()
    await database.stop()
  })

  const into = (name: string, file: string, options?: LoadOptions) =>
    load(door, bench.baseId, tables.get(name)!, file, options)
  const ask = async <T = Record<string, unknown>>(sql: string) =>
    (await database.ask<T>(sql)).map((row) => ({ ...row }))
  /** The title of the field that links to a table. */
  const linkTo = (own: string, related: string): string => {
    const { fields } = tables.get(own)!
    const { tableId } = tables.get(related)!
    return fields.find(({ options }) => options.holdsKey && options.relatedTableId === tableId)?.title ?? ''
  }

  test.each(KEYS[kind].map((each) => [each.type, each] as const))(
    'find records with a key of type %s by name, by key if they have no name, and the first of several',
    async (_, { name, keys: [first, second, third] }) => {
      await database.ask(
        `insert into ${name} (id, name) values ('${first}', 'Ann'), ('${second}', null), ('${third}', 'Ann')`,
      )
      const link = linkTo(`of_${name}`, name)
      const { result, report } = await into(
        `of_${name}`,
        `title,${link}\nby name,Ann\nby key,${second}\nunknown,ann\nno key,99\nempty,\n`,
      )
      expect(report).toEqual([expect.stringContaining('“ann”'), expect.stringContaining('“99”')])
      expect(result).toMatchObject({ rows: 5, cellsRefused: 2 })
      const rows = await ask<{ title: string; parent: unknown }>(
        `select title, parent_id as parent from of_${name} order by id`,
      )
      expect(
        rows.map(({ title, parent }) => [title, parent === null ? null : String(parent).trim()]),
      ).toEqual([
        ['by name', first],
        ['by key', second],
        ['unknown', null],
        ['no key', null],
        ['empty', null],
      ])
    },
  )

  describe('to records that do not exist', () => {
    const authors = () => ask('select name, city from author order by id')
    const [author, coAuthor] = [
      () => tables.get('book')!.fields.filter(({ options }) => options.holdsKey)[0]?.title ?? '',
      () => tables.get('book')!.fields.filter(({ options }) => options.holdsKey)[1]?.title ?? '',
    ]
    afterEach(async () => {
      for (const table of ['book', 'author']) await database.ask(`delete from ${table}`)
    })

    test('report names that the database refuses, and write the rows without them', async () => {
      const { result, report } = await into(
        'book',
        `title,${author()}\nOne,Bob\nTwo,Somebody with a long name\n`,
        {
          creates: [author()],
        },
      )
      if (kind === 'sqlite') return expect(result).toMatchObject({ rows: 2, created: [{ count: 2 }] })
      expect(report).toEqual([expect.stringContaining('could not be added')])
      expect(result).toMatchObject({ rows: 2, cellsRefused: 1, created: [{ count: 1 }] })
    })

    if (!isWholeSuite(kind)) return

    test('are refused where a record needs more than a name, before anything is written', async () => {
      const title = linkTo('strict_book', 'strict_author')
      const started = into('strict_book', `title,${title}\nOne,Ann\n`, { creates: [title] })
      await expect(started).rejects.toThrow('is required and has no default')
      expect(await ask('select * from strict_author')).toEqual([])
    })

    test('create them with the defaults of the database, once for all columns, and undo takes them back', async () => {
      await database.ask("insert into author (name, city) values ('Ann', 'Oslo')")
      const creates = [author(), coAuthor()]
      const file = `title,${author()},${coAuthor()}\nOne,Ann,Bob\nTwo,Bob,Eve\nThree,,\n`
      const preview = await into('book', file, { creates, preview: true })
      expect(preview.result).toMatchObject({
        update: { isPreview: true, added: 3 },
        created: [{ table: 'author', count: 2 }],
        changeId: null,
      })
      expect(await authors()).toHaveLength(1)
      const { result, report } = await into('book', file, { creates })
      expect(report).toEqual([])
      expect(result).toMatchObject({ rows: 3, created: [{ count: 2 }] })
      expect(await authors()).toEqual([
        { name: 'Ann', city: 'Oslo' },
        { name: 'Bob', city: 'Rome' },
        { name: 'Eve', city: 'Rome' },
      ])
      await bench.trpc.records.undo.mutate({ baseId: bench.baseId, entryId: result.changeId ?? 0 })
      expect([await authors(), await ask('select * from book')]).toEqual([
        [{ name: 'Ann', city: 'Oslo' }],
        [],
      ])
    })

    test('only for rows that are written', async () => {
      await database.ask("insert into book (title) values ('One')")
      const options = { creates: [author()], keys: ['title'], mode: 'update' as const }
      const { result } = await into('book', `title,${author()}\nOne,Bob\nTwo,Eve\n`, options)
      expect(result).toMatchObject({ update: { changed: 1, skipped: 1 }, created: [{ count: 1 }] })
      expect(await authors()).toMatchObject([{ name: 'Bob' }])
    })
  })

  if (!isWholeSuite(kind)) return

  describe('between records of the same table', () => {
    const tree = async () =>
      Object.fromEntries(
        (
          await ask<{ name: string; parent: string | null }>(
            'select t.name, p.name as parent from task t left join task p on p.id = t.parent_id order by t.id',
          )
        ).map(({ name, parent }) => [name, parent]),
      )
    const undo = (result: { changeId: number | null }) =>
      bench.trpc.records.undo.mutate({ baseId: bench.baseId, entryId: result.changeId ?? 0 })
    const link = () => linkTo('task', 'task')
    afterEach(async () => {
      await database.ask('update task set parent_id = null')
      await database.ask('delete from task')
    })

    test('name rows before and after their own, in any order, and are one step of undo', async () => {
      await database.ask("insert into task (name) values ('Old')")
      const { result, report } = await into(
        'task',
        `name,${link()}\nLeaf,Branch\nBranch,Root\nRoot,Old\nSelf,Self\nLost,Nobody\n`,
      )
      expect(report).toEqual([expect.stringContaining('“Nobody”')])
      expect(result).toMatchObject({ rows: 5, cellsRefused: 1 })
      const after = { Old: null, Leaf: 'Branch', Branch: 'Root', Root: 'Old', Self: 'Self', Lost: null }
      expect(await tree()).toEqual(after)
      await undo(result)
      expect(await tree()).toEqual({ Old: null })
    })

    test('are updated together with the rows that they name', async () => {
      await database.ask("insert into task (name) values ('A')")
      await database.ask("insert into task (name) values ('B')")
      const keys = { keys: ['name'] }
      const file = `name,${link()}\nA,New\nB,A\nNew,B\n`
      const preview = await into('task', file, { ...keys, preview: true })
      expect(preview.result.update).toMatchObject({ added: 1, changed: 2, unchanged: 0 })
      const { result } = await into('task', file, keys)
      expect(result.update).toMatchObject({ added: 1, changed: 2, unchanged: 0 })
      expect(await tree()).toEqual({ A: 'New', B: 'A', New: 'B' })
      const again = await into('task', file, keys)
      expect(again.result.update).toMatchObject({ added: 0, changed: 0, unchanged: 3 })
    })

    test('are found across chunks of a large file', async () => {
      const lines = Array.from({ length: 2500 }, (_, n) => `T${n},T${(n + 1) % 2500}`)
      const { result } = await into('task', `name,${link()}\n${lines.join('\n')}\n`)
      expect(result).toMatchObject({ rows: 2500, cellsRefused: 0 })
      const [wrong] = await ask<{ n: number | string }>(
        'select count(*) as n from task t left join task p on p.id = t.parent_id where p.id is null',
      )
      expect(Number(wrong?.n)).toBe(0)
    })

    test('create records that no row has', async () => {
      const { result } = await into('task', `name,${link()}\nLeaf,Branch\nBranch,Root\n`, {
        creates: [link()],
      })
      expect(result).toMatchObject({ rows: 2, created: [{ table: 'task', count: 1 }] })
      expect(await tree()).toEqual({ Leaf: 'Branch', Branch: 'Root', Root: null })
    })
  })

  describe('that every record of a table has to another of it', () => {
    const link = () => linkTo('part', 'part')
    const tree = async () =>
      Object.fromEntries(
        (
          await ask<{ name: string; parent: string }>(
            'select t.name, p.name as parent from part t join part p on p.id = t.parent_id order by t.id',
          )
        ).map(({ name, parent }) => [name, parent]),
      )
    beforeAll(() => database.ask("insert into part (id, name, parent_id) values (9000000, 'Root', 9000000)"))
    afterEach(async () => {
      await database.ask('update part set parent_id = 9000000')
      await database.ask('delete from part where id <> 9000000')
    })

    test('refuse rows that name themselves, each other in a circle, or a refused row, and say so', async () => {
      const file = `name,${link()}\nSelf,Self\nA,B\nTail,A\nB,C\nC,A\nLost,Nobody\nOf lost,Lost\nEmpty,\nFine,Root\n`
      const { result, report } = await into('part', file)
      expect(result).toMatchObject({ rows: 1, rowsRefused: 8 })
      expect(report.map((line) => line.replaceAll('"', ''))).toEqual([
        expect.stringMatching(/^9,.*required/),
        expect.stringMatching(/^2,.*names itself/),
        expect.stringMatching(/^3,.*“B” of row 5, .*circle/),
        expect.stringMatching(/^4,.*“A” of row 3, which was not imported either/),
        expect.stringMatching(/^5,.*“C” of row 6, .*circle/),
        expect.stringMatching(/^6,.*“A” of row 3, .*circle/),
        expect.stringMatching(/^7,.*“Nobody”/),
        expect.stringMatching(/^8,.*“Lost” of row 7, which was not imported either/),
      ])
      expect(await tree()).toEqual({ Root: 'Root', Fine: 'Root' })
    })

    test('name rows before and after their own, which the preview counts, and are one step of undo', async () => {
      const file = `name,${link()}\nLeaf,Branch\nBranch,Trunk\nTwig,Branch\nTrunk,Root\nRound,Round\n`
      const keys = { keys: ['name'] }
      const preview = await into('part', file, { ...keys, preview: true })
      expect(preview.result.update).toMatchObject({ added: 4 })
      expect(preview.result.rowsRefused).toBe(1)
      const { result } = await into('part', file, keys)
      expect(result.update).toMatchObject({ added: 4 })
      expect(await tree()).toEqual({
        Root: 'Root',
        Trunk: 'Root',
        Branch: 'Trunk',
        Leaf: 'Branch',
        Twig: 'Branch',
      })
      const again = await into('part', `name,${link()}\nLeaf,New\nNew,Twig\n`, keys)
      expect(again.result.update).toMatchObject({ added: 1, changed: 1 })
      expect(await tree()).toMatchObject({ Leaf: 'New', New: 'Twig' })
      await bench.trpc.records.undo.mutate({ baseId: bench.baseId, entryId: again.result.changeId ?? 0 })
      expect(await tree()).toMatchObject({ Leaf: 'Branch' })
      await bench.trpc.records.undo.mutate({ baseId: bench.baseId, entryId: result.changeId ?? 0 })
      expect(await tree()).toEqual({ Root: 'Root' })
    })

    test('are found across chunks, in whatever order the rows stand', async () => {
      // A tree with ten children for each, of which none stands behind its parent.
      const lines = Array.from(
        { length: 3000 },
        (_, n) => `N${n},${n === 0 ? 'Root' : `N${Math.floor((n - 1) / 10)}`}`,
      )
      const { result } = await into('part', `name,${link()}\n${lines.toReversed().join('\n')}\n`)
      expect(result).toMatchObject({ rows: 3000, rowsRefused: 0 })
      const [wrong] = await ask<{ n: number | string }>(
        `select count(*) as n from part t join part p on p.id = t.parent_id
          where t.id = p.id and t.name <> 'Root'`,
      )
      expect(Number(wrong?.n)).toBe(0)
    })
  })
})
