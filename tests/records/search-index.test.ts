import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { openSqliteStore } from '../../src/db/move/sqlite-store.ts'
import type { Statement, TextMatch } from '../../src/dialects/dialect.ts'
import { sqliteSearchBatches, sqliteSearchIndexes } from '../../src/dialects/sqlite-search.ts'
import { doorOf, ended } from '../imports/support.ts'
import { createTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/until.ts'
import { type Bench, benchOf, type TestTable } from './support.ts'

/** Too few records for an index. */
const ROWS = 19_990

let app: TestApp
let bench: Bench
let table: TestTable
beforeAll(async () => {
  app = await createTestApp()
  const owner = await app.signUp()
  const { id: baseId } = await app.trpc(owner.token).bases.create.mutate({ title: 'Large' })
  bench = benchOf(app, owner, baseId)
  table = await bench.table({
    Title: 'SingleLineText',
    Note: 'LongText',
    Price: 'Decimal',
    Day: 'Date',
    Seen: 'DateTime',
    Files: 'Attachment',
    Owner: 'User',
  })
  const formula = 'CONCAT("<", {Note}, ">")'
  await bench.trpc.schema.createField.mutate({
    tableId: table.id,
    field: { title: 'Framed', type: 'Formula', options: { formula } },
  })
  for (let from = 0; from < ROWS; from += 5_000) {
    const rows = Array.from({ length: Math.min(5_000, ROWS - from) }, (_, at) => ({
      values: table.values({
        Title: `Row ${from + at}`,
        Note: TEXTS[(from + at) % 2_000] ?? null,
        ...((from + at) % 2_000 < VALUES.length ? VALUES[(from + at) % 2_000] : {}),
      }),
    }))
    await bench.trpc.records.write.mutate({
      change: { baseId, operations: [{ kind: 'insert', tableId: table.id, rows }] },
    })
  }
})
afterAll(() => app.stop())

/** Texts of records, each at one place in two thousand. */
const TEXTS = [
  'Straße',
  'STRASSE',
  'İstanbul',
  'istanbul',
  'ISTANBUL',
  'ısı',
  'café',
  'cafe\u0301',
  'CAFÉ',
  'ΣΊΣΥΦΟΣ',
  'σίσυφος',
].concat([
  'K123',
  '\u212A123',
  'ſense',
  'SENSE',
  '日本語テスト',
  '100% "sure"',
  'a_b\\c',
  'naïve',
  'Ⴀⴀჰჰ',
  'Ꭰꭰꭰꭰ',
  'ЖУК жук',
  'שלום עולם',
  'السلام عليكم',
  'family 👩‍👩‍👧 gnu 🦓🦓🦓',
  `O'Neil "x" a%b`,
  'line\nbreak \\\\ end',
  'ΟΔΟΣ οδός ὀδυσσεύς',
  'Слово и Дело',
  `${'long text '.repeat(5_500)}tail of the long`,
  'x'.repeat(700),
  'É'.repeat(50),
])

/** Texts without a trigram, or without three letters or digits in a row. */
const SHORT = [
  ...['w', 'z', 'q', 'qz', 'fe', 'FÉ', 'fé', 'É', 'é', 'e\u0301', '\u0301', 'ß', 'SS', 'ss', 'ſ', 'ſe', 'S'],
  ...[
    'İ',
    'i',
    'ı',
    'I',
    'İS',
    'ısı',
    'k',
    'K',
    '\u212A',
    '\u212A1',
    'K1',
    'µ',
    'Σ',
    'ς',
    'σ',
    'ΟΣ',
    'ος',
    'ός',
  ],
  ...[
    '日',
    '日本',
    'スト',
    'ト',
    '語テ',
    '漢字',
    '字',
    '字漢',
    'Ü',
    'ün',
    'ТЬ',
    'вО',
    'ук',
    'Ⴀⴀ',
    'ꭰ',
    'א',
    'ום',
  ],
  ...[
    '🦓',
    '🦓🦓',
    '👩‍',
    '%',
    'a%',
    '%b',
    '_',
    '_b',
    'b\\',
    '\\c',
    '"',
    '"x',
    'x"',
    "'",
    "o'",
    '*',
    '[',
    '.',
    '0.',
  ],
  ...[
    ' ',
    '  ',
    'w ',
    ' 9',
    '\n',
    'e\n',
    '\nb',
    '\\\\',
    '12',
    '9 9',
    'a_b',
    'A%B',
    '+0',
    '-1',
    '4-0',
    '.5',
    '\u0001',
  ],
  ...['g ta', 't "s', 'w 1', 'O.D', '👩‍👩', 'a\u212Ab', '\u212A', '9:5', '00%'],
]

/** Values of other types, at the same places. */
const VALUES = [
  { Price: 1e21, Day: '2024-02-29', Seen: '2024-02-29 07:08:09.500+00:00' },
  { Price: 1e15, Day: '0001-01-01', Seen: '0001-01-03 00:00:00+00:00' },
  { Price: 0.1, Day: '9999-12-31', Seen: '2024-02-29 07:08:09+00:00' },
  { Price: 1e-7, Day: '1900-02-28' },
  { Price: -4722.5, Day: '2024-02-29' },
  { Files: JSON.stringify([{ url: 'https://example.com/x', title: 'Ünd漢字', size: 1 }]) },
]

const ids = async (text: string, fieldId: string | null = null) =>
  (
    await bench.trpc.records.list.query({
      query: { tableId: table.id, search: { text, fieldId }, fieldIds: [], limit: 1000, offset: 0 },
    })
  ).ids

const count = async (text: string) =>
  (
    await bench.trpc.records.count.query({
      selection: { tableId: table.id, search: { text, fieldId: null } },
    })
  ).count

/** The base's file, opened by itself. */
function openFile(baseId = bench.baseId): Database {
  const [path] = [...new Bun.Glob(`**/*${baseId}*.db`).scanSync(app.config.dataDir)]
  return new Database(`${app.config.dataDir}/${path}`, { readonly: true })
}

const isFile = process.env.TEST_HOME !== 'postgres'

/** Search indexes of the table in PostgreSQL. */
async function postgresIndexes(): Promise<string[]> {
  const engine = await app.kernel.sources.engine(bench.baseId)
  const found = await engine.all<{ name: string }>({
    sql: `select c.relname::text as name from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indrelid = quote_ident($1)::regclass and starts_with(c.relname::text, 'sheaf_search_')
        and obj_description(c.oid) is not null`,
    params: [table.schema.table.tableName],
  })
  return found.map(({ name }) => name)
}

async function isComplete(generation: number): Promise<boolean> {
  if (!isFile) return (await postgresIndexes()).some((name) => name.startsWith(`sheaf_search_${generation}_`))
  const file = openFile()
  try {
    if (!file.query("select 1 from sqlite_schema where name = 'sheaf_search_indexes'").get()) return false
    return (
      file
        .query('select 1 from sheaf_search_indexes where is_complete = 1 and generation = ?')
        .get(generation) !== null
    )
  } finally {
    file.close()
  }
}

const searchState = async () => (await bench.trpc.indexes.performance.query({ tableId: table.id })).search

/** Returns the states of the index until it is complete. */
async function untilIndexed(generation: number) {
  const states: Awaited<ReturnType<typeof searchState>>[] = []
  for (let tries = 0; !(await isComplete(generation)); tries++) {
    if (tries === 300) throw new Error('The index was not built')
    await ids('anything')
    states.push(await searchState())
    await Bun.sleep(100)
  }
  return states
}

/** In the SQL of a search that asks an index. */
const INDEXED = /sheaf_search_(?:terms_)?\d+_|lower\(\(coalesce/

/** The SQL of a search of the whole table. */
async function planOf(text: string, tableId = table.id): Promise<string> {
  const { id, email } = bench.owner
  const actor = { kind: 'user' as const, id, email, orgRoles: ['super'], via: 'session' as const }
  const opened = await app.services.records.open(actor, tableId)
  const query = { tableId, search: { text, fieldId: null }, limit: 5, offset: 0 }
  return app.services.records.plan(opened, null, () => ({
    ...query,
    fields: [],
    shape: { kind: 'rows', links: 'first' },
  })).page.sql
}

/** Waits until searches ask the index, shortly after it is complete. */
async function untilUsed(): Promise<void> {
  for (let tries = 0; !INDEXED.test(await planOf('row 123')); tries++) {
    if (tries === 300) throw new Error('The index is not used')
    await ids('anything')
    await Bun.sleep(100)
  }
}

describe('a search of a large table', () => {
  test('finds the same records with the index as without', async () => {
    const searched = new Set([
      ...TEXTS,
      ...TEXTS.map((text) => text.toLowerCase()),
      ...TEXTS.map((text) => text.toUpperCase()),
      'ist',
      'afé',
      'cafe',
      'k12',
      'sense',
      '日本語',
      '語',
      '0% "',
      '_b\\',
      'row 123',
      'ow',
      'ß',
      'nothing like it',
      'ჰჰჰ',
      'א',
      'שלום',
      'السلام',
      '👩‍👩‍👧',
      '🦓🦓🦓',
      '%',
      '_',
      '%%%',
      'a%b',
      '\\',
      '\\\\',
      "'",
      `o'neil "x"`,
      'line\nbreak',
      'ΟΔΟΣ',
      'οδος',
      'οδός',
      'СЛОВО слово',
      'слово и дело',
      'tail of the long',
      '1e21',
      '1000000000000000',
      '0.1',
      '2024-02-29',
      '29 07:08',
      '.5',
      '+00',
      'x'.repeat(480),
      'é'.repeat(40),
    ])
    // The computed field of the table is searched without the index, so each field is also searched by itself. An index can
    // only leave records out, so that it is compared where there are some.
    const fields = ['Title', 'Note', 'Price', 'Day', 'Seen', 'Files'].map((title) => table.field(title).id)
    const listsOf = async (text: string, fieldIds: (string | null)[]) =>
      Promise.all(fieldIds.map(async (fieldId) => ({ fieldId, ids: await ids(text.slice(0, 480), fieldId) })))
    const found = async (text: string) => {
      const all = await listsOf(text, [null])
      const isFound = all.some((each) => each.ids.length > 0)
      const each = await listsOf(text, isFound ? fields : [])
      return [...all, ...each.filter((list) => list.ids.length > 0)]
    }
    const foundShort = async (text: string) => {
      const searched = ['Note', 'Files'].map((title) => table.field(title).id)
      const selection = { tableId: table.id, search: { text, fieldId: table.field('Note').id } }
      const { count } = await bench.trpc.records.count.query({ selection })
      return { count, lists: await Promise.all(searched.map((fieldId) => ids(text, fieldId))) }
    }
    const before = new Map<string, Awaited<ReturnType<typeof found>>>()
    for (const text of searched) before.set(text, await found(text))
    const beforeShort = new Map<string, Awaited<ReturnType<typeof foundShort>>>()
    for (const text of SHORT) beforeShort.set(text, await foundShort(text))
    expect(
      [...beforeShort.values()].filter((each) => each.count > 0 && each.count < 500).length,
    ).toBeGreaterThan(50)
    const fieldsWith = (text: string) => before.get(text)?.map(({ fieldId }) => fieldId)
    expect(fieldsWith('istanbul')).toContain(table.field('Note').id)
    for (const title of ['Day', 'Seen']) expect(fieldsWith('2024-02-29')).toContain(table.field(title).id)
    expect(await planOf('row 123')).not.toMatch(INDEXED)
    const rows = Array.from({ length: 20 }, (_, at) => ({ values: table.values({ Title: `Later ${at}` }) }))
    await bench.trpc.records.write.mutate({
      change: { baseId: bench.baseId, operations: [{ kind: 'insert', tableId: table.id, rows }] },
    })
    expect(await searchState()).toEqual({ state: 'none', part: 0 })
    const states = await untilIndexed(1)
    const building = states.filter((each) => each?.state === 'building')
    expect(building.length).toBeGreaterThan(0)
    for (const each of building) expect(each?.part).toBeWithin(0, 1.001)
    await untilUsed()
    for (const text of ['語', '日本', 'qz', '12-3', ...(isFile ? ['ow', 'w'] : [])])
      expect(await planOf(text)).toMatch(INDEXED)
    expect(await searchState()).toEqual({ state: 'ready', part: 1 })
    for (const [text, lists] of before) {
      const searched = lists.map(({ fieldId }) => fieldId)
      expect([text, await listsOf(text, searched)]).toEqual([text, lists])
    }
    for (const text of SHORT) expect([text, await foundShort(text)]).toEqual([text, beforeShort.get(text)!])
  })

  test('finds a text that most records show', async () => {
    expect(await count('row')).toBe(ROWS)
    expect(await ids('row')).toHaveLength(1000)
  })

  test('finds what was just inserted, changed, deleted and restored', async () => {
    const values = table.values({ Title: 'Zebra crossing', Price: 4711.25, Seen: '2031-05-06 07:08:09' })
    const { id: entryId, inserted } = await bench.trpc.records.write.mutate({
      change: {
        baseId: bench.baseId,
        operations: [{ kind: 'insert', tableId: table.id, rows: [{ values }] }],
      },
    })
    for (const text of ['zebra', '4711.25', '2031-05-06 07']) expect(await ids(text)).toEqual(inserted)
    const [id = 0] = inserted
    await bench.rest.patch(table.path, { Id: id, Title: 'Okapi' })
    expect([await ids('zebra'), await ids('okapi')]).toEqual([[], [id]])
    await bench.rest.delete(table.path, { Id: id })
    expect(await ids('okapi')).toEqual([])
    await bench.rest.post(`/api/v2/tables/${table.id}/trash/restore`, { recordIds: [id] })
    expect(await ids('okapi')).toEqual([id])
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId, entryId })
    expect(await ids('okapi')).toEqual([])
  })

  test('finds records of a set write, before and after they are indexed', async () => {
    const selection = { tableId: table.id, search: { text: 'café', fieldId: null } }
    const found = await count('café')
    expect(found).toBeGreaterThan(0)
    await bench.trpc.records.updateMatching.mutate({
      selection,
      values: table.values({ Title: 'Espresso bar' }),
    })
    expect(await count('espresso')).toBe(found)
    const all = { tableId: table.id, search: { text: 'row 1', fieldId: null } }
    const many = await count('row 1')
    expect(many).toBeGreaterThan(2_500)
    await bench.trpc.records.updateMatching.mutate({
      selection: all,
      values: table.values({ Title: 'Lighthouse' }),
    })
    expect(await count('lighthouse')).toBe(many)
    // Where batches refresh the index. PostgreSQL keeps it current.
    const waiting = () => {
      if (!isFile) return 0
      const file = openFile()
      const name = `sheaf_changed_1_${table.schema.table.tableName}`
      const row = file.query<{ n: number }, []>(`select count(*) as n from "${name}"`).get()
      file.close()
      return row?.n ?? 0
    }
    for (let tries = 0; waiting() >= 500; tries++) {
      if (tries === 200) throw new Error('The changes were not indexed')
      await Bun.sleep(100)
      await ids(`try ${tries}`)
    }
    expect(await count('lighthouse')).toBe(many)
    expect(await count('row 1')).toBe(0)
  })

  test('searches people, computed fields, files and new fields, and indexes the new ones', async () => {
    const { user } = await bench.trpc.auth.me.query()
    const file = {
      url: 'https://example.com/x.pdf',
      title: 'Contract 2031.pdf',
      mimetype: 'application/pdf',
      size: 1,
    }
    const values = table.values({
      Title: 'Special',
      Note: 'inner',
      Owner: user?.id ?? '',
      Files: JSON.stringify([file]),
    })
    const { inserted } = await bench.trpc.records.write.mutate({
      change: {
        baseId: bench.baseId,
        operations: [{ kind: 'insert', tableId: table.id, rows: [{ values }] }],
      },
    })
    for (const text of [user?.email ?? '', '<inner>', 'contract 2031'])
      expect(await ids(text)).toEqual(inserted)
    const added = await bench.trpc.schema.createField.mutate({
      tableId: table.id,
      field: { title: 'Added', type: 'SingleLineText' },
    })
    await bench.trpc.records.write.mutate({
      change: {
        baseId: bench.baseId,
        operations: [
          {
            kind: 'update',
            tableId: table.id,
            rows: [{ id: inserted[0] ?? 0, values: { [added.id]: 'Brand new' } }],
          },
        ],
      },
    })
    expect(await ids('brand new')).toEqual(inserted)
    await untilIndexed(2)
    expect(await ids('brand new')).toEqual(inserted)
    await bench.trpc.schema.deleteField.mutate({ fieldId: added.id })
    expect(await ids('brand new')).toEqual([])
    expect(await ids('contract 2031')).toEqual(inserted)
    // The column is dropped with the field, also if an index holds it.
    const { status } = await bench.rest.delete(`/api/v2/meta/bases/${bench.baseId}/trash`, {
      fieldId: added.id,
    })
    expect(status).toBe(200)
    expect(await ids('contract 2031')).toEqual(inserted)
    // PostgreSQL drops an index with its column, and the next one has its number.
    if (isFile) await untilIndexed(3)
    await untilUsed()
    expect(await ids('contract 2031')).toEqual(inserted)
  })

  test.if(isFile)('leaves the index out of a move to another database', async () => {
    const file = openFile()
    const names = (await openSqliteStore(file, 'base').tables()).map(({ name }) => name)
    file.close()
    expect(names).toContain(table.schema.table.tableName)
    expect(
      names.filter((name) => name.startsWith('sheaf_search') || name.startsWith('sheaf_changed')),
    ).toEqual([])
  })

  test('does not copy the index with the base', async () => {
    const options = { withData: false, withViews: true }
    const started = await bench.trpc.copies.base.mutate({ baseId: bench.baseId, options })
    expect((await ended(doorOf(app, bench.owner), started.jobId)).status).toBe('completed')
    if (!isFile) {
      const engine = await app.kernel.sources.engine(started.baseId ?? '')
      const copied = {
        sql: 'select indexname::text as name from pg_indexes where schemaname = current_schema()',
        params: [],
      }
      const names = (await engine.all<{ name: string }>(copied)).map(({ name }) => name)
      expect(names).not.toEqual([])
      expect(names.filter((name) => name.startsWith('sheaf_search_'))).toEqual([])
      return
    }
    const file = openFile(started.baseId)
    const left = file
      .query(
        "select name from sqlite_schema where name like 'sheaf\\_search\\_%\\_%' escape '\\' or type = 'trigger'",
      )
      .all()
      .filter((row) => !JSON.stringify(row).includes('sheaf_search_indexes'))
    file.close()
    expect(left).toEqual([])
  })
})

describe('the trigrams of a text', () => {
  // It needs no base.
  test.if(isFile)('fold each letter as the search does, or leave it out', () => {
    const file = new Database(':memory:')
    const indexed = { name: 'texts', key: 'id' }
    const version = {
      generation: 1,
      columns: ['text'],
      isComplete: true,
      knowsAllLetters: true,
      knowsShortTexts: true,
    }
    const run = ({ sql, params }: Statement) => file.query(sql).all(...(params as string[]))
    file.run('create table texts (id integer primary key, text text)')
    for (const each of [sqliteSearchBatches.prepare, ...sqliteSearchBatches.create(indexed, version)])
      run(each)
    const insert = file.prepare('insert into sheaf_search_1_texts (rowid, text) values (?, ?)')
    const inserted: { name: string; id: number; whole: TextMatch; short: TextMatch }[] = []
    file.run('begin')
    for (let code = 1; code <= 0x1ffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      const letter = String.fromCodePoint(code)
      const whole = sqliteSearchIndexes.match(`q${letter}q`, version)
      const short = sqliteSearchIndexes.match(letter, version)
      if (whole?.by !== 'trigrams' || short === null) continue
      const cases = new Set(
        [letter, letter.toLowerCase(), letter.toUpperCase()].filter((each) => [...each].length === 1),
      )
      for (const each of cases) {
        const id = inserted.length + 1
        insert.run(id, `q${each}q\n\n`)
        inserted.push({ name: `${letter} ${each} ${code}`, id, whole, short })
      }
    }
    file.run('commit')
    const terms = new Map<number, string[]>()
    for (const { term, doc } of file
      .query<{ term: string; doc: number }, []>('select term, doc from sheaf_search_terms_1_texts')
      .iterate()) {
      terms.set(doc, [...(terms.get(doc) ?? []), term])
    }
    const find = file.prepare(
      'select 1 from sheaf_search_1_texts where sheaf_search_1_texts match ? and rowid = ?',
    )
    const apart = inserted.filter(
      ({ id, whole, short }) =>
        !find.get(whole.texts.map((text) => `"${text.replaceAll('"', '""')}"`).join(' '), id) ||
        !terms.get(id)?.some((term) => short.texts.some((text) => term.startsWith(text))),
    )
    expect(inserted.length).toBeGreaterThan(100_000)
    expect(apart.map(({ name }) => name)).toEqual([])
  })
})

describe('an index of an earlier build', () => {
  test('serves long texts only, and is replaced', async () => {
    const large = await bench.table({ Title: 'SingleLineText', Note: 'SingleLineText' })
    const { tableName } = large.schema.table
    const rows = Array.from({ length: 10_000 }, (_, n) => ({ values: large.values({ Title: `Row ${n}` }) }))
    for (let time = 0; time < 2; time++) {
      const operation = { kind: 'insert' as const, tableId: large.id, rows }
      await bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations: [operation] } })
    }
    const { inserted } = await bench.trpc.records.write.mutate({
      change: {
        baseId: bench.baseId,
        operations: [
          {
            kind: 'insert',
            tableId: large.id,
            rows: [{ values: large.values({ Title: 'Long', Note: 'zebra 語' }) }],
          },
        ],
      },
    })
    const engine = await app.kernel.sources.engine(bench.baseId)
    const indexes = engine.dialect.searchIndexes!
    const indexed = { name: tableName, key: 'id' }
    const versions = () =>
      engine.all<{ generation: number; columns: string; isComplete: number; knowsShortTexts: number }>(
        indexes.list(indexed),
      )
    const found = async (text: string) =>
      (
        await bench.trpc.records.list.query({
          query: { tableId: large.id, search: { text, fieldId: null }, limit: 10, offset: 0 },
        })
      ).ids
    await until(async () => {
      await found('zebra')
      return (await versions()).some(({ isComplete }) => isComplete === 1)
    }, 'The first index')
    const columns = JSON.parse((await versions())[0]!.columns) as string[]
    if (indexes.batches) await engine.writeScript(indexes.batches.drop(indexed, 1))
    else await engine.dropIndex(tableName, indexes.indexName(indexed, 1))
    const [extension] = isFile
      ? []
      : await engine.all<{ schema: string }>({
          sql: "select extnamespace::regnamespace::text as schema from pg_extension where extname = 'pg_trgm'",
          params: [],
        })
    await engine.writeScript(earlierIndex(tableName, columns, extension?.schema))
    expect(await versions()).toMatchObject([{ generation: 1, isComplete: 1, knowsShortTexts: 0 }])
    // The table is read again.
    const { id: fieldId } = large.field('Title')
    await bench.trpc.schema.updateField.mutate({ fieldId, patch: { title: 'Name' } })
    expect(await planOf('zebra', large.id)).toMatch(INDEXED)
    for (const text of ['語', ' 語', '"', 'q語']) expect(await planOf(text, large.id)).not.toMatch(INDEXED)
    expect(await found('語')).toEqual(inserted)
    await until(async () => {
      expect(await found('a 語')).toEqual(inserted)
      return (await versions()).every(({ knowsShortTexts }) => knowsShortTexts === 1)
    }, 'The index of this version')
    expect(await planOf('語', large.id)).toMatch(INDEXED)
    expect(await found('語')).toEqual(inserted)
  })
})

/** The index without short texts, as earlier builds of Sheaf left it. */
function earlierIndex(table: string, columns: string[], trigramSchema: string | undefined): Statement[] {
  const text = columns.map((column) => `coalesce(${column}, '')`).join(' || chr(10) || ')
  const list = JSON.stringify(columns).replaceAll("'", "''")
  if (!isFile) {
    const name = `sheaf_search_1_${createHash('sha256').update(table).digest('hex').slice(0, 16)}`
    return [
      `create index "${name}" on "${table}" using gin ((lower((${text}) collate "C")) ${trigramSchema}.gin_trgm_ops)`,
      `comment on index "${name}" is '${list}'`,
    ].map((sql) => ({ sql, params: [] }))
  }
  const index = `"sheaf_search_1_${table}"`
  const changed = `"sheaf_changed_1_${table}"`
  const triggers = ['insert', 'update', 'delete'].map(
    (event) => `create trigger "sheaf_changed_1_${table}_${event}" after ${event} on "${table}"
      begin insert or ignore into ${changed} values (${event === 'delete' ? 'old' : 'new'}."id"); end`,
  )
  return [
    `create table if not exists sheaf_search_indexes (
      table_name text not null, generation integer not null, columns text not null, is_complete integer not null,
      primary key (table_name, generation)) without rowid`,
    `create virtual table ${index}
      using fts5(text, content='', contentless_delete=1, tokenize='trigram', detail=none)`,
    `create table ${changed} (id integer primary key)`,
    ...triggers,
    `insert into sheaf_search_indexes values ('${table}', 1, '${list}', 1)`,
    `insert into ${index} (rowid, text)
      select "id", ${text.replaceAll('chr', 'char')} from "${table}"`,
  ].map((sql) => ({ sql, params: [] }))
}

test('is not built where automatic indexes are turned off', async () => {
  const other = await createTestApp({ config: { indexSlowMs: 0 } })
  try {
    const owner = await other.signUp()
    const { id: baseId } = await other.trpc(owner.token).bases.create.mutate({ title: 'Large' })
    const quiet = benchOf(other, owner, baseId)
    const large = await quiet.table({ Title: 'SingleLineText' })
    const rows = Array.from({ length: 10_000 }, (_, n) => ({ values: large.values({ Title: `Row ${n}` }) }))
    for (let time = 0; time < 2; time++) {
      const operation = { kind: 'insert' as const, tableId: large.id, rows }
      await quiet.trpc.records.write.mutate({ change: { baseId, operations: [operation] } })
    }
    const query = { tableId: large.id, limit: 10, offset: 0, search: { text: 'Row 77', fieldId: null } }
    for (let time = 0; time < 3; time++) {
      expect((await quiet.trpc.records.list.query({ query })).rows).toHaveLength(10)
      await Bun.sleep(100)
    }
    const { search } = await quiet.trpc.indexes.performance.query({ tableId: large.id })
    expect(search).toEqual({ state: 'none', part: 0 })
  } finally {
    await other.stop()
  }
})
