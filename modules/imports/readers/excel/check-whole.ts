import { FileError } from '../../../../src/core/imports/file-error.ts'
import { m } from '../../../../src/messages.gen.ts'
import type { Archive } from './archive.ts'
import { createOpenDocumentFacts, type OpenDocumentFacts } from './open-document-facts.ts'
import { parseXml } from './xml.ts'

/*
 * Checks of workbooks before a library reads them into memory whole: it trusts the sizes and repetitions that they state.
 */

/** Cells of a workbook, with repeated ones: more would not fit into memory, and 40 MB of other cells are fewer. */
const MAX_CELLS = 5_000_000
/** Spaces that a workbook writes as their number. */
const MAX_SPACES = 10_000_000

/**
 * Reads every file of an archive once.
 *
 * @returns null for a workbook that is no OpenDocument spreadsheet
 * @throws FileError for a file that is larger than it says, for names that occur twice, and as `checkOpenDocument`
 */
export async function checkArchive(archive: Archive): Promise<OpenDocumentFacts | null> {
  if (archive.isAmbiguous) throw new FileError(m.imports_error_archive_broken())
  let facts: OpenDocumentFacts | null = null
  for (const name of archive.names()) {
    if (name === CONTENT) facts = await checkOpenDocument(archive.read(name), name)
    else for await (const _ of archive.read(name));
  }
  return facts
}

/** The part of an OpenDocument archive with its sheets. */
const CONTENT = 'content.xml'

/** Elements of rows and of cells. The library also knows those of UOF, the Chinese format. */
const ROWS = new Set(['table-row', '行'])
const CELLS = new Set(['table-cell', 'covered-table-cell', '数据'])
/** Attributes of cells with a value. */
const OF_VALUES = new Set(['value-type', '数据类型', 'formula'])
/** Remembered names of attributes. */
const MAX_NAMES = 1000

/**
 * Counts the cells of an OpenDocument spreadsheet as the library makes them: when a cell ends, for as many columns and rows as were
 * stated last, and collects what it does not read.
 *
 * @throws FileError for too many, and as `parseXml`
 */
export async function checkOpenDocument(
  chunks: AsyncIterable<Uint8Array>,
  part: string,
): Promise<OpenDocumentFacts> {
  let cells = 0
  let spaces = 0
  const sheets = createOpenDocumentFacts()
  const row = { depth: 0, repeats: 1 }
  const cell = { depth: 0, repeats: 1, isFilled: false }

  function begin(of: { depth: number; repeats: number }, repeats: number): void {
    of.repeats = of.depth === 0 ? repeats : Math.max(of.repeats, repeats)
    of.depth++
  }

  const parsed = parseXml(chunks, part, {
    isStrict: true,
    open(written, attributes) {
      const name = nameAsRead(written)
      const isWithinCell = cell.depth > 0
      sheets.open(name, attributes)
      if (ROWS.has(name)) begin(row, repeatsIn(attributes, 'number-rows-repeated'))
      else if (CELLS.has(name)) {
        begin(cell, repeatsIn(attributes, 'number-columns-repeated'))
        cell.isFilled = hasAny(attributes, OF_VALUES)
      } else if (name === 's') spaces += repeatsIn(attributes, 'c')
      cell.isFilled ||= isWithinCell
    },
    text: sheets.text,
    close(written) {
      const name = nameAsRead(written)
      sheets.close(name, { rows: row.repeats, columns: cell.repeats })
      if (ROWS.has(name)) row.depth--
      else if (CELLS.has(name)) {
        if (cell.isFilled) cells += cell.repeats * row.repeats
        cell.depth--
      }
      if (row.depth === 0) row.repeats = 1
    },
  })
  for await (const _ of parsed) {
    if (cells > MAX_CELLS || spaces > MAX_SPACES)
      throw new FileError(m.imports_error_workbook_cells({ max: MAX_CELLS }))
  }
  return sheets.facts
}

/** The library reads no more of a name than what is before an underscore. */
const nameAsRead = (name: string): string => name.split('_', 1)[0] ?? ''

/** Names of attributes as the library reads them, in any case, by how they are written. */
const attributeNames = new Map<string, string>()

function attributeName(written: string): string {
  const known = attributeNames.get(written)
  if (known !== undefined) return known
  if (attributeNames.size === MAX_NAMES) attributeNames.clear()
  const lower = written.trim().toLowerCase()
  const name = lower.includes(':') ? lower.slice(lower.indexOf(':') + 1) : nameAsRead(lower)
  attributeNames.set(written, name)
  return name
}

const hasAny = (attributes: Record<string, string>, names: ReadonlySet<string>): boolean => {
  for (const key in attributes) if (names.has(attributeName(key))) return true
  return false
}

/** The largest number that an attribute may be read as; 1 without one. */
function repeatsIn(attributes: Record<string, string>, name: string): number {
  let most = 1
  for (const key in attributes) {
    if (attributeName(key) !== name) continue
    const text = attributes[key] ?? ''
    most = Math.max(most, Math.ceil(Number(text)) || 1, Number.parseInt(text, 10) || 1)
  }
  return most
}
