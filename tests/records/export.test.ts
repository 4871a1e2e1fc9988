import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { constants, crc32, inflateRawSync } from 'node:zlib'
import { and, eq } from 'drizzle-orm'
import { unzipSync } from 'fflate'
import * as xlsx from 'xlsx'
import { defineRecordsTables } from '../../modules/records/tables.ts'
import { guardText, looksGuarded, unguardText } from '../../src/core/csv/format.ts'
import type { Field } from '../../src/core/model.ts'
import { createPageWriter } from '../../src/record-files/index.ts'
import { doorOf, ended, formatOf, resultOf, rowsOf, upload } from '../imports/support.ts'
import { createMember } from '../support/factories.ts'
import { EVERY_TYPE, STORED_VALUES } from './every-type.ts'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

let bench: Bench
/** Exports of tables with so many records are written by workers. */
const SCAN_FROM = 5_000

beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const exportPath = (table: TestTable, type: string, view = '') =>
  `/api/v1/db/data/noco/${bench.baseId}/${table.id}${view && `/views/${view}`}/export/${type}`

const defaultView = (table: TestTable) => table.schema.views[0]?.id ?? ''

async function fetchFile(path: string, token = bench.owner.token): Promise<Response> {
  return fetch(`${bench.app.url}${path}`, { headers: { 'xc-auth': token } })
}

const textOf = async (path: string): Promise<string> => (await fetchFile(path)).text()

/** The file that a job has left, by its link: nobody signs in for it. */
async function fetchJob(jobId: string): Promise<Response> {
  const job = await ended(doorOf(bench.app, bench.owner), jobId)
  expect(job.status).toBe('completed')
  return fetch(`${bench.app.url}/${(job.result as { url: string }).url}`)
}

function rowsIn(bytes: Uint8Array): Record<string, unknown>[] {
  const book = xlsx.read(bytes)
  return xlsx.utils.sheet_to_json(book.Sheets[book.SheetNames[0] ?? ''] ?? {}, { blankrows: true })
}

const sheetOf = async (path: string) => rowsIn(new Uint8Array(await (await fetchFile(path)).arrayBuffer()))

const titleOf = (row: Record<string, unknown>) => String(row.Title)

describe('a job that exports', () => {
  test.each(['null \u0000 character', 'half a \ud83d pair'])(
    'is refused with %p in its input',
    async (text) => {
      const table = await bench.table()
      const asked = { tableId: table.id, format: 'csv' as const }
      for (const request of [{ title: text }, { search: { text, fieldId: null } }]) {
        const refused = bench.trpc.records.export.mutate({ ...asked, ...request })
        expect(await refusalOf(refused)).toMatchObject({ status: 400 })
      }
    },
  )
})

describe('the guard of texts', () => {
  test.each(['=1+1', '+49 30', '-a', '@x', '\tx', "'=1", "''=1", "'plain", 'plain', '', "'"])(
    '%p comes back as it was',
    (text) => {
      expect(unguardText(guardText(text))).toBe(text)
      expect(guardText(text)).not.toMatch(/^[=+\-@\t\r\n]/)
    },
  )
  test('is known again by a file that has it, and not by others', () => {
    expect(
      looksGuarded([
        ['a', "'=1"],
        ['-5', '+.5'],
      ]),
    ).toBe(true)
    expect(
      looksGuarded([
        ['a', "'=1"],
        ['=2', 'x'],
      ]),
    ).toBe(false)
    expect(looksGuarded([["'quoted'", 'plain']])).toBe(false)
  })
})

describe('an export of a view', () => {
  test('has the system fields that a view shows over REST', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const viewId = defaultView(table)
    const heading = (csv: string) => csv.split('\r\n')[0]?.replace('\ufeff', '')
    const ofView = async (query = '') => heading(await textOf(`${exportPath(table, 'csv', viewId)}${query}`))
    const ofJob = async () => {
      const { body } = await bench.rest.post(`/api/v2/export/${viewId}/csv`)
      return heading(await (await fetchJob(body.id)).text())
    }
    expect([await ofView(), await ofJob()]).toEqual(['Title', 'Title'])
    await bench.rest.patch(`/api/v1/db/meta/views/${viewId}`, { show_system_fields: true })
    const all = 'Title,CreatedAt,UpdatedAt'
    expect([await ofView(), await ofJob()]).toEqual([all, all])
    expect(await ofView('?fields=UpdatedAt')).toBe('UpdatedAt')
    expect(heading(await textOf(exportPath(table, 'csv')))).toBe('Id,Title')
    // The app shows them one by one.
    const { jobId } = await bench.trpc.records.export.mutate({ tableId: table.id, viewId, format: 'csv' })
    expect(heading(await (await fetchJob(jobId)).text())).toBe('Title')
  })

  let table: TestTable
  let viewId: string
  beforeAll(async () => {
    const rows = Array.from({ length: 1203 }, (_, at) => ({ Title: `t${at}`, Stock: at, Secret: `s${at}` }))
    table = await bench.table({ Title: 'SingleLineText', Stock: 'Number', Secret: 'SingleLineText' }, rows)
    viewId = table.schema.views[0]?.id ?? ''
    const stock = table.field('Stock').id
    await bench.trpc.views.update.mutate({
      viewId,
      patch: {
        filter: { fieldId: stock, operator: 'gte', value: 600 },
        sorts: [{ fieldId: stock, direction: 'desc' }],
      },
    })
    await bench.trpc.views.arrange.mutate({
      viewId,
      fields: [
        { fieldId: table.field('Secret').id, show: false },
        { fieldId: stock, order: 0.1 },
      ],
    })
  })

  test('has the fields, order and records of the view, and nothing else', async () => {
    const answer = await fetchFile(exportPath(table, 'csv', viewId))
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(answer.headers.get('content-disposition')).toContain('attachment')
    const lines = (await answer.text()).split('\r\n')
    expect(lines.slice(0, 3)).toEqual(['Title,Stock', 't1202,1202', 't1201,1201'])
    expect(lines).toHaveLength(1 + 603 + 1)
  })

  test('over REST takes where, sort and fields, but no field that the view hides', async () => {
    const { id } = table.field('Secret')
    const hidden = await textOf(
      `${exportPath(table, 'csv', viewId)}?fields=Title,Secret&where=(Stock,lt,602)&sort=Stock`,
    )
    expect(hidden.trim().split('\r\n')).toEqual(['Title', 't600', 't601'])
    const { jobId } = await bench.trpc.records.export.mutate({
      tableId: table.id,
      viewId,
      format: 'csv',
      fieldIds: [id],
    })
    expect(await (await fetchJob(jobId)).text()).not.toContain('s600')
  })

  test('by a job leaves a link, as REST clients know it', async () => {
    const { status, body } = await bench.rest.post(`/api/v2/export/${viewId}/csv`, {})
    expect([status, body.name]).toEqual([200, 'data-export'])
    const file = await fetchJob(body.id)
    expect((await file.text()).trim().split('\r\n')).toHaveLength(604)
    expect(file.headers.get('content-disposition')).toContain('attachment')
  })

  test('says how many texts a workbook had no room for', async () => {
    const long = await bench.table({ Title: 'SingleLineText', Notes: 'LongText' }, [
      { Title: 'a', Notes: 'x'.repeat(32_768) },
      { Title: 'b', Notes: 'y'.repeat(32_767) },
      { Title: 'c', Notes: '😀'.repeat(20_000) },
    ])
    const resultOf = async (format: 'csv' | 'xlsx') => {
      const { jobId } = await bench.trpc.records.export.mutate({
        tableId: long.id,
        viewId: defaultView(long),
        format,
      })
      return (await ended(doorOf(bench.app, bench.owner), jobId)).result
    }
    expect(await resultOf('xlsx')).toMatchObject({ textsCut: 2 })
    expect(await resultOf('csv')).not.toHaveProperty('textsCut')
    const file = await fetchFile(exportPath(long, 'excel'))
    const [sheet] = Object.values(xlsx.read(await file.arrayBuffer()).Sheets)
    const rows = xlsx.utils.sheet_to_json<{ Notes: string }>(sheet!)
    expect(
      rows.map(({ Notes }) => [Notes.length <= 32_767, Notes.endsWith(' […cut at Excel’s limit]')]),
    ).toEqual([
      [true, true],
      [true, false],
      [true, true],
    ])
    expect(rows[2]?.Notes.isWellFormed()).toBe(true)
  })

  test('opens as a workbook with numbers as numbers', async () => {
    const bytes = await (await fetchFile(exportPath(table, 'xlsx', viewId))).arrayBuffer()
    const book = xlsx.read(bytes)
    const sheet = book.Sheets[book.SheetNames[0] ?? '']
    const rows = xlsx.utils.sheet_to_json<Record<string, unknown>>(sheet ?? {})
    expect(rows).toHaveLength(603)
    expect(rows[0]).toEqual({ Title: 't1202', Stock: 1202 })
  })

  test('is JSON that can be read', async () => {
    const rows = JSON.parse(await textOf(exportPath(table, 'json', viewId)))
    expect(rows).toHaveLength(603)
    expect(rows[602]).toEqual({ Title: 't600', Stock: 600 })
  })

  test('is refused to strangers, in other formats, and over unknown things', async () => {
    expect((await fetch(`${bench.app.url}${exportPath(table, 'csv')}`)).status).toBe(401)
    expect((await fetchFile(exportPath(table, 'docx'))).status).toBe(400)
    expect((await fetchFile(exportPath(table, 'toString'))).status).toBe(400)
    expect((await bench.rest.post('/api/v2/export/vwnothing/csv', {})).status).toBe(404)
    expect((await fetchFile(`${exportPath(table, 'csv')}?sort=Nothing`)).status).toBeGreaterThanOrEqual(400)
    const stranger = await bench.app.signUp('stranger@example.com')
    const refused = bench.app.trpc(stranger.token).records.export.mutate({ tableId: table.id, format: 'csv' })
    expect((await refusalOf(refused)).status).toBe(403)
  })
})

describe('an export of a large table, which is written off the request thread', () => {
  /** Awkward texts, and values of every type. */
  const texts = [
    '=1+1',
    'a,b',
    'a;b',
    'say "so"',
    'two\r\nlines',
    ' padded ',
    '\u00a0wide',
    'tab\t',
    '',
    'Ünï 👩‍🚀',
  ]
  /** Ends of a row with more cells than there are. */
  const wholeRows = Array.from({ length: 6 }, (_, at) => `\x1d${'\x1f'.repeat(20 + at)}`)
  const { Raw: _, ...TEXT_TELLS_VALUE } = EVERY_TYPE
  const manyTexts = Object.fromEntries(
    Array.from({ length: 100 }, (_, at) => [`Text ${at}`, 'SingleLineText'] as const),
  )
  const rowsOf = (types: object, notes: readonly string[]) => {
    const lists = Object.keys(types).map(
      (title) => [title, STORED_VALUES[title as keyof typeof EVERY_TYPE] ?? STORED_VALUES.Title] as const,
    )
    const most = Math.max(notes.length, ...lists.map(([, { length }]) => length))
    return Array.from({ length: most }, (_, at) => ({
      ...Object.fromEntries(lists.map(([title, values]) => [title, values[at % values.length] ?? null])),
      Notes: notes[at % notes.length] ?? null,
    }))
  }

  test.each([
    ['with every type', EVERY_TYPE, texts],
    ['with types whose text tells their value', TEXT_TELLS_VALUE, texts],
    // Characters that stand for an empty cell, and between cells and rows, on the way from PostgreSQL.
    ['with U+001E', TEXT_TELLS_VALUE, [...texts, '\x1e', ' \x1e']],
    ['with U+001F', TEXT_TELLS_VALUE, [...texts, '\x1f', 'a\x1fb']],
    ['with U+001D', TEXT_TELLS_VALUE, [...texts, '\x1d', ...wholeRows]],
    // More than the arguments of a function in PostgreSQL.
    ['with many columns', { ...manyTexts, ...TEXT_TELLS_VALUE }, texts],
  ])('is cell by cell the same as that of a small one, in every format, %s', async (_, types, notes) => {
    const rows = rowsOf(types, notes)
    const table = await bench.table(types, rows)
    const formula = { title: 'F', type: 'Formula', options: { formula: '{Num} + 1' } } as const
    await bench.trpc.schema.createField.mutate({ tableId: table.id, field: formula })
    const path = exportPath(table, 'csv')
    const small = await textOf(path)
    const smallBook = await sheetOf(exportPath(table, 'xlsx'))
    const smallJson = JSON.parse(await textOf(exportPath(table, 'json')))
    // In PostgreSQL, workers write small tables, too.
    for (const [at, { Notes }] of rows.entries())
      if (['\x1d', '\x1e', '\x1f'].some((sign) => Notes?.includes(sign)))
        expect(smallJson[at].Notes).toBe(Notes)
    const sorted = await textOf(`${path}?where=(Id,gt,2)&sort=-Id`)
    expect(small.split('\r\n').length).toBeGreaterThan(rows.length)
    const more = Array.from({ length: SCAN_FROM }, (_, at) => ({ Title: `more ${at}` }))
    for (let from = 0; from < more.length; from += 1000)
      expect((await bench.rest.post(table.path, more.slice(from, from + 1000))).status).toBe(200)
    const last = `(Id,lte,${rows.length})`
    expect(await textOf(`${path}?where=${last}`)).toBe(small)
    expect(await textOf(`${path}?where=(Id,gt,2)~and${last}&sort=-Id`)).toBe(sorted)
    const all = await textOf(path)
    expect(all.startsWith(small)).toBe(true)
    const titles = all
      .slice(small.length)
      .trimEnd()
      .split('\r\n')
      .map((line) => /more \d+/.exec(line)?.[0])
    expect(titles).toEqual(more.map(({ Title }) => Title))
    const where = `?where=${last}`
    expect(await sheetOf(exportPath(table, 'xlsx') + where)).toEqual(smallBook)
    expect(JSON.parse(await textOf(exportPath(table, 'json') + where))).toEqual(smallJson)
    // The pages of a file come in order, with the rows numbered through.
    const names = more.map(({ Title }) => Title)
    const book = await sheetOf(exportPath(table, 'xlsx'))
    expect(book.slice(0, smallBook.length)).toEqual(smallBook)
    expect(book.slice(smallBook.length).map((row) => row.Title)).toEqual(names)
    const json: Record<string, unknown>[] = JSON.parse(await textOf(exportPath(table, 'json')))
    expect(json.slice(smallJson.length).map((row) => row.Title)).toEqual(names)
  })

  test.each([
    ['csv', (bytes: Uint8Array) => new TextDecoder().decode(bytes).trimEnd().split('\r\n').slice(1)],
    ['json', (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes)).map(titleOf)],
    ['xlsx', (bytes: Uint8Array) => rowsIn(bytes).map(titleOf)],
  ])('omits records that are deleted meanwhile, in %s', async (type, read) => {
    // Texts that hardly get smaller, so that the answer waits for its reader.
    const rest = () => crypto.getRandomValues(new Uint8Array(500)).toBase64()
    const titles = Array.from({ length: 3 * SCAN_FROM }, (_, at) => ({ Title: `row ${at} ${rest()}` }))
    const table = await bench.table({ Title: 'SingleLineText' }, [])
    for (let from = 0; from < titles.length; from += 1000)
      expect((await bench.rest.post(table.path, titles.slice(from, from + 1000))).status).toBe(200)
    const answer = await fetchFile(exportPath(table, type))
    const reader = answer.body!.getReader()
    const pieces = [(await reader.read()).value ?? new Uint8Array()]
    // Of the last page, of one in the middle with others after it, and of one that is written already.
    const last = titles.length
    const gone = [last, last - 2, last - 2_000, last - 4_001]
    expect(
      (
        await bench.rest.delete(
          table.path,
          gone.map((Id) => ({ Id })),
        )
      ).status,
    ).toBe(200)
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) pieces.push(piece.value)
    const numbers = read(await new Blob(pieces).bytes()).map((title: string) =>
      Number(/row (\d+) /.exec(title)?.[1]),
    )
    expect(numbers).toEqual(titles.map((_, at) => at).filter((at) => !gone.includes(at + 1)))
  })
})

test('a viewer does not fill the queue of jobs with exports', async () => {
  const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
  const path = `/api/v2/export/${defaultView(table)}/csv`
  const { token } = await createMember(bench.app, bench.baseId, 'viewer')
  // Occupies the base, so that exports wait.
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { jobs } = bench.app.kernel
  jobs.register('occupies the base', { run: () => released, recover: async () => null })
  await jobs.start('occupies the base', { userId: bench.owner.id, baseId: bench.baseId, input: {} })
  const statuses: number[] = []
  for (let at = 0; at < 21; at++) statuses.push((await bench.app.rest(token).post(path)).status)
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 429])
  const workbook = `/api/v2/meta/bases/${bench.baseId}/export/xlsx`
  expect((await bench.app.rest(token).post(workbook)).status).toBe(429)
  // Others are not kept waiting at the door.
  expect((await bench.rest.post(path)).status).toBe(200)
  release()
})

test('only who has started an export by a job gets its link', async () => {
  const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
  const path = `/api/v2/export/${defaultView(table)}/csv`
  const member = async (role: 'viewer' | 'creator') => {
    const { token } = await createMember(bench.app, bench.baseId, role)
    return { trpc: bench.app.trpc(token), rest: bench.app.rest(token) }
  }
  const [viewer, creator] = [await member('viewer'), await member('creator')]
  const starts = [
    (await bench.rest.post(path)).body.id,
    (await bench.rest.post(`/api/v2/meta/bases/${bench.baseId}/export/xlsx`)).body.id,
    (await bench.rest.post(`/api/v2/meta/bases/${bench.baseId}/export/sheaf`)).body.id,
  ]
  for (const jobId of starts) {
    const own = await ended(doorOf(bench.app, bench.owner), jobId)
    expect(own).toMatchObject({ status: 'completed', result: { url: expect.stringContaining('dltemp/') } })
    for (const { trpc, rest } of [viewer, creator]) {
      expect(await trpc.jobs.get.query({ jobId })).toMatchObject({ status: 'completed', result: null })
      const answers = [
        await rest.get(`/api/v2/meta/jobs/${jobId}`),
        await rest.post(`/api/v2/jobs/${bench.baseId}`, {}),
        await rest.post('/jobs/listen', { _mid: 0, data: { id: jobId } }),
      ]
      for (const { body } of answers) {
        expect(JSON.stringify(body)).toContain(jobId)
        expect(JSON.stringify(body)).not.toContain('dltemp/')
      }
    }
    const heard = await bench.rest.post('/jobs/listen', { _mid: 0, data: { id: jobId } })
    expect(JSON.stringify(heard.body)).toContain('dltemp/')
  }
})

test('the oldest exports of a member make room for new ones', async () => {
  const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
  const member = await createMember(bench.app, bench.baseId, 'creator')
  const rest = bench.app.rest(member.token)
  const door = doorOf(bench.app, member)
  const { attachmentFiles } = bench.app.kernel.meta.tables(defineRecordsTables)
  const { db } = bench.app.kernel.meta
  const own = eq(attachmentFiles.userId, `exports:${member.id}`)
  const kept = async () => (await db.select().from(attachmentFiles).where(own)).map(({ path }) => path)
  const run = async (path: string): Promise<string> => {
    const before = new Set(await kept())
    const job = await ended(door, (await rest.post(path)).body.id)
    expect(job).toMatchObject({ status: 'completed', result: { url: expect.stringContaining('dltemp/') } })
    const [added, ...others] = (await kept()).filter((each) => !before.has(each))
    expect(others).toEqual([])
    return added ?? ''
  }
  const base = `/api/v2/meta/bases/${bench.baseId}/export`
  const first = await run(`/api/v2/export/${defaultView(table)}/csv`)
  const second = await run(`${base}/sheaf`)
  expect(await kept()).toEqual(expect.arrayContaining([first, second]))
  await db
    .update(attachmentFiles)
    .set({ size: 5 * 1024 ** 3, createdAt: new Date(Date.now() - 3_600_000).toISOString() })
    .where(and(own, eq(attachmentFiles.path, first)))
  const third = await run(`${base}/xlsx`)
  expect((await kept()).toSorted()).toEqual([second, third].toSorted())
  // The newest stays whatever its size, and alone.
  await db
    .update(attachmentFiles)
    .set({ size: 6 * 1024 ** 3 })
    .where(own)
  const fourth = await run(`${base}/sheaf`)
  expect(await kept()).toEqual([fourth])
  // They are no uploads that could be put into cells.
  expect((await rest.get(`/${(await kept())[0]}`)).status).toBe(404)
})

describe('a workbook', () => {
  const fields: Field[] = []
  beforeAll(async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [])
    fields.push(...table.schema.fields.filter(({ title }) => title === 'Title'))
  })

  test('goes on in another sheet after 1,048,575 records, also within a page', () => {
    const write = createPageWriter({
      format: { name: 'xlsx', styles: [] },
      fields,
      people: [],
      timeZone: 'UTC',
    })
    const written = write([['a'], ['b'], ['c']], 1_048_574)
    const texts = written.pieces.map(({ bytes, packed }) => [
      packed?.sheet,
      inflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).toString(),
    ])
    expect(texts).toEqual([
      [0, '<row r="1048576"><c r="A1048576" t="inlineStr"><is><t xml:space="preserve">a</t></is></c></row>'],
      [1, expect.stringMatching(/^<row r="2"><c r="A2" .*>b<.*<row r="3"><c r="A3" .*>c</)],
    ])
  })

  test('has the checksum of each of its files', async () => {
    const rows = Array.from({ length: 1203 }, (_, at) => ({ Title: `t${at}` }))
    const table = await bench.table({ Title: 'SingleLineText' }, rows)
    const bytes = new Uint8Array(await (await fetchFile(exportPath(table, 'xlsx'))).arrayBuffer())
    const files = unzipSync(bytes)
    const listed = new Map<string, number>()
    const view = new DataView(bytes.buffer)
    // Entries of the central directory (APPNOTE.TXT of PKWARE, 4.3.12).
    for (let at = 0; at < bytes.length - 46; at++) {
      if (view.getUint32(at, true) !== 0x02014b50) continue
      const name = bytes.slice(at + 46, at + 46 + view.getUint16(at + 28, true))
      listed.set(new TextDecoder().decode(name), view.getUint32(at + 16, true))
    }
    expect(listed.size).toBeGreaterThan(4)
    expect(Object.fromEntries(listed)).toEqual(
      Object.fromEntries(Object.entries(files).map(([name, content]) => [name, crc32(content)])),
    )
  })
})

describe('texts that spreadsheets would run', () => {
  const NASTY = [
    '=HYPERLINK("http://x","y")',
    '+1',
    '-1',
    '@SUM(A1)',
    "'=1",
    'a "b", c\nd',
    ' space ',
    '\ttab',
  ]

  test('are guarded in CSV and plain text in a workbook', async () => {
    const table = await bench.table(
      { Title: 'SingleLineText' },
      NASTY.map((Title) => ({ Title })),
    )
    const csv = await textOf(exportPath(table, 'csv', defaultView(table)))
    expect(csv).toContain(`"'=HYPERLINK(""http://x"",""y"")"`)
    for (const line of csv.split('\r\n').slice(1)) expect(line).not.toMatch(/^"?[=+\-@\t]/)
    const book = xlsx.read(
      await (await fetchFile(exportPath(table, 'xlsx', defaultView(table)))).arrayBuffer(),
    )
    const sheet = book.Sheets[book.SheetNames[0] ?? ''] ?? {}
    expect(sheet.A2).toMatchObject({ t: 's', v: NASTY[0] })
    expect(sheet.A2.f).toBeUndefined()
    expect(NASTY.map((_, at) => sheet[`A${at + 2}`]?.v)).toEqual(NASTY)
  })

  test('come back from an import as they were', async () => {
    const table = await bench.table(
      { Title: 'SingleLineText' },
      NASTY.map((Title) => ({ Title })),
    )
    const file = await textOf(exportPath(table, 'csv', defaultView(table)))
    const copy = await bench.table({ Title: 'SingleLineText' })
    const door = doorOf(bench.app, bench.owner)
    const { jobId } = await bench.trpc.imports.start.mutate({
      baseId: bench.baseId,
      tableId: copy.id,
      uploadId: await upload(door, file),
      width: 1,
      format: { ...formatOf(file), guarded: true },
      columns: [{ index: 0, fieldId: copy.field('Title').id }],
    })
    expect(resultOf(await ended(door, jobId)).rows).toBe(NASTY.length)
    expect((await rowsOf(door, copy.id)).map((row) => row.Title)).toEqual(NASTY)
  })
})

test('people stand by e-mail, former members too, and passwords and buttons are left out', async () => {
  const ann = await createMember(bench.app, bench.baseId, 'editor')
  const table = await bench.table({ Title: 'SingleLineText', Who: 'User', Code: 'Password' }, [
    { Title: 'a', Who: ann.email, Code: 'secret' },
  ])
  await bench.rest.delete(`/api/v1/db/meta/projects/${bench.baseId}/users/${ann.id}`)
  expect((await textOf(exportPath(table, 'csv', defaultView(table)))).trim()).toBe(
    `Title,Who\r\na,${ann.email}`,
  )
})
