import { linkOf } from '../../../src/core/fields/link-options.ts'
import { messageOf } from '../../errors.ts'
import { trpc } from '../../trpc.ts'
import type { Analysis } from './analysis.ts'
import type { DraftColumn } from './draft.ts'
import type { Draft } from './use-drafts.ts'

/** Cells of a column that the server is asked about, and their length in all: it takes no more. */
const MAX_TEXTS = 1000
const MAX_LENGTH = 200_000

/** The columns of a draft, of those that go to links with the cells that name nothing. */
export interface Looked {
  columns: DraftColumn[]
  /** Why a link cannot be filled, in words; null where none is known. */
  problem: string | null
}

/** Asks the server which cells name records that are not there; until it has answered all seem to be. */
export function useMissingNames(baseId: string, draft: Draft | undefined): Looked {
  const { analysis = null, columns = [], target } = draft ?? {}
  const asked = columns.flatMap((column) => {
    const field =
      target?.kind === 'append' ? target.fields.find(({ id }) => id === column.fieldId) : undefined
    const link = field && linkOf(field)
    // Rows of a table that is linked with itself may name each other: which do is known when all have been read.
    const isOpen = target?.kind === 'append' && link?.relatedTableId === target.tableId
    if (!analysis || !link || isOpen || !column.isOn || target?.kind !== 'append') return []
    return [
      { index: column.index, tableId: target.tableId, fieldId: field.id, texts: textsOf(analysis, column) },
    ]
  })
  const answers = trpc.useQueries((q) =>
    asked.map(({ tableId, fieldId, texts }) => q.imports.missingNames({ baseId, tableId, fieldId, texts })),
  )
  const failed = answers.find(({ error }) => error !== null)?.error
  return {
    problem: failed ? messageOf(failed) : null,
    columns: columns.map((column) => {
      const at = asked.findIndex(({ index }) => index === column.index)
      const missing = answers[at]?.data?.missing.map((one) => asked[at]?.texts[one] ?? '')
      return { ...column, missing: new Set(missing) }
    }),
  }
}

/** What stands in a column, each text once. */
function textsOf({ rows }: Analysis, { index }: DraftColumn): string[] {
  const texts: string[] = []
  let length = 0
  for (const text of new Set(rows.map((row) => row[index] ?? ''))) {
    if (text.trim() === '' || text.includes('\0') || !text.isWellFormed()) continue
    length += text.length
    if (texts.length === MAX_TEXTS || length > MAX_LENGTH) break
    texts.push(text)
  }
  return texts
}
