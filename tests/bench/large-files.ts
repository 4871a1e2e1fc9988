import { join } from 'node:path'
import { strToU8, Zip, ZipDeflate } from 'fflate'
import type { ImportFormat } from '../../src/core/imports/format.ts'
import type { Column } from '../imports/support.ts'

/** Nine columns of the kinds that large workbooks have. */
export const LARGE_COLUMNS: Column[] = [
  { title: 'Number', type: 'Number' },
  { title: 'Customer' },
  { title: 'City' },
  { title: 'State', type: 'SingleSelect', options: { choices: [] } },
  { title: 'Price', type: 'Decimal' },
  { title: 'Due', type: 'Date' },
  { title: 'Seen', type: 'DateTime' },
  { title: 'Done', type: 'Checkbox' },
  { title: 'Note', type: 'LongText' },
]

export const LARGE_WORKBOOK: ImportFormat = {
  kind: 'excel',
  sheet: 0,
  titleRow: 1,
  firstRow: 2,
  firstColumn: 0,
  decimal: '.',
}

const TITLES = LARGE_COLUMNS.map(({ title }) => title)
const CITIES = Array.from({ length: 977 }, (_, n) => `City & Port ${n}`)
const STATES = ['open', 'closed', 'waiting']
/** Texts that many cells share. Those of single cells follow, as spreadsheet programs write them. */
const COMMON = [...TITLES, ...CITIES, ...STATES]

/** Days since 30 December 1899, where spreadsheets begin. */
const FIRST_DAY = 40_000
const EPOCH_MS = Date.UTC(1899, 11, 30)
const DAY_MS = 86_400_000

interface LargeRow {
  city: number
  state: number
  price: number
  day: number
  second: number
  isDone: boolean
  note: string
}

const customerAt = (position: number): string => `Customer ${position} of ${(position * 104_729) % 100_003}`

/** The order of the customers is not that of the rows, as if the sheet had been sorted. */
const customerOf = (n: number, rows: number): number => (n * 7919) % rows

const rowAt = (n: number): LargeRow => ({
  city: (n * 31) % CITIES.length,
  state: n % STATES.length,
  price: (n % 1_000_003) / 100,
  day: FIRST_DAY + (n % 5000),
  second: (n * 37) % 86_400,
  isDone: n % 2 === 0,
  note: `Delivered to the back door, call ${n} beforehand; it is "fragile".`,
})

function csvLine(n: number, rows: number): string {
  const { city, state, price, day, second, isDone, note } = rowAt(n)
  const moment = new Date(EPOCH_MS + day * DAY_MS + second * 1000).toISOString()
  const [date, clock] = [moment.slice(0, 10), moment.slice(11, 19)]
  return `${n},${customerAt(customerOf(n, rows))},${CITIES[city]},${STATES[state]},${price},${date},${date} ${clock},${isDone},"${note.replaceAll('"', '""')}"\n`
}

/** The positions of the styles of amounts, days and moments. */
const STYLES =
  '<styleSheet><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>' +
  '<cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="4"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>'

function xmlRow(n: number, rows: number): string {
  const { city, state, price, day, second, isDone, note } = rowAt(n)
  const r = n + 2
  const cityAt = TITLES.length + city
  const stateAt = TITLES.length + CITIES.length + state
  return (
    `<row r="${r}" spans="1:9"><c r="A${r}"><v>${n}</v></c><c r="B${r}" t="s"><v>${COMMON.length + customerOf(n, rows)}</v></c>` +
    `<c r="C${r}" t="s"><v>${cityAt}</v></c><c r="D${r}" t="s"><v>${stateAt}</v></c><c r="E${r}" s="1"><v>${price}</v></c>` +
    `<c r="F${r}" s="2"><v>${day}</v></c><c r="G${r}" s="3"><v>${day + second / 86_400}</v></c><c r="H${r}" t="b"><v>${isDone ? 1 : 0}</v></c>` +
    `<c r="I${r}" t="inlineStr"><is><t xml:space="preserve">${note.replaceAll('"', '&quot;')}</t></is></c></row>`
  )
}

const stringItem = (text: string): string => `<si><t>${text.replaceAll('&', '&amp;')}</t></si>`

/** The text of the n-th item. */
type ItemAt = (n: number, rows: number) => string

/** Items that are made at a time. */
const PIECE = 5000

/** Writes the same rows as CSV and as a workbook with shared and inline texts, references and styles, without holding them. */
export async function makeLargeFiles(folder: string, rows: number): Promise<{ csv: string; xlsx: string }> {
  const [csv, xlsx] = [join(folder, 'large.csv'), join(folder, 'large.xlsx')]
  await writePieces(csv, rows)
  const file = Bun.file(xlsx).writer()
  const zip = new Zip((error, bytes) => {
    if (error) throw error
    void file.write(bytes)
  })
  async function part(name: string, before: string, itemAt: ItemAt | null, after = '') {
    const entry = new ZipDeflate(name, { level: 1 })
    zip.add(entry)
    entry.push(strToU8(before))
    for (let from = 0; itemAt !== null && from < rows; from += PIECE) {
      entry.push(strToU8(pieceOf(itemAt, from, rows)))
      await file.flush()
    }
    entry.push(strToU8(after), true)
  }
  await part('[Content_Types].xml', '<Types/>', null)
  await part(
    'xl/_rels/workbook.xml.rels',
    '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
    null,
  )
  await part(
    'xl/workbook.xml',
    '<workbook><sheets><sheet name="Large" sheetId="1" r:id="rId1"/></sheets></workbook>',
    null,
  )
  const titles = TITLES.map((_, at) => `<c r="${String.fromCharCode(65 + at)}1" t="s"><v>${at}</v></c>`)
  await part(
    'xl/worksheets/sheet1.xml',
    `<worksheet><sheetData><row r="1" spans="1:9">${titles.join('')}</row>`,
    xmlRow,
    '</sheetData></worksheet>',
  )
  await part('xl/styles.xml', STYLES, null)
  await part(
    'xl/sharedStrings.xml',
    `<sst>${COMMON.map(stringItem).join('')}`,
    (n) => stringItem(customerAt(n)),
    '</sst>',
  )
  zip.end()
  await file.end()
  return { csv, xlsx }
}

async function writePieces(path: string, rows: number): Promise<void> {
  const file = Bun.file(path).writer()
  void file.write(`${TITLES.join(',')}\n`)
  for (let from = 0; from < rows; from += PIECE) {
    void file.write(pieceOf(csvLine, from, rows))
    await file.flush()
  }
  await file.end()
}

function pieceOf(itemAt: ItemAt, from: number, rows: number): string {
  let text = ''
  for (let n = from; n < Math.min(rows, from + PIECE); n++) text += itemAt(n, rows)
  return text
}
