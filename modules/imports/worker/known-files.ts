import type { AttachmentOptions } from '../../../src/core/fields/attachment.ts'
import { limitProblem } from '../../../src/core/fields/attachment.ts'
import {
  type AttachmentItem,
  readAttachments,
  writeAttachments,
} from '../../../src/core/fields/attachment-item.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { holdsFiles } from '../../../src/core/fields/traits.ts'
import type { ImportPlan, KnownFile } from '../plan.ts'
import { type Converter, leftOut } from './convert.ts'
import type { Link } from './link.ts'
import type { Report } from './report.ts'

/** Puts what the server knows of files into the rows' cells; the rows that can be taken come back. */
export type SettleFiles = (rows: CellValue[][]) => Promise<CellValue[][]>

/**
 * Files that rows name are looked at before they are written, as the write door does: a cell may name only what
 * the person may read, says of it what the server knows, and holds what its field takes. A path that is unknown
 * and one that is somebody else's look the same.
 */
export function createSettleFiles(
  { columns, maxFiles }: Pick<ImportPlan, 'columns' | 'maxFiles'>,
  { converter, report, link }: { converter: Pick<Converter, 'refuse'>; report: Report; link: Link },
): SettleFiles {
  // The row's number comes first.
  const places = columns.flatMap((column, at) => (holdsFiles(column) ? [{ column, at: at + 1 }] : []))
  if (places.length === 0) return async (rows) => rows

  return async (rows) => {
    const items = rows.map((row) => places.map(({ at }) => readAttachments(row[at] ?? null)))
    const paths = new Set(items.flat(2).flatMap(({ path }) => path ?? []))
    const known = paths.size === 0 ? new Map() : await link.knownFiles([...paths])
    return rows.filter((row, index) => {
      let isWhole = true
      for (const [place, { column, at }] of places.entries()) {
        const files = items[index]?.[place] ?? []
        if (files.length === 0) continue
        const settled = settle(files, known, { maxCount: maxFiles, ...withoutNull(column.options) })
        row[at] = settled.value
        if (settled.value !== null) continue
        const value = files.map(({ title }) => title).join(', ')
        const [number, { title, required }] = [Number(row[0]), column]
        isWhole &&= !required
        if (required) report.add({ row: number, column: title, value, reason: leftOut(settled.reason) })
        else converter.refuse(number, title, value, settled.reason)
      }
      return isWhole
    })
  }
}

const withoutNull = ({ kinds, maxCount, maxSizeMb }: Record<string, unknown>) => ({
  kinds: (kinds ?? []) as AttachmentOptions['kinds'],
  maxSizeMb: (maxSizeMb ?? null) as number | null,
  ...(typeof maxCount === 'number' && { maxCount }),
})

function settle(
  files: AttachmentItem[],
  known: ReadonlyMap<string, KnownFile>,
  limits: AttachmentOptions,
): { value: CellValue; reason: string } {
  const unknown = files.find(({ path }) => path !== undefined && !known.has(path))
  if (unknown) return { value: null, reason: `The file "${unknown.title}" was not found` }
  const whole = files.map((item): AttachmentItem => {
    const facts = known.get(item.path ?? '')
    if (!facts) return item
    const { mimetype, size, width, height } = facts
    return { ...item, mimetype, size, width: width ?? undefined, height: height ?? undefined }
  })
  const problem = limitProblem(whole, limits)
  return problem === null ? { value: writeAttachments(whole), reason: '' } : { value: null, reason: problem }
}
