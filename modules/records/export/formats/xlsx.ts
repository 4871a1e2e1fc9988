import { trimCharacters } from '../../../../src/core/trim-characters.ts'
import {
  compress,
  escapeXml,
  SHEET_END,
  sheetStart,
  workbookStyles,
} from '../../../../src/record-files/index.ts'
import type { ExportContent, ExportFormat } from './format.ts'
import { zipped } from './zip.ts'

const FILE = {
  extension: 'xlsx',
  mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}

/**
 * A workbook (ECMA-376) with a sheet for each table, and more for tables that do not fit into one. The rows of its
 * sheets come compressed.
 */
export const xlsx: ExportFormat = {
  name: 'xlsx',
  ...FILE,
  write: (content) => workbook([content]),
  ofTables: { ...FILE, write: workbook },
}

function workbook(contents: readonly ExportContent[]): AsyncIterable<Uint8Array> {
  const { xml, styles } = workbookStyles(contents.map(({ fields }) => fields))
  return zipped(async function* (open) {
    const names = createSheetNames()
    const next = (title: string) => open(`xl/worksheets/sheet${names.add(title)}.xml`)
    for (const [at, { title, fields, pages }] of contents.entries()) {
      const start = sheetStart(fields)
      let sheets = 1
      let sheet = next(title)
      yield* sheet.add(compress(start))
      for await (const { pieces } of pages({ name: 'xlsx', styles: styles[at] ?? [] })) {
        for (const { bytes, packed } of pieces) {
          if (!packed) throw new Error('A page of a workbook has to be compressed')
          if (packed.sheet === sheets) {
            yield* sheet.end(compress(SHEET_END, true))
            sheets++
            sheet = next(title)
            yield* sheet.add(compress(start))
          }
          yield* sheet.add({ bytes, ...packed })
        }
      }
      yield* sheet.end(compress(SHEET_END, true))
    }
    const parts = { ...CONSTANT_PARTS, 'xl/styles.xml': xml, ...workbookParts(names.all) }
    for (const [path, part] of Object.entries(parts)) yield* open(path).end(compress(part, true))
  })
}

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const SPREADSHEET = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships'
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const TYPES = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** Parts that all workbooks have. */
const CONSTANT_PARTS = {
  '_rels/.rels': `${HEAD}<Relationships xmlns="${RELATIONS}"><Relationship Id="rId1" Type="${DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
}

/** The parts that name the sheets. */
function workbookParts(names: readonly string[]): Record<string, string> {
  const listed = (text: (number: number, name: string) => string) =>
    names.map((name, at) => text(at + 1, name)).join('')
  const list = listed((n, name) => `<sheet name="${escapeXml(name)}" sheetId="${n}" r:id="rId${n}"/>`)
  const relations = listed(
    (n) => `<Relationship Id="rId${n}" Type="${DOCUMENT}/worksheet" Target="worksheets/sheet${n}.xml"/>`,
  )
  const overrides = listed(
    (n) => `<Override PartName="/xl/worksheets/sheet${n}.xml" ContentType="${TYPES}.worksheet+xml"/>`,
  )
  return {
    'xl/workbook.xml': `${HEAD}<workbook xmlns="${SPREADSHEET}" xmlns:r="${DOCUMENT}"><sheets>${list}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${HEAD}<Relationships xmlns="${RELATIONS}">${relations}<Relationship Id="rId${names.length + 1}" Type="${DOCUMENT}/styles" Target="styles.xml"/></Relationships>`,
    '[Content_Types].xml': `${HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPES}.sheet.main+xml"/>${overrides}<Override PartName="/xl/styles.xml" ContentType="${TYPES}.styles+xml"/></Types>`,
  }
}

/** Length limit of a sheet’s name. */
const MAX_SHEET_NAME = 31

/**
 * Names of sheets: at most 31 characters, without those that Excel rejects, not its reserved name, and each once whatever
 * its case. Repeated titles and further sheets of a table get a number: `Tasks (2)`.
 */
function createSheetNames() {
  const all: string[] = []
  const taken = new Set<string>()
  return {
    all,
    /** @returns the number of the sheet */
    add(title: string): number {
      const plain = trimCharacters(title.replace(/[\\/?*[\]:]/g, ' '), "'").trim()
      for (let number = 1; ; number++) {
        const suffix = number === 1 ? '' : ` (${number})`
        const cut = trimCharacters(plain.slice(0, MAX_SHEET_NAME - suffix.length), "' ").toWellFormed()
        const name = `${cut === '' || cut.toLowerCase() === 'history' ? 'Sheet' : cut}${suffix}`
        if (taken.has(name.toLowerCase())) continue
        taken.add(name.toLowerCase())
        return all.push(name)
      }
    },
  }
}
