import { posix } from 'node:path'
import { FileError } from '../../../../src/core/imports/file-error.ts'
import { m } from '../../../../src/messages.gen.ts'
import { type AnnotationCollector, createAnnotations } from './annotations.ts'
import { type Archive, openArchive } from './archive.ts'
import { builtInStyle, GENERAL, type NumberStyle, numberStyle, showNumber } from './number-style.ts'
import { createPlainCell, readPlainCell } from './plain-cell.ts'
import { createStringStore, type StringStore } from './string-store.ts'
import {
  type Annotations,
  columnOf,
  MAX_SHEET_COLUMNS,
  MAX_SHEET_ROWS,
  type Merge,
  parseMerge,
  type Sheet,
  type SheetBatch,
  type SheetRow,
  type Workbook,
} from './workbook.ts'
import { decodeReferences, parseXml, unescapeXml } from './xml.ts'

/** Longest text of a cell; Excel's limit is 32,767 characters. */
const MAX_CELL = 1_000_000
const MAX_MERGES = 100_000
const MAX_SHEETS = 1000
/** Characters of a comment that are read. */
const MAX_COMMENT = 10_000
/** Formats of cells; Excel’s limit is 65,490. */
const MAX_STYLES = 100_000
/** Parts that a part refers to: a workbook has one for each sheet, and few others. */
const MAX_RELATIONSHIPS = 100_000

/** Numbers that are their own plain text. */
const PLAIN = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/
/** Numbers that may have more digits than a double. */
const LONG_INTEGER = /^-?[1-9]\d{15,}$/

/** A formula for a link to a constant address. */
const LINK_FORMULA = /^\s*HYPERLINK\(\s*"([^"]+)"/i
/** Characters of a formula that are read; longer ones are none for links. */
const MAX_FORMULA = 4000

/** The end of a formula, which may be `<f t="shared" si="0"/>`, and the beginning of a stored number other than 0. */
const RESULT = /[f/]>\s{0,40}<(?:\w{1,20}:)?v>[0.]{0,50}[1-9-]/
/** Longest text that `RESULT` finds. */
const RESULT_LENGTH = 200

/**
 * Path of the workbook in an Office Open XML archive, which is read as a stream; null for another kind of file. Nearly all programs use the same name,
 * but only the relationship of the archive says it (ECMA-376 part 2, 9.3): some write `xl/workbook22.xml`.
 */
export async function workbookPart(archive: Archive): Promise<string | null> {
  if (archive.has('xl/workbook.xml')) return 'xl/workbook.xml'
  if (!archive.has('_rels/.rels')) return null
  const parts = [...(await readRelationships(archive, '')).values()]
  const part = parts.find(({ type }) => type.endsWith('/officeDocument'))?.part ?? ''
  const name = posix.basename(part).toLowerCase()
  return name.startsWith('workbook') && name.endsWith('.xml') && archive.has(part) ? part : null
}

/**
 * Opens an Office Open XML workbook (ECMA-376) in constant memory: sheets are streams, and shared strings go to
 * a temporary file where they are many.
 * @param workbook of `workbookPart`
 * @throws FileError
 */
export async function openXlsx(path: string, workbook: string): Promise<Workbook> {
  const archive = await openArchive(path)
  const strings = createStringStore()
  function close(): void {
    archive.close()
    strings.close()
  }
  try {
    const relationships = await readRelationships(archive, workbook)
    function partOf(type: string): string {
      const named = [...relationships.values()].find((each) => each.type.endsWith(`/${type}`))
      return named && archive.has(named.part) ? named.part : `xl/${type}.xml`
    }
    const { sheets, ...facts } = await readWorkbook(archive, workbook, relationships)
    const styles = await readStyles(archive, partOf('styles'))
    const tails = new Map<string, Promise<SheetTail>>()
    function tailOf(part: string): Promise<SheetTail> {
      const tail = tails.get(part) ?? readTail(archive, part)
      tails.set(part, tail)
      return tail
    }
    let isLoaded = false
    async function loadStrings(): Promise<StringStore> {
      if (!isLoaded) await readStrings(archive, partOf('sharedStrings'), strings)
      isLoaded = true
      return strings
    }
    return {
      close,
      sheets: sheets.map(({ name, isHidden, part }): Sheet => {
        const hiddenColumns = new Set<number>()
        let result: Promise<boolean> | undefined
        const hasResults = () => (result ??= findResult(archive, part))
        return {
          name,
          isHidden,
          size: archive.packedSize(part),
          hiddenColumns,
          merges: async () => (await tailOf(part)).merges,
          annotations: async () => readAnnotations(archive, part, await tailOf(part)),
          rows: () =>
            readRows(archive, { name, part, styles, ...facts, hiddenColumns, loadStrings, hasResults }),
        }
      }),
    }
  } catch (error) {
    close()
    throw error
  }
}

interface SheetPart {
  name: string
  isHidden: boolean
  /** Path in the archive. */
  part: string
}

interface WorkbookFacts {
  is1904: boolean
  /**
   * True if formulas have to be calculated by whoever opens the workbook. Programs that cannot do it store 0 for all of them; others, as
   * EPPlus, store results.
   */
  isUncalculated: boolean
}

async function readWorkbook(
  archive: Archive,
  workbook: string,
  relationships: ReadonlyMap<string, Relationship>,
): Promise<WorkbookFacts & { sheets: SheetPart[] }> {
  const facts = { is1904: false, isUncalculated: false }
  const sheets: SheetPart[] = []
  await parseAll(archive, workbook, {
    open(name, attributes) {
      if (name === 'workbookPr') facts.is1904 = isTrue(attributes.date1904)
      if (name === 'calcPr') facts.isUncalculated = isTrue(attributes.fullCalcOnLoad)
      if (name !== 'sheet') return
      if (sheets.length === MAX_SHEETS)
        throw new FileError(m.imports_error_workbook_sheets({ max: MAX_SHEETS }))
      const id = Object.entries(attributes).find(([key]) => /(?:^|:)id$/.test(key))?.[1] ?? ''
      const { type, part } = relationships.get(id) ?? { type: '', part: '' }
      // Sheets of charts and dialogs have no cells.
      if (type === '' ? !part.includes('worksheets/') : !type.endsWith('/worksheet')) return
      const isHidden = attributes.state === 'hidden' || attributes.state === 'veryHidden'
      sheets.push({ name: unescapeXml(attributes.name ?? ''), isHidden, part })
    },
  })
  return { ...facts, sheets }
}

/** A part that another one refers to. */
interface Relationship {
  /** An address that ends with the kind of the part. */
  type: string
  part: string
}

/** The parts that a part refers to, or the archive for '', by the id of the relationship. */
async function readRelationships(archive: Archive, from: string): Promise<ReadonlyMap<string, Relationship>> {
  const relationships = new Map<string, Relationship>()
  await parseAll(archive, relationshipsOf(from), {
    open(_, { Id, Target = '', Type = '' }) {
      if (Id === undefined) return
      if (relationships.size === MAX_RELATIONSHIPS)
        throw new FileError(m.imports_error_workbook_broken({ part: relationshipsOf(from) }))
      relationships.set(Id, { type: Type, part: partAt(Target, from) })
    },
  })
  return relationships
}

/** Styles of numbers, by the position that cells name. */
async function readStyles(archive: Archive, part: string): Promise<NumberStyle[]> {
  const own = new Map<number, NumberStyle>()
  const styles: NumberStyle[] = []
  let isCells = false
  if (!archive.has(part)) return styles
  await parseAll(archive, part, {
    open(name, { numFmtId = '', formatCode = '' }) {
      if (name === 'cellXfs') isCells = true
      if (name === 'numFmt') own.set(Number(numFmtId), numberStyle(formatCode))
      if (name !== 'xf' || !isCells) return
      if (styles.length === MAX_STYLES) throw new FileError(m.imports_error_workbook_broken({ part }))
      const id = Number(numFmtId)
      styles.push(own.get(id) ?? builtInStyle(id))
    },
    close(name) {
      if (name === 'cellXfs') isCells = false
    },
  })
  return styles
}

async function parseAll(
  archive: Archive,
  part: string,
  handlers: Parameters<typeof parseXml>[2],
): Promise<void> {
  for await (const _ of parseXml(archive.read(part), part, handlers));
}

/** Texts that cells share. Phonetic guides are no part of the text. */
async function readStrings(archive: Archive, part: string, strings: StringStore): Promise<void> {
  if (!archive.has(part)) return
  let text = ''
  let isText = false
  let isPhonetic = false
  await parseAll(archive, part, {
    open(name) {
      if (name === 'si') text = ''
      else if (name === 'rPh') isPhonetic = true
      isText = name === 't' && !isPhonetic
    },
    text(piece) {
      if (isText) text += piece
    },
    close(name) {
      isText = false
      if (name === 'rPh') isPhonetic = false
      if (name === 'si') strings.add(unescapeXml(text))
    },
  })
}

const isTrue = (text: string | undefined): boolean => /^(?:1|true)$/i.test(text ?? '')

interface RowsOptions extends WorkbookFacts {
  name: string
  part: string
  styles: NumberStyle[]
  /** Gets the columns that the sheet does not show. */
  hiddenColumns: Set<number>
  loadStrings(): Promise<StringStore>
  /** True if a formula of the sheet has a stored number other than 0. */
  hasResults(): Promise<boolean>
}

async function* readRows(archive: Archive, options: RowsOptions): AsyncGenerator<SheetBatch> {
  const { name: sheetName, part, styles, is1904, isUncalculated, hiddenColumns } = options
  const strings = await options.loadStrings()
  let rows: SheetRow[] = []
  let row: SheetRow | null = null
  let lastNumber = 0
  let column = -1
  let isCell = false
  let type = ''
  let style = GENERAL
  let text = ''
  let isText = false
  let isPhonetic = false
  let hasFormula = false
  let hasValue = false
  let isFormula = false
  let formula = ''
  /** Formulas with a stored 0 in a workbook that has to be calculated. */
  let zeros: { row: SheetRow; column: number }[] = []

  function openRow({ r, hidden }: Record<string, string>): void {
    const given = Number(r)
    // Some writers leave out the number, or repeat one.
    const number = Number.isInteger(given) && given > lastNumber ? given : lastNumber + 1
    if (number > MAX_SHEET_ROWS) throw new FileError(m.imports_error_workbook_broken({ part: sheetName }))
    lastNumber = number
    row = { number, cells: [], kinds: [], ...(isTrue(hidden) && { isHidden: true }) }
    column = -1
  }

  function noteColumns({ min, max, hidden }: Record<string, string>): void {
    if (!isTrue(hidden)) return
    const last = Math.min(Number(max), MAX_SHEET_COLUMNS)
    for (let at = Math.max(1, Number(min)); at <= last; at++) hiddenColumns.add(at - 1)
  }

  function numberText(written: string, numberStyle: NumberStyle): string {
    // Nearly all numbers, as they are: a conversion takes longer than all else here.
    if (numberStyle === GENERAL && PLAIN.test(written)) return written
    const value = Number(written)
    if (numberStyle.kind === 'number' && !Number.isSafeInteger(value) && LONG_INTEGER.test(written))
      return written
    return Number.isFinite(value) ? showNumber(value, numberStyle, is1904) : written
  }

  function closeCell(cellRow: SheetRow): void {
    const [, target] = formula === '' ? [] : (LINK_FORMULA.exec(formula) ?? [])
    if (target !== undefined) {
      cellRow.links ??= []
      cellRow.links[column] = target
    }
    if (!hasValue || text === '') {
      if (hasFormula && type !== 'str') putUncalculated(cellRow, column)
      return
    }
    if (hasFormula && isUncalculated && isZero(type, text)) zeros.push({ row: cellRow, column })
    putValue(cellRow)
  }

  function stringAt(at: number): string {
    const string = Number.isInteger(at) ? strings.get(at) : undefined
    if (string === undefined) throw new FileError(m.imports_error_workbook_broken({ part: sheetName }))
    return string
  }

  /** Gives the cell its value, by `type`, `style` and `text`. */
  function putValue({ cells, kinds }: SheetRow): void {
    switch (type) {
      case 's':
        cells[column] = stringAt(Number(text))
        kinds[column] = 'text'
        break
      case 'b':
        cells[column] = text.trim() === '1' ? 'true' : 'false'
        kinds[column] = 'boolean'
        break
      case 'e':
        cells[column] = text
        kinds[column] = 'error'
        break
      case '':
      case 'n': {
        cells[column] = numberText(text, style)
        kinds[column] = style
        break
      }
      default:
        // Inline text, the text of a formula, and dates in ISO form.
        cells[column] = type === 'd' ? text.replace('T', ' ') : unescapeXml(text)
        kinds[column] = 'text'
    }
  }

  const plainCell = createPlainCell()

  const handlers: Parameters<typeof parseXml>[2] = {
    element(source, from) {
      if (row === null || isCell) return -1
      const end = readPlainCell(source, from, plainCell)
      if (end < 0 || end - from > MAX_CELL) return -1
      column = plainCell.column === -1 ? column + 1 : plainCell.column
      type = plainCell.type
      if (plainCell.text === null || plainCell.text === '') return end
      style = styles[Math.max(0, plainCell.style)] ?? GENERAL
      text = plainCell.text.includes('&') ? decodeReferences(plainCell.text, sheetName) : plainCell.text
      putValue(row)
      return end
    },
    open(name, attributes) {
      if (name === 'c') {
        const { r, s, t = '' } = attributes
        const at = r === undefined ? -1 : columnOf(r)
        column = at === -1 ? column + 1 : at
        type = t
        style = (s === undefined ? styles[0] : styles[Number(s)]) ?? GENERAL
        text = ''
        isCell = true
        hasFormula = false
        hasValue = false
        formula = ''
      } else if (name === 'v' || name === 't') {
        isText = !isPhonetic
        hasValue = true
      } else if (name === 'row') openRow(attributes)
      else if (name === 'col') noteColumns(attributes)
      else if (name === 'f') {
        hasFormula = true
        isFormula = true
      } else if (name === 'rPh') isPhonetic = true
    },
    text(piece) {
      if (isFormula && formula.length < MAX_FORMULA) formula += piece
      if (!isText) return
      text += piece
      if (text.length > MAX_CELL)
        throw new FileError(m.imports_error_long_cell({ row: lastNumber, sheet: sheetName }))
    },
    close(name) {
      if (name === 'v' || name === 't') isText = false
      else if (name === 'f') isFormula = false
      else if (name === 'rPh') isPhonetic = false
      else if (name === 'c') {
        isCell = false
        if (row) closeCell(row)
      } else if (name === 'row' && row) {
        if (row.cells.length > 0) rows.push(row)
        row = null
      }
    },
  }
  let done = 0
  const chunks = archive.read(part, (packed) => {
    done = packed
  })
  for await (const _ of parseXml(chunks, sheetName, handlers)) {
    if (zeros.length > 0 && !(await options.hasResults())) {
      for (const zero of zeros) putUncalculated(zero.row, zero.column)
    }
    zeros = []
    if (rows.length === 0) continue
    yield { rows, done }
    rows = []
  }
}

/** Of a formula for a link, the address is known. */
function putUncalculated({ cells, kinds, links }: SheetRow, column: number): void {
  const target = links?.[column]
  cells[column] = target ?? ''
  kinds[column] = target === undefined ? 'uncalculated' : 'text'
}

/** True for the value that programs store for a formula that they cannot calculate; PhpSpreadsheet stores it as a text. */
const isZero = (type: string, text: string): boolean =>
  (type === '' || type === 'n' || type === 'str') && /^0(?:\.0{1,20})?$/.test(text)

/** True if a formula of a sheet has a stored number other than 0. Looks for one without parsing the XML. */
async function findResult(archive: Archive, part: string): Promise<boolean> {
  let rest = ''
  for await (const chunk of archive.read(part)) {
    const text = rest + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')
    if (RESULT.test(text)) return true
    rest = text.slice(-RESULT_LENGTH)
  }
  return false
}

/** What a sheet has after its rows. */
interface SheetTail {
  merges: Merge[]
  /** Ranges with links, by the id of the relationship that has the target, and the place in it. */
  links: { range: Merge; id: string; location: string }[]
}

const TAGS = ['mergeCell ', 'hyperlink '] as const
const REFERENCE = /\sref="([A-Z0-9:]{1,30})"/
const RELATIONSHIP = /\s(?:\w+:)?id="([^"]{1,100})"/
const LOCATION = /\slocation="([^"]{1,2100})"/
/** Longest tag of a link: texts of up to 255 characters, and addresses of 2,083, with references for some. */
const OVERLAP = 8000

/** Merged ranges and links come after the rows, so they are looked for in a pass of their own, without parsing the XML. */
async function readTail(archive: Archive, part: string): Promise<SheetTail> {
  const tail: SheetTail = { merges: [], links: [] }
  let rest = Buffer.alloc(0)
  for await (const chunk of archive.read(part)) {
    const bytes = Buffer.concat([rest, chunk])
    rest = bytes.subarray(Math.max(0, bytes.length - OVERLAP))
    const tags = TAGS.filter((tag) => bytes.includes(tag))
    if (tags.length === 0) continue
    const text = bytes.toString('latin1')
    let end = 0
    for (const name of tags) {
      for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
        const tag = text.slice(at, at + OVERLAP)
        const length = tag.indexOf('>')
        if (length < 0) continue
        end = Math.max(end, at + length)
        const reference = REFERENCE.exec(tag.slice(0, length))?.[1] ?? ''
        const range = parseMerge(reference.includes(':') ? reference : `${reference}:${reference}`)
        if (range === null) continue
        if (name === 'mergeCell ') {
          if (tail.merges.length < MAX_MERGES) tail.merges.push(range)
          continue
        }
        const id = RELATIONSHIP.exec(tag.slice(0, length))?.[1]
        if (id === undefined || tail.links.length === MAX_MERGES) continue
        const written = Buffer.from(LOCATION.exec(tag.slice(0, length))?.[1] ?? '', 'latin1').toString()
        tail.links.push({ range, id, location: decodeReferences(written, part) })
      }
    }
    rest = bytes.subarray(Math.max(end, bytes.length - OVERLAP))
  }
  return tail
}

/** The path of the relationships of a part, or of the archive for ''. */
const relationshipsOf = (part: string): string =>
  posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`)

/** The path of a part that another one refers to. */
const partAt = (target: string, from: string): string =>
  target.startsWith('/') ? target.slice(1) : posix.join(posix.dirname(from), target)

async function readAnnotations(archive: Archive, part: string, { links }: SheetTail): Promise<Annotations> {
  const annotations = createAnnotations()
  const rels = relationshipsOf(part)
  if (!archive.has(rels)) return annotations
  const targets = new Map<string, string>()
  let comments = ''
  await parseAll(archive, rels, {
    open(_, { Id, Target = '', TargetMode, Type = '' }) {
      if (Id !== undefined && TargetMode === 'External' && targets.size < MAX_MERGES) targets.set(Id, Target)
      if (Type.endsWith('/comments')) comments = partAt(Target, part)
    },
  })
  for (const { range, id, location } of links) {
    const target = targets.get(id)
    if (target === undefined) continue
    // Excel keeps what follows the `#` of an address apart.
    const isWhole = location === '' || target.includes('#')
    annotations.addLink(range, isWhole ? target : `${target}#${location}`)
  }
  if (archive.has(comments)) await readComments(archive, comments, annotations)
  return annotations
}

async function readComments(archive: Archive, part: string, annotations: AnnotationCollector): Promise<void> {
  let reference = ''
  let text = ''
  let isText = false
  await parseAll(archive, part, {
    open(name, { ref = '' }) {
      if (name === 'comment') {
        reference = ref
        text = ''
      }
      isText = name === 't'
    },
    text(piece) {
      if (isText && text.length < MAX_COMMENT) text += piece
    },
    close(name) {
      isText = false
      const cell = name === 'comment' ? parseMerge(`${reference}:${reference}`) : null
      if (cell) annotations.addComment(cell.firstRow + 1, cell.column, unescapeXml(text))
    },
  })
}
