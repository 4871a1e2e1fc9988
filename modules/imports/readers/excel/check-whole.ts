import { FileError } from '../../../../src/core/imports/file-error.ts'
import { m } from '../../../../src/messages.gen.ts'
import type { Archive } from './archive.ts'
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
 * @throws FileError for a file that is larger than it says, for names that occur twice, and as `checkOpenDocument`
 */
export async function checkArchive(archive: Archive): Promise<void> {
  if (archive.isAmbiguous) throw new FileError(m.imports_error_archive_broken())
  for (const name of archive.names()) {
    if (name === CONTENT) await checkOpenDocument(archive.read(name), name)
    else for await (const _ of archive.read(name));
  }
}

/** The part of an OpenDocument archive with its sheets. */
const CONTENT = 'content.xml'

/** Counts the cells of an OpenDocument spreadsheet. @throws FileError for too many, and as `parseXml` */
export async function checkOpenDocument(chunks: AsyncIterable<Uint8Array>, part: string): Promise<void> {
  let cells = 0
  let spaces = 0
  /** Cells of the row that are not empty, and how often the row is repeated. */
  let [inRow, rowRepeats] = [0, 1]
  let cell: { repeats: number; isFilled: boolean } | null = null
  const parsed = parseXml(chunks, part, {
    open(name, attributes) {
      if (name === 'table-row') [inRow, rowRepeats] = [0, numberIn(attributes, 'number-rows-repeated')]
      else if (name === 'table-cell' || name === 'covered-table-cell') {
        const repeats = numberIn(attributes, 'number-columns-repeated')
        cell = { repeats, isFilled: isStated(attributes, 'value-type') || isStated(attributes, 'formula') }
      } else if (name === 's') spaces += numberIn(attributes, 'c')
      else if (cell) cell.isFilled = true
    },
    close(name) {
      if (name === 'table-row') {
        cells += inRow * rowRepeats
      } else if (name === 'table-cell' || name === 'covered-table-cell') {
        if (cell?.isFilled) inRow += cell.repeats
        cell = null
      }
    },
  })
  for await (const _ of parsed) {
    if (cells > MAX_CELLS || spaces > MAX_SPACES)
      throw new FileError(m.imports_error_workbook_cells({ max: MAX_CELLS }))
  }
}

/** The number in an attribute, whatever the prefix of its name; 1 without one. */
function numberIn(attributes: Record<string, string>, name: string): number {
  for (const key in attributes) if (isNamed(key, name)) return Number(attributes[key]) || 1
  return 1
}

function isStated(attributes: Record<string, string>, name: string): boolean {
  for (const key in attributes) if (isNamed(key, name)) return true
  return false
}

const isNamed = (key: string, name: string): boolean => key === name || key.endsWith(`:${name}`)
