import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import Papa from 'papaparse'
import type { CsvFormat } from '../../src/core/csv/format.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import { parseInstant } from '../../src/core/fields/instant-text.ts'
import { parseNumber } from '../../src/core/fields/number-text.ts'
import type { Analysis } from '../../src/core/imports/analysis.ts'
import { type DraftTarget, draftColumns, toStartInput } from '../../src/core/imports/draft.ts'
import type { Base } from '../../src/core/model.ts'
import { type Analyser, createAnalyser } from '../../web/features/imports/analyse.ts'
import { readSamples, sourceOfText } from '../../web/features/imports/source.ts'
import type { TestApp, TestUser } from '../support/app.ts'
import { type Door, ended, openImports, reportOf, resultOf, upload } from './support.ts'

const DATA = join(import.meta.dir, '../../node_modules/vega-datasets/data')

let app: TestApp
let owner: TestUser
let base: Base
let door: Door
let analyser: Analyser

beforeAll(async () => {
  ;({ app, owner, base, door } = await openImports())
  analyser = createAnalyser()
})
afterAll(async () => {
  analyser.close()
  await app.stop()
})

async function analyse(text: string): Promise<Analysis> {
  const source = sourceOfText(text)
  const file = new Blob([text])
  const samples = await readSamples(source, (_, from, to) => file.slice(from, to).arrayBuffer())
  const analysis = await analyser.analyse(samples, {})
  if (!analysis) throw new Error('The server reads this kind of file')
  return analysis
}

/** Imports a text as the dialog does when nothing is changed there, and exports it as CSV. */
async function importAndExport(title: string, text: string) {
  const analysis = await analyse(text)
  const target: DraftTarget = { kind: 'new', title }
  const columns = draftColumns(analysis, target)
  const uploadId = await upload(door, text)
  const trpc = app.trpc(owner.token)
  const started = await trpc.imports.start.mutate({
    ...toStartInput({ baseId: base.id, uploadId, analysis }, columns, target),
    timeZone: 'UTC',
  })
  const { tableId } = resultOf(await ended(door, started.jobId))
  const table = await trpc.schema.table.query({ tableId })
  const viewId = table.views[0]?.id ?? ''
  const { jobId } = await trpc.records.export.mutate({ tableId, viewId, format: 'csv', timeZone: 'UTC' })
  const { result } = await ended(door, jobId)
  const file = await (await fetch(`${app.url}/${(result as { url: string }).url}`)).text()
  const display = table.fields.find(({ isDisplay }) => isDisplay)?.title
  return { analysis, display, report: await reportOf(door, started.jobId), file }
}

const cellsOf = (text: string, delimiter = ','): string[][] =>
  Papa.parse<string[]>(text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n'), {
    delimiter,
    skipEmptyLines: true,
  }).data

/** What a text means in a field: numbers and dates may come back in another form, and texts may not. */
function meaning(text: string, type: FieldTypeName, format: string): unknown {
  if (text === '') return ''
  if (type === 'Number' || type === 'Decimal' || type === 'Year') return parseNumber(text)
  if (type === 'Date' || type === 'DateTime') {
    return parseInstant(text, { format: format as 'YYYY-MM-DD', timeZone: 'UTC' })
  }
  return text
}

describe('an import of a real file with the types that were found', () => {
  const names = readdirSync(DATA).filter((name) => /\.[ct]sv$/.test(name))

  test.each(names)('%s comes back by an export', async (name) => {
    const text = await Bun.file(join(DATA, name)).text()
    const { analysis, file, report } = await importAndExport(name.replace('.', ' '), text)
    expect(report).toEqual([])
    const [header = [], ...rows] = cellsOf(text, (analysis.format as CsvFormat).delimiter)
    const [exported = [], ...back] = cellsOf(file)
    // The display field leads in the exported view.
    const order = header.map((title) => exported.indexOf(title.trim()))
    expect(back.length).toBe(rows.length)
    const misses: unknown[] = []
    rows.forEach((row, at) => {
      analysis.fields.forEach(({ type, options }, index) => {
        const [before = '', after = ''] = [row[index], back[at]?.[order[index] ?? -1]]
        const format = String(options.format ?? '')
        if (meaning(before, type, format) !== meaning(after, type, format))
          misses.push([at, header[index], before, after])
      })
    })
    expect(misses.slice(0, 5)).toEqual([])
  })
})

describe('an import of a file of many kinds of values', () => {
  const FILE = [
    'Key;Customer;City;Tags;Phone;Price;Change;Start;Took;Born;Doc;Count;Version;Done',
    'a3f9c2e1b07d;Smith, John;Hong Kong, China;red,blue;+49 30 901820;0.50 USD;(5.00);08:30;36:15;1/1/20;"{""a"": 1}";1;1.2.0;x',
    'b3f9c2e1b07d;Doe, Jane;Tokyo, Japan;blue;+49 30 901821;1,200.00 USD;3.20;9:05;1:30;12/31/19;[1, 2];n/a;1.2.0;',
    'c3f9c2e1b07d;Doe, John;Hong Kong, China;blue,red;+49 30 901822;3.00 USD;1.10;10:00;0:45;2/13/20;{};NULL;1.3.0;x',
    'd3f9c2e1b07d;Li, Wei;Tokyo, Japan;red;+49 30 901823;4.00 USD;-2.00;11:15;100:00;3/4/20;{};7;1.3.0;',
    '',
  ].join('\n')

  test('finds their types, their display field, and gives every text back', async () => {
    const { analysis, display, file, report } = await importAndExport('Mixed', FILE)
    expect(Object.fromEntries(analysis.fields.map(({ title, type }) => [title, type]))).toEqual({
      Key: 'SingleLineText',
      Customer: 'SingleLineText',
      City: 'SingleLineText',
      Tags: 'MultiSelect',
      Phone: 'PhoneNumber',
      Price: 'Currency',
      Change: 'Decimal',
      Start: 'Time',
      Took: 'Duration',
      Born: 'Date',
      Doc: 'JSON',
      Count: 'Number',
      Version: 'SingleLineText',
      Done: 'Checkbox',
    })
    expect(display).toBe('Customer')
    expect(report).toEqual([])
    const [header = [], first = [], second = [], third = [], fourth = []] = cellsOf(file)
    const record = (cells: string[]) => Object.fromEntries(header.map((title, at) => [title, cells[at]]))
    expect(record(first)).toEqual({
      Key: 'a3f9c2e1b07d',
      Customer: 'Smith, John',
      City: 'Hong Kong, China',
      Tags: 'red,blue',
      Phone: "'+49 30 901820",
      Price: '0.5',
      Change: '-5',
      Start: '08:30',
      Took: '36:15',
      Born: '01/01/2020',
      Doc: '{"a": 1}',
      Count: '1',
      Version: '1.2.0',
      Done: 'true',
    })
    // What was empty stays empty.
    expect(record(second)).toMatchObject({ Count: '', Done: '', Born: '12/31/2019' })
    expect(record(third)).toMatchObject({ Tags: 'blue,red', Count: '' })
    expect(record(fourth)).toMatchObject({ Took: '100:00', City: 'Tokyo, Japan' })
  })
})
