import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { strToU8, Zip, ZipDeflate } from 'fflate'
import { createCsvReader } from '../../src/core/csv/reader.ts'
import type { ImportFormat } from '../../src/core/imports/format.ts'
import { escapeXml } from '../../src/record-files/xlsx-sheet.ts'
import { createTrpcClient } from '../support/client.ts'
import { COLUMNS, HEADER, type LargeImports, lineOf, startLargeImports } from './large-imports.ts'
import { type Column, ended, formatOf, resultOf, startImport } from './support.ts'

let large: LargeImports
beforeAll(async () => {
  large = await startLargeImports()
})
afterAll(() => large.stop())

/** Ends an import that hangs, on a slow machine that does other things. */
const TIMEOUT_MS = 600_000

/** Imports a file while looking at the server's memory and at the time that a point read takes. */
async function measure(path: string, title: string, columns: Column[]) {
  const client = createTrpcClient(large.door.url, large.door.token)
  const quiet = large.server.rss()
  const jobId = await startImport(large.door, large.baseId, Bun.file(path), {
    title,
    columns,
    format: formatOf('', {}),
  })
  const sizes: number[] = []
  let slowestMs = 0
  let isRunning = true
  const watching = (async () => {
    while (isRunning) {
      const startedAt = performance.now()
      await client.bases.get.query({ baseId: large.baseId })
      slowestMs = Math.max(slowestMs, performance.now() - startedAt)
      sizes.push(large.server.rss())
      await Bun.sleep(20)
    }
  })()
  const job = await ended(large.door, jobId, TIMEOUT_MS)
  isRunning = false
  await watching
  // Rows that are kept would be in the last third, and not in the second.
  const third = Math.floor(sizes.length / 3)
  const [middle, end] = [Math.max(...sizes.slice(third, 2 * third)), Math.max(...sizes.slice(2 * third))]
  return {
    result: resultOf(job),
    grownMb: (Math.max(...sizes) - quiet) / 1024 ** 2,
    lastThirdMb: (end - middle) / 1024 ** 2,
    slowestMs,
  }
}

describe('an import of a large file', () => {
  test(
    'takes 100 MB in memory that stays as it is, while others are answered',
    async () => {
      const { path, rows } = await large.makeFile('long.csv', 100 * 1024 ** 2, HEADER, lineOf)
      const { result, grownMb, lastThirdMb, slowestMs } = await measure(path, 'Long', COLUMNS)
      console.log(
        `100 MB, ${rows} rows: ${result.seconds} s, ${grownMb.toFixed(0)} MB more memory, ${lastThirdMb.toFixed(0)} MB of it in the last third, slowest answer ${slowestMs.toFixed(0)} ms`,
      )
      expect(result).toMatchObject({ rows, cellsRefused: 0, rowsRefused: 0 })
      // How much a collector lets lie differs from one machine to the next; the last third of the file as values is far more.
      expect(grownMb).toBeLessThan(200)
      expect(lastThirdMb).toBeLessThan(50)
      // A server that imports in the thread which answers would be silent for seconds.
      expect(slowestMs).toBeLessThan(Math.max(500, (result.seconds * 1000) / 4))
    },
    TIMEOUT_MS,
  )

  test(
    'takes 300 columns in memory that stays as it is',
    async () => {
      const columns: Column[] = Array.from({ length: 300 }, (_, at) => ({
        title: `Column ${at}`,
        type: at % 2 === 0 ? 'Number' : 'SingleLineText',
      }))
      const line = (n: number) =>
        `${columns.map((_, at) => (at % 2 === 0 ? n * at : `text ${at}`)).join(',')}\n`
      const { path, rows } = await large.makeFile(
        'wide.csv',
        40 * 1024 ** 2,
        columns.map(({ title }) => title).join(','),
        line,
      )
      const { result, grownMb } = await measure(path, 'Wide', columns)
      console.log(`300 columns, ${rows} rows: ${result.seconds} s, ${grownMb.toFixed(0)} MB more memory`)
      expect(result).toMatchObject({ rows, cellsRefused: 0 })
      expect(grownMb).toBeLessThan(200)
    },
    TIMEOUT_MS,
  )
})

/** Values as a workbook holds them: text of numbers without quotes. */
const cellOf = (text: string, type: Column['type'], reference: string): string =>
  type === 'Number' || type === 'Decimal'
    ? `<c r="${reference}"><v>${text}</v></c>`
    : `<c r="${reference}" t="inlineStr"><is><t>${escapeXml(text)}</t></is></c>`

/** Writes the rows of a CSV file as JSON and as a workbook, without holding them. */
async function rewrite(csv: string): Promise<{ json: string; xlsx: string }> {
  const [json, xlsx] = [join(large.folder, 'same.json'), join(large.folder, 'same.xlsx')]
  const [jsonFile, xlsxFile] = [Bun.file(json).writer(), Bun.file(xlsx).writer()]
  const zip = new Zip((_, bytes) => void xlsxFile.write(bytes))
  const part = (name: string, text: string, isLast = true): ZipDeflate => {
    const file = new ZipDeflate(name, { level: 1 })
    zip.add(file)
    file.push(strToU8(text), isLast)
    return file
  }
  part('xl/workbook.xml', '<workbook><sheets><sheet name="Same" sheetId="1" r:id="a"/></sheets></workbook>')
  part(
    'xl/_rels/workbook.xml.rels',
    '<Relationships><Relationship Id="a" Target="worksheets/a.xml"/></Relationships>',
  )
  const sheet = part('xl/worksheets/a.xml', '<worksheet><sheetData>', false)
  const reader = createCsvReader({ delimiter: ',', quote: '"' })
  let row = 0
  const decoder = new TextDecoder()
  for await (const chunk of Bun.file(csv).stream()) {
    let [objects, xml] = ['', '']
    for (const cells of reader.push(decoder.decode(chunk, { stream: true }))) {
      row++
      xml += `<row r="${row}">${cells.map((text, at) => cellOf(text, row === 1 ? undefined : COLUMNS[at]?.type, `${String.fromCharCode(65 + at)}${row}`)).join('')}</row>`
      if (row === 1) objects += '['
      else {
        const pairs = cells.map((text, at) => [
          COLUMNS[at]?.title,
          COLUMNS[at]?.type === 'Number' || COLUMNS[at]?.type === 'Decimal' ? Number(text) : text,
        ])
        objects += `${row > 2 ? ',\n' : ''}${JSON.stringify(Object.fromEntries(pairs))}`
      }
    }
    void jsonFile.write(objects)
    sheet.push(strToU8(xml))
    await Promise.all([jsonFile.flush(), xlsxFile.flush()])
  }
  void jsonFile.write(']')
  sheet.push(strToU8('</sheetData></worksheet>'), true)
  zip.end()
  await Promise.all([jsonFile.end(), xlsxFile.end()])
  return { json, xlsx }
}

describe('an import of a large workbook or JSON file', () => {
  test(
    'takes memory that stays as it is, and a multiple of the time of CSV',
    async () => {
      const { path } = await large.makeFile('same.csv', 60 * 1024 ** 2, HEADER, lineOf)
      const { json, xlsx } = await rewrite(path)
      const excel: ImportFormat = {
        kind: 'excel',
        sheet: 0,
        titleRow: 1,
        firstRow: 2,
        firstColumn: 0,
        decimal: '.',
      }
      const columns = COLUMNS.map(({ title }) => [title])
      const objects: ImportFormat = { kind: 'json', table: [], flatten: true, columns, decimal: '.' }
      async function run(file: string, title: string, otherFormat?: ImportFormat) {
        const quiet = large.server.rss()
        const usedBefore = large.server.cpuTimeMs()
        let peak = 0
        const timer = setInterval(() => {
          peak = Math.max(peak, large.server.rss())
        }, 20)
        const jobId = await startImport(large.door, large.baseId, Bun.file(file), {
          // A title of its own if the test is repeated.
          title: `${title} ${crypto.randomUUID()}`,
          columns: COLUMNS,
          otherFormat,
        })
        const result = resultOf(await ended(large.door, jobId, TIMEOUT_MS))
        clearInterval(timer)
        expect(result).toMatchObject({ cellsRefused: 0, rowsRefused: 0 })
        return {
          rows: result.rows,
          cpuMs: large.server.cpuTimeMs() - usedBefore,
          grownMb: (peak - quiet) / 1024 ** 2,
        }
      }
      const csv = await run(path, 'Same CSV')
      const others = {
        json: await run(json, 'Same JSON', objects),
        xlsx: await run(xlsx, 'Same XLSX', excel),
      }
      // Before and after, as the speed of a machine that others use changes.
      csv.cpuMs = (csv.cpuMs + (await run(path, 'Same CSV')).cpuMs) / 2
      for (const [name, { rows, cpuMs, grownMb }] of Object.entries(others)) {
        console.log(
          `${name}: ${(cpuMs / csv.cpuMs).toFixed(2)} times the processor time of CSV, ${grownMb.toFixed(0)} MB more memory`,
        )
        expect([name, rows]).toEqual([name, csv.rows])
        expect(grownMb).toBeLessThan(300)
      }
      expect(others.json.cpuMs / csv.cpuMs).toBeLessThan(2)
      // With texts inside of cells, as exports have them, which is the longest form.
      expect(others.xlsx.cpuMs / csv.cpuMs).toBeLessThan(5)
    },
    TIMEOUT_MS,
  )
})
