import { isUrl } from '../../../../src/core/fields/checked-text.ts'
import { m } from '../../../../src/messages.gen.ts'
import { copyText } from '../copy-text.ts'
import type { RowProblem } from '../reader.ts'
import { type Annotations, type CellComment, MAX_SHEET_COLUMNS, type Merge } from './workbook.ts'

/** Links of a sheet that are read; Excel's limit is 65,530. */
const MAX_LINKS = 100_000
/** Comments of a sheet whose texts are reported; more are counted. */
const MAX_COMMENTS = 1000

/** Collects the links and comments of a sheet. */
export interface AnnotationCollector extends Annotations {
  addLink(range: Merge, target: string): void
  addComment(row: number, column: number, text: string): void
}

export function createAnnotations(): AnnotationCollector {
  const links = new Map<number, string>()
  const comments: CellComment[] = []
  let commentCount = 0
  const keyOf = (row: number, column: number) => row * MAX_SHEET_COLUMNS + column
  return {
    comments,
    get commentCount() {
      return commentCount
    },
    get hasLinks() {
      return links.size > 0
    },
    linkOf: (row, column) => links.get(keyOf(row, column)),
    addLink({ firstRow, lastRow, column: firstColumn, lastColumn }, target) {
      for (let row = firstRow + 1; row <= lastRow + 1; row++) {
        for (let column = firstColumn; column <= lastColumn; column++) {
          if (links.size === MAX_LINKS) return
          links.set(keyOf(row, column), target)
        }
      }
    },
    addComment(row, column, text) {
      commentCount++
      if (comments.length < MAX_COMMENTS) comments.push({ row, column, text: text.trim() })
    },
  }
}

/** True if a text is the address of its link, perhaps without its beginning: `www.example.org` and `http://www.example.org/`. */
export const isOwnAddress = (text: string, target: string): boolean =>
  bareAddress(text) === bareAddress(target)

const bareAddress = (text: string): string =>
  text
    .trim()
    .replace(/^(?:https?:\/\/|mailto:|tel:)/i, '')
    .replace(/\/$/, '')
    .toLowerCase()

/** The text of a cell with a link in a column of addresses: the address, unless the text is one. */
export const addressOf = (text: string, target: string): string =>
  isUrl(text.trim()) || !isUrl(target, { scheme: 'required' }) ? text : target

/** Counts the links of each column that an import leaves out, and those of columns of which nothing else tells. */
export interface LinkCount {
  /** @param target undefined for a cell without a link */
  add(index: number, row: number, text: string, target: string | undefined): void
  /** Notes a cell of a column of addresses whose text is left out. */
  addText(index: number, row: number, text: string): void
  /** Notes that a row has no links at all. */
  addPlainRow(): void
  /** Columns whose cells all have links behind the same text, such as `Open`. */
  columnsOfLinks(): number[]
  /** By column: cells with links that their texts do not show. */
  counts(): readonly number[]
  problems(titleOf: (index: number) => string): RowProblem[]
}

interface ColumnLinks {
  count: number
  row: number
  target: string
  /** The text of all cells; null once they differ or one has no link. */
  text: string | null
}

/** The texts of a column of addresses. */
interface ColumnTexts {
  count: number
  row: number
  text: string
  /** True once two texts differ. */
  differ: boolean
}

export function createLinkCount(): LinkCount {
  const columns: ColumnLinks[] = []
  const texts: ColumnTexts[] = []
  let hasPlainRows = false
  return {
    addPlainRow() {
      if (hasPlainRows) return
      hasPlainRows = true
      for (const column of columns) if (column) column.text = null
    },
    addText(index, row, text) {
      const known = texts[index] ?? { count: 0, row, text: copyText(text), differ: false }
      texts[index] = known
      known.count++
      if (known.text !== text) known.differ = true
    },
    add(index, row, text, target) {
      const known = columns[index]
      if (target === undefined) {
        if (known) known.text = null
        else columns[index] = { count: 0, row, target: '', text: null }
        return
      }
      const isShown = isOwnAddress(text, target)
      const column = known ?? { count: 0, row, target, text: isShown || hasPlainRows ? null : text }
      columns[index] = column
      if (column.text !== text) column.text = null
      if (isShown) return
      if (column.count++ === 0) Object.assign(column, { row, target })
    },
    columnsOfLinks: () =>
      columns.flatMap(({ text, count }, index) => (text !== null && count > 1 ? [index] : [])),
    counts: () => Array.from(columns, (column) => column?.count ?? 0),
    problems(titleOf) {
      const problems: RowProblem[] = []
      const report = (index: number, row: number, value: string, reason: string) =>
        problems.push({ index, row, column: titleOf(index), value, reason })
      columns.forEach(({ count, row, target }, index) => {
        if (count > 0) report(index, row, target, m.imports_report_links({ count }))
      })
      texts.forEach(({ count, row, text, differ }, index) => {
        // A text that all have, such as “Open”, tells nothing.
        if (differ || count === 1) report(index, row, text, m.imports_report_link_texts({ count }))
      })
      return problems
    },
  }
}

/** Report lines for the comments of a sheet. */
export function commentProblems(
  { comments, commentCount }: Annotations,
  titleOf: (column: number) => string,
): RowProblem[] {
  const lines = comments.map(({ row, column, text }): RowProblem => {
    return { row, column: titleOf(column), value: text, reason: m.imports_report_comment() }
  })
  const more = commentCount - comments.length
  const last = comments.at(-1)
  if (more === 0 || !last) return lines
  return [
    ...lines,
    { row: last.row, column: '', value: '', reason: m.imports_report_comments({ count: more }) },
  ]
}
