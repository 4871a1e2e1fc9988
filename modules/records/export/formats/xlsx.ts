import { Zip, type ZipInputFile } from 'fflate'
import { trimCharacters } from '../../../../src/core/trim-characters.ts'
import {
  combineCrc,
  compress,
  escapeXml,
  SHEET_END,
  SHEET_STYLES,
  sheetStart,
} from '../../../../src/record-files/index.ts'
import type { ExportFormat } from './format.ts'

/** A workbook (ECMA-376). The rows of its sheets come compressed. */
export const xlsx: ExportFormat = {
  name: 'xlsx',
  extension: 'xlsx',
  mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  write({ title, fields, pages }) {
    return zipped(async function* (open) {
      let sheets = 0
      const next = () => open(`xl/worksheets/sheet${++sheets}.xml`)
      const start = sheetStart(fields)
      let sheet = next()
      yield* sheet.add(compress(start))
      for await (const { pieces } of pages({ name: 'xlsx' })) {
        for (const { bytes, packed } of pieces) {
          if (!packed) throw new Error('A page of a workbook has to be compressed')
          if (packed.sheet === sheets) {
            yield* sheet.add(compress(SHEET_END, true), true)
            sheet = next()
            yield* sheet.add(compress(start))
          }
          yield* sheet.add({ bytes, ...packed })
        }
      }
      yield* sheet.add(compress(SHEET_END, true), true)
      for (const [path, part] of [...Object.entries(WORKBOOK_PARTS), ...workbookPart(title, sheets)])
        yield* open(path).add(compress(part, true), true)
    })
  },
}

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const SPREADSHEET = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships'
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const TYPES = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** Constant parts of a workbook. */
const WORKBOOK_PARTS: Record<string, string> = {
  '_rels/.rels': `${HEAD}<Relationships xmlns="${RELATIONS}"><Relationship Id="rId1" Type="${DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/styles.xml': SHEET_STYLES,
}

/** The parts that name the sheets. */
function workbookPart(title: string, sheets: number): [string, string][] {
  const numbers = Array.from({ length: sheets }, (_, at) => at + 1)
  const names = numbers.map((number) => sheetName(title, number))
  const list = numbers
    .map(
      (number, at) => `<sheet name="${escapeXml(names[at] ?? '')}" sheetId="${number}" r:id="rId${number}"/>`,
    )
    .join('')
  const relations = numbers
    .map((n) => `<Relationship Id="rId${n}" Type="${DOCUMENT}/worksheet" Target="worksheets/sheet${n}.xml"/>`)
    .join('')
  const overrides = numbers
    .map((n) => `<Override PartName="/xl/worksheets/sheet${n}.xml" ContentType="${TYPES}.worksheet+xml"/>`)
    .join('')
  return [
    [
      'xl/workbook.xml',
      `${HEAD}<workbook xmlns="${SPREADSHEET}" xmlns:r="${DOCUMENT}"><sheets>${list}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `${HEAD}<Relationships xmlns="${RELATIONS}">${relations}<Relationship Id="rId${sheets + 1}" Type="${DOCUMENT}/styles" Target="styles.xml"/></Relationships>`,
    ],
    [
      '[Content_Types].xml',
      `${HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPES}.sheet.main+xml"/>${overrides}<Override PartName="/xl/styles.xml" ContentType="${TYPES}.styles+xml"/></Types>`,
    ],
  ]
}

/** At most 31 characters, without those that Excel rejects, and not its reserved name. */
function sheetName(title: string, number: number): string {
  const suffix = number === 1 ? '' : ` (${number})`
  const plain = trimCharacters(title.replace(/[\\/?*[\]:]/g, ' '), "'").trim()
  const name = plain
    .slice(0, 31 - suffix.length)
    .trim()
    .toWellFormed()
  return `${name === '' || name.toLowerCase() === 'history' ? 'Sheet' : name}${suffix}`
}

/** A file inside an archive. */
interface ArchivedFile {
  /** Adds the next piece of it, and returns the archive’s bytes that are ready. */
  add(piece: ReturnType<typeof compress>, isLast?: boolean): Iterable<Uint8Array>
}

/** The method DEFLATE (APPNOTE.TXT of PKWARE, 4.4.5). */
const DEFLATE = 8

/**
 * An archive as it is made: `make` opens one file after the other and passes on what they give. Nothing is
 * kept but what was not yet taken.
 *
 * @throws what the archive or `make` throws
 */
async function* zipped(
  make: (open: (path: string) => ArchivedFile) => AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const ready: Uint8Array[] = []
  let failure: Error | null = null
  const zip = new Zip((error, bytes) => {
    if (error) failure = error
    else if (bytes.length > 0) ready.push(bytes)
  })
  const take = (): Uint8Array[] => {
    if (failure) throw failure
    return ready.splice(0)
  }
  const open = (filename: string): ArchivedFile => {
    const file: ZipInputFile = { filename, size: 0, crc: 0, compression: DEFLATE }
    zip.add(file)
    return {
      add({ bytes, size, crc }, isLast = false) {
        file.crc = combineCrc(file.crc, crc, size)
        file.size += size
        file.ondata?.(null, bytes, isLast)
        return take()
      },
    }
  }
  yield* make(open)
  zip.end()
  yield* take()
}
